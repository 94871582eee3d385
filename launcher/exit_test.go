package launcher

import (
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kernel-launch/kernel-launch/internal/link"
)

func TestExitsAreSentences(t *testing.T) {
	for want, e := range map[string]Exit{
		"the kernel ended with status 7":                            {Reason: ReasonExited, Code: 7},
		"the kernel was ended by signal 9 (killed)":                 {Reason: ReasonSignal, Signal: 9, Code: 137},
		"the kernel was stopped":                                    {Reason: ReasonStopped},
		"the kernel's sandbox was killed":                           {Reason: ReasonKilled, Code: 137},
		"the kernel could not be started: R is not there":           {Reason: ReasonFailed, Code: 127, Err: errors.New("R is not there")},
		"the kernel was ended: the sandbox's control socket: noise": {Reason: ReasonBroken, Err: &link.ProtocolError{What: "noise"}},
	} {
		assert.Equal(t, want, e.String())
	}
}

func TestWhatTheInsideSaidLastDecidesTheExit(t *testing.T) {
	failed := &link.FailedError{Stage: "exec", Text: "gone", Status: 127}
	noise := &link.ProtocolError{What: "noise"}
	for _, c := range []struct {
		name string
		said *link.Exit
		err  error
		want Exit
	}{
		{"a status", &link.Exit{Status: 3}, io.EOF, Exit{Reason: ReasonExited, Code: 3}},
		{"a signal", &link.Exit{Signal: 11}, io.EOF, Exit{Reason: ReasonSignal, Signal: 11, Code: 139}},
		{"no program", &link.Exit{Failed: failed}, io.EOF, Exit{Reason: ReasonFailed, Code: 127, Err: failed}},
		{"nothing: it was killed", nil, io.EOF, Exit{Reason: ReasonKilled, Signal: 9, Code: 137}},
		{"rubbish", nil, noise, Exit{Reason: ReasonBroken, Signal: 9, Code: 137, Err: noise}},
		{"a status, then rubbish", &link.Exit{Status: 3}, noise, Exit{Reason: ReasonExited, Code: 3}},
	} {
		assert.Equal(t, c.want, exitOf(c.said, c.err), c.name)
	}
}
