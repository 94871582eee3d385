// Package sandboxtest is the contract of a sandbox backend as a suite of tests that any backend can be put through.
package sandboxtest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kernel-launch/kernel-launch/sandbox"
	"github.com/kernel-launch/kernel-launch/sandbox/selftest"
)

// Run puts a backend through the contract. helper is a program whose main calls selftest.Main first, with this backend: a test program will do.
func Run(t *testing.T, b sandbox.Backend, helper string) {
	for _, n := range []sandbox.Network{"", sandbox.NetworkAllowlist, sandbox.NetworkHost} {
		t.Run(n.String(), func(t *testing.T) { attempts(t, b, helper, n) })
	}
	t.Run("the view is checked before anything starts", func(t *testing.T) { refusals(t, b, helper) })
	t.Run("what is written stays inside", func(t *testing.T) { scratch(t, b, helper) })
	t.Run("nothing outlives", func(t *testing.T) { lives(t, b, helper) })
	t.Run("the bounded self-test", func(t *testing.T) { bounded(t, b, helper) })
}

// attempts makes a test of each row that is an attempt: outside it works, inside it does not.
func attempts(t *testing.T, b sandbox.Backend, helper string, n sandbox.Network) {
	report, err := selftest.All(t.Context(), b, helper, n)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range report.Rows {
		t.Run(fmt.Sprintf("%02d %s", row.Number, strings.ReplaceAll(row.Name, "/", " ")), func(t *testing.T) {
			if !row.OK {
				t.Error(row)
			}
		})
	}
}

// bounded runs what a person runs, and asks for the numbers that it promises.
func bounded(t *testing.T, b sandbox.Backend, helper string) {
	report, err := selftest.Quick(t.Context(), b, helper)
	if err != nil {
		t.Fatal(err)
	}
	have := map[int]bool{}
	for _, row := range report.Rows {
		have[row.Number] = true
		if !row.OK {
			t.Error(row)
		}
	}
	for _, number := range []int{1, 5, 14, 15, 20, 23, 35, 51, 55, 56, 60, 65, 70, 74, 76, 84, 87} {
		if !have[number] {
			t.Errorf("row %d is missing", number)
		}
	}
}
