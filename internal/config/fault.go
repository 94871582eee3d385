package config

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Origin is the place that a value came from: a line of a file, or a flag.
type Origin struct {
	File string // full path; empty for a flag
	Line int    // from 1
	Flag string // "--read"; empty for a file
}

func (o Origin) String() string {
	if o.Flag != "" {
		return o.Flag
	}
	return fmt.Sprintf("%s:%d", filepath.Base(o.File), o.Line)
}

// FaultError is one thing that is wrong in a file or a flag. It prints as "config.yaml:LINE: what"; File holds the full path.
type FaultError struct {
	File    string
	Line    int
	Flag    string // set instead of File and Line
	Key     string // dotted: "sandbox.limits.memory"; empty for the file as a whole
	Problem string
}

func (e *FaultError) Error() string {
	at := Origin{File: e.File, Line: e.Line, Flag: e.Flag}
	if e.Key == "" || e.Flag != "" {
		return fmt.Sprintf("%s: %s", at, e.Problem)
	}
	return fmt.Sprintf("%s: %s: %s", at, e.Key, e.Problem)
}

// Faults are all that was found, one line each.
type Faults []*FaultError

func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, e := range f {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As find each fault.
func (f Faults) Unwrap() []error {
	errs := make([]error, len(f))
	for i, e := range f {
		errs[i] = e
	}
	return errs
}

// err is nil for no faults: a typed nil in an error would not be.
func (f Faults) err() error {
	if len(f) == 0 {
		return nil
	}
	slices.SortStableFunc(f, func(a, b *FaultError) int {
		return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line)
	})
	return f
}

// InsecureError is a configuration that somebody other than its operator can change.
type InsecureError struct {
	File   string // the configuration file
	Path   string // what is open to others: the file, its folder, a link on the way
	Reason string
}

func (e *InsecureError) Error() string {
	if e.Path == e.File {
		return fmt.Sprintf("%s %s", e.File, e.Reason)
	}
	return fmt.Sprintf("%s: %s %s", e.File, e.Path, e.Reason)
}

// CeilingError is a policy.yaml that is there, or may be, and cannot be read. Nothing runs with the machine's ceiling ignored.
type CeilingError struct {
	File string
	Err  error
}

func (e *CeilingError) Error() string {
	return fmt.Sprintf("%s: the machine's ceiling cannot be read: %v", e.File, e.Err)
}

func (e *CeilingError) Unwrap() error { return e.Err }

// ProfileError is a profile that no file has.
type ProfileError struct {
	Profile string
	Known   []string
}

func (e *ProfileError) Error() string {
	if len(e.Known) == 0 {
		return fmt.Sprintf("no profile %q: no file has any", e.Profile)
	}
	return fmt.Sprintf("no profile %q; there are: %s", e.Profile, strings.Join(e.Known, ", "))
}

// join drops nil errors and keeps a lone error as it is, so that its type is what a caller sees first.
func join(errs ...error) error {
	errs = slices.DeleteFunc(errs, func(e error) bool { return e == nil })
	if len(errs) == 1 {
		return errs[0]
	}
	return errors.Join(errs...)
}
