// Package link carries messages and open sockets between the launcher and the inside of a sandbox, and believes nothing that it is told.
package link

import (
	"encoding/json"
	"fmt"
)

// Version of the messages. It is the first thing that the inside says: after an upgrade a new binary meets kernels of the old one. A field that an
// older inside would ignore is a new version, whatever else stays as it was: the walls in an order must not be left out in silence.
const Version = 2

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
	Resize Kind = "resize" // Rows, Cols of the program's terminal
)

// Message is one packet. Which fields count is said at its Kind.
type Message struct {
	Kind    Kind   `json:"kind"`
	Version int    `json:"version,omitempty"`
	ID      uint32 `json:"id,omitempty"`
	Port    int    `json:"port,omitempty"`
	Number  int    `json:"number,omitempty"`
	Rows    uint16 `json:"rows,omitempty"`
	Cols    uint16 `json:"cols,omitempty"`
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

	Landlock *Landlock `json:"landlock,omitempty"`
	Rlimits  []Rlimit  `json:"rlimits,omitempty"`
	Islands  []Island  `json:"islands,omitempty"`  // checked before anything else: a mismatch is a failure of stage "islands"
	Terminal *Terminal `json:"terminal,omitempty"` // the program gets a terminal of its own, whose other end is the inside's standard input and output
}

// Landlock is what the program is held to.
type Landlock struct {
	RefuseLinks bool `json:"refuse_links,omitempty"` // no new symbolic link, pipe, socket or device, except below Links
	// Each a mount of its own: from a folder of the same mount a whole tree could be moved, with the links that were made in it.
	Links         []string `json:"links,omitempty"`
	ScopeAbstract bool     `json:"scope_abstract,omitempty"` // abstract sockets of processes outside are out of reach
}

// Rlimit is a resource limit by its name: "data" (bytes of private writable memory, for each process) or "nproc" (processes of this user).
type Rlimit struct {
	Name  string `json:"name"`
	Value uint64 `json:"value"`
}

// Island is what must stand at Path.
type Island struct {
	Path     string `json:"path"`
	Dev      uint64 `json:"dev"`
	Ino      uint64 `json:"ino"`
	Writable bool   `json:"writable,omitempty"` // otherwise it must be read-only; an older inside refuses what need not be
}

// Terminal is the size of a terminal in characters.
type Terminal struct {
	Rows uint16 `json:"rows"`
	Cols uint16 `json:"cols"`
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

// Prepare learns how messages and orders are written and read. The first of a kind takes longer for that than for itself, and both sides have to wait for
// each other before one comes.
func Prepare() {
	for _, v := range []any{new(Message), new(Order)} {
		if b, err := json.Marshal(v); err == nil {
			json.Unmarshal(b, v)
		}
	}
}
