package probe

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// apart makes the attempt in a child. A child that dies without an answer gave one all the same.
func (c Call) apart() Outcome {
	cmd, err := again(Call{Name: c.Name, Args: c.Args})
	if err != nil {
		return Outcome{Error: name(err)}
	}
	done, err := place(cmd, c.In)
	if err != nil {
		return Outcome{Error: name(err)}
	}
	out, err := cmd.Output()
	done()
	var o Outcome
	if json.Unmarshal(bytes.TrimSpace(out), &o) == nil {
		return o
	}
	return Outcome{Error: died(err), Detail: string(out)}
}

// again is this program with a list of attempts.
func again(calls ...Call) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return exec.Command(self, Word, Text(calls...)), nil //nolint:noctx // it ends with the process that waits for it
}

func died(err error) string {
	var status *exec.ExitError
	if !errors.As(err, &status) {
		return name(err)
	}
	if s := signalOf(status.ProcessState); s != "" {
		return s
	}
	return fmt.Sprintf("exit status %d", status.ExitCode())
}
