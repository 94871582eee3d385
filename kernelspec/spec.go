// Package kernelspec finds, reads, expands and writes Jupyter's kernel.json files, and says of each what is wrong with it.
package kernelspec

import (
	"encoding/json"
	"fmt"
	"path/filepath"
)

// Spec is one kernel.json. Keys are matched exactly, as Jupyter matches them.
type Spec struct {
	Name string // the folder's name in lower case, by which clients call it
	Dir  string // the folder that holds kernel.json, logos and other resources

	Argv            []string
	DisplayName     string // the folder's name where the file has none
	Language        string
	InterruptMode   string // "signal" (the default) or "message"
	Env             map[string]string
	Metadata        json.RawMessage // as written; nil when there is none
	ProtocolVersion string          // kernel_protocol_version, if stated

	Unknown  []string  // further top-level keys, in their order
	Warnings []Problem // what works but that its owner should hear of
}

// File returns the path of the spec's kernel.json.
func (s *Spec) File() string { return filepath.Join(s.Dir, fileName) }

// Owned says whether kernel-launch wrote the spec: its metadata has a "kernel-launch" key.
func (s *Spec) Owned() bool {
	members, _, err := parseMembers(s.Metadata)
	return err == nil && find(members, ownKey) != nil
}

// Environment returns the name of the environment that a spec of ours starts, "" for another's.
func (s *Spec) Environment() string {
	members, _, err := parseMembers(s.Metadata)
	if err != nil {
		return ""
	}
	var own struct {
		Environment string `json:"environment"`
	}
	if m := find(members, ownKey); m == nil || json.Unmarshal(m.raw, &own) != nil {
		return ""
	}
	return own.Environment
}

const (
	fileName = "kernel.json"
	ownKey   = "kernel-launch"
)

// Problem is one thing that is wrong with a spec. A warning leaves the spec usable. It is an error as well.
type Problem struct {
	File    string // a kernel.json, or a folder
	Line    int    // 0 where it is about no line
	What    string
	Warning bool
}

func (p Problem) Error() string {
	if p.Line > 0 {
		return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.What)
	}
	return fmt.Sprintf("%s: %s", p.File, p.What)
}
