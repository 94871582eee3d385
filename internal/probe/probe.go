// Package probe holds small attempts at the walls, by name. The same attempt runs inside, and outside as the control of what inside refuses: a wall that
// refuses what would not have worked anyway proves nothing. An attempt opens what is protected and never writes it.
package probe

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"syscall"
)

// Word is the first argument of a program that is to run probes. It is no command: people do not type it.
const Word = "kernel-launch:probe"

// Call is one attempt.
type Call struct {
	Name string `json:"name"`
	Args Args   `json:"args"`
	In   Place  `json:"in,omitempty"`
}

// Args are the arguments of an attempt. Which count is said at its name.
type Args struct {
	Path    string  `json:"path,omitempty"`  // of a file, or an address
	Other   string  `json:"other,omitempty"` // a second one, or a text
	Numbers []int64 `json:"numbers,omitempty"`
}

func (a Args) number(i int) int64 {
	if i < len(a.Numbers) {
		return a.Numbers[i]
	}
	return 0
}

// Place is where an attempt is made.
type Place string

// The places. In the process that was started for all attempts, if nothing else is said.
const (
	Process    Place = "process"    // a child of its own: the attempt may kill it, or change it for good
	Terminal   Place = "terminal"   // a child with a session and a terminal of its own
	Namespaces Place = "namespaces" // a child that is root of its own namespaces: the control of what needs a right
)

// Outcome is how an attempt went.
type Outcome struct {
	Did    bool   `json:"did"`
	Error  string `json:"error,omitempty"`  // the name of the error or of the signal: "EPERM", "SIGSYS"
	Detail string `json:"detail,omitempty"` // what was read, found or counted
}

// String is "did", or the error.
func (o Outcome) String() string {
	if o.Did {
		return "did"
	}
	return o.Error
}

// attempt does one thing and says what it found.
type attempt func(Args) (detail string, err error)

// Main runs the attempts when args ask for it and then does not return. They come as a JSON list, in the next argument or else on standard input; the
// outcomes go to standard output, one JSON line each.
func Main(args []string) {
	if len(args) < 2 || args[1] != Word {
		return
	}
	syscall.Exit(run(args[2:], os.Stdin, os.Stdout)) // not os.Exit: instrumented builds write a report there
}

func run(args []string, in io.Reader, out io.Writer) int {
	calls, err := script(args, in)
	if err != nil {
		fmt.Fprintln(out, err)
		return 2
	}
	known := attempts()
	to := json.NewEncoder(out)
	for _, c := range calls {
		if err := to.Encode(c.outcome(known)); err != nil {
			return 1
		}
	}
	return 0
}

func script(args []string, in io.Reader) (calls []Call, err error) {
	if len(args) > 0 {
		err = json.Unmarshal([]byte(args[0]), &calls)
	} else {
		err = json.NewDecoder(in).Decode(&calls)
	}
	if err != nil {
		return nil, fmt.Errorf("list of probes: %w", err)
	}
	return calls, nil
}

// Text is a list of attempts as an argument of Main.
func Text(calls ...Call) string {
	b, err := json.Marshal(calls)
	if err != nil {
		panic(err) // strings and numbers always can be
	}
	return string(b)
}

func (c Call) outcome(known map[string]attempt) Outcome {
	if c.In != "" {
		return c.apart()
	}
	f, ok := known[c.Name]
	if !ok {
		return Outcome{Error: fmt.Sprintf("no probe %q on this system", c.Name)}
	}
	detail, err := f(c.Args)
	if err != nil {
		return Outcome{Error: name(err), Detail: detail}
	}
	return Outcome{Did: true, Detail: detail}
}

// attempts is made for each run: one attempt starts others.
func attempts() map[string]attempt {
	all := map[string]attempt{}
	for _, m := range []map[string]attempt{files, network, native()} {
		maps.Copy(all, m)
	}
	return all
}
