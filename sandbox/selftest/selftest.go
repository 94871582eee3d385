// Package selftest shows on the machine at hand that a backend's walls hold: each attempt is made outside first, where it must work, and then inside.
package selftest

import (
	"fmt"

	"github.com/kernel-launch/kernel-launch/sandbox"
)

// Report is what a run of the contract's rows found.
type Report struct {
	Rows     []Row               `json:"rows"`
	Enforced []sandbox.Guarantee `json:"enforced"` // of the plan that was run
	Missing  []sandbox.Guarantee `json:"missing"`
}

// OK reports whether every row holds.
func (r Report) OK() bool {
	for _, row := range r.Rows {
		if !row.OK {
			return false
		}
	}
	return true
}

// Row is one attempt, outside and inside.
type Row struct {
	Number  int    `json:"number"`  // of the contract, 1 to 94; several attempts may share one
	Name    string `json:"name"`    // what is attempted
	Control string `json:"control"` // what it came to outside: "did", or the name of an error
	Inside  string `json:"inside"`
	OK      bool   `json:"ok"`
	Why     string `json:"why,omitempty"` // what is wrong with a row that is not OK
}

func (r Row) String() string {
	s := fmt.Sprintf("%d %s: outside %s, inside %s", r.Number, r.Name, r.Control, r.Inside)
	if !r.OK {
		s += " (" + r.Why + ")"
	}
	return s
}
