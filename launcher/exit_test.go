package launcher

import (
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kernel-launch/kernel-launch/internal/link"
	"github.com/kernel-launch/kernel-launch/sandbox"
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

func TestALimitIsTheReasonOnlyWhereItKilled(t *testing.T) {
	memory := &sandbox.LimitHit{Limit: "memory", Value: 200 << 20, Peak: 200<<20 - 4096, Kills: 1}
	processes := &sandbox.LimitHit{Limit: "processes", Value: 30, Peak: 30, Kills: 12}
	killed := Exit{Reason: ReasonSignal, Signal: 9, Code: 137}
	for _, c := range []struct {
		exit   Exit
		hit    *sandbox.LimitHit
		reason Reason
		want   string
	}{
		{killed, nil, ReasonSignal, "the kernel was ended by signal 9 (killed)"},
		{killed, memory, ReasonLimit, "the kernel was ended by its memory limit of 200MiB (it used 200MiB; sandbox.limits.memory)"},
		{Exit{Reason: ReasonKilled, Signal: 9, Code: 137}, memory, ReasonLimit, "the kernel was ended by its memory limit of 200MiB (it used 200MiB; sandbox.limits.memory)"},
		{killed, processes, ReasonSignal, "the kernel was ended by signal 9 (killed); before that 12 new processes were refused by its limit of 30 (sandbox.limits.processes)"},
		{Exit{Reason: ReasonExited}, memory, ReasonExited, "the kernel ended with status 0"},
		{Exit{Reason: ReasonExited, Code: 1}, memory, ReasonExited, "the kernel ended with status 1; before that a process was killed for its memory limit of 200MiB (sandbox.limits.memory)"},
		{Exit{Reason: ReasonSignal, Signal: 11, Code: 139}, memory, ReasonSignal, "the kernel was ended by signal 11 (segmentation fault); before that a process was killed for its memory limit of 200MiB (sandbox.limits.memory)"},
		{Exit{Reason: ReasonExited, Code: 1}, &sandbox.LimitHit{Limit: "processes", Value: 8, Kills: 1}, ReasonExited, "the kernel ended with status 1; before that a new process was refused by its limit of 8 (sandbox.limits.processes)"},
		{killed, &sandbox.LimitHit{Limit: "memory", Value: 1 << 30, Kills: 3}, ReasonLimit, "the kernel was ended by its memory limit of 1GiB (sandbox.limits.memory)"},
	} {
		got := c.exit.withLimit(c.hit)
		assert.Equal(t, c.reason, got.Reason, c.want)
		assert.Equal(t, c.exit.Code, got.Code)
		assert.Equal(t, c.want, got.String())
	}
}
