// Package link carries messages and open sockets between the launcher and the inside of a sandbox, and believes nothing that it is told.
package link

import (
	"encoding/json"
	"fmt"
)

// Version of the messages. It is the first thing that the inside says: after an upgrade a new binary meets kernels of the old one.
const Version = 1

// MaxMessage is the longest message in bytes. What can be longer (an order) crosses as a memory file.
const MaxMessage = 16 << 10

// MaxOrder is the longest order in bytes, connection file, arguments and environment together.
const MaxOrder = 4 << 20

// Kind is what a message is about.
type Kind string

const (
	// Said by the inside.
	Hello     Kind = "hello"     // Version; always first
	Listening Kind = "listening" // answers Listen: ID, and one descriptor or Text
	Dialed    Kind = "dialed"    // answers Dial: ID, and one descriptor or Text
	Started   Kind = "started"   // the program runs
	Exited    Kind = "exited"    // the program has ended: Status or Signal; the rest of the sandbox goes with it
	Failed    Kind = "failed"    // the program could not be started: Stage, Text

	// Said by the launcher.
	Start  Kind = "start"  // one descriptor: the Order in a memory file
	Listen Kind = "listen" // ID, Port
	Dial   Kind = "dial"   // ID, Port; held until something listens there, or Cancel
	Cancel Kind = "cancel" // ID of a Dial; it is answered all the same
	Signal Kind = "signal" // Number, for the program's process group
)

// Message is one packet. Which fields count is said at its Kind.
type Message struct {
	Kind    Kind   `json:"kind"`
	Version int    `json:"version,omitempty"`
	ID      uint32 `json:"id,omitempty"`
	Port    int    `json:"port,omitempty"`
	Number  int    `json:"number,omitempty"`
	Status  int    `json:"status,omitempty"`
	Signal  int    `json:"signal,omitempty"`
	Stage   string `json:"stage,omitempty"`
	Text    string `json:"text,omitempty"`
}

// files is how many descriptors may come with a message.
func (m Message) files() (most int) {
	switch m.Kind {
	case Listening, Dialed, Start:
		return 1
	}
	return 0
}

// Order is everything that the inside needs to start the program.
type Order struct {
	Files []File   `json:"files"` // written before the program starts, in folders that exist
	Argv  []string `json:"argv"`  // Argv[0] is an absolute path, or looked up in the order's PATH
	Env   []string `json:"env"`   // the whole environment
	Dir   string   `json:"dir"`   // working folder
	OOM   int      `json:"oom"`   // added to oom_score_adj, at most 1000: the program should be killed before its server is
}

// File is a file of ours inside.
type File struct {
	Path string `json:"path"`
	Mode uint32 `json:"mode"`
	Data []byte `json:"data"`
}

// ProtocolError ends a link: the other side said something that it never says.
type ProtocolError struct{ What string }

func (e *ProtocolError) Error() string { return "the sandbox's control socket: " + e.What }

func decode(b []byte) (Message, error) {
	var m Message
	if err := json.Unmarshal(b, &m); err != nil {
		return m, &ProtocolError{fmt.Sprintf("a message of %d bytes is not JSON: %v", len(b), err)}
	}
	return m, nil
}
