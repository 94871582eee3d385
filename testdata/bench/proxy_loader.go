package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
)

// loader is a client's process.
type loader struct {
	in   io.WriteCloser
	out  *bufio.Reader
	said bytes.Buffer
}

func (s *subject) startLoad(cmd *exec.Cmd) (*loader, error) {
	s.load = &loader{}
	cmd.Stderr = &s.load.said
	var err error
	if s.load.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	r, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.load.out = bufio.NewReader(r)
	return s.load, s.start(cmd)
}

func (l *loader) ask(o loadOrder) (loadReport, error) {
	var r loadReport
	if err := json.NewEncoder(l.in).Encode(o); err != nil {
		return r, err
	}
	line, err := l.out.ReadBytes('\n')
	if err != nil {
		return r, fmt.Errorf("the client ended: %w: %s", err, l.said.String())
	}
	if err := json.Unmarshal(line, &r); err != nil {
		return r, err
	}
	if r.Error != "" {
		return r, fmt.Errorf("%s: %s", o.Do, r.Error)
	}
	return r, nil
}
