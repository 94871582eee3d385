package inner

import (
	"errors"
	"fmt"
	"os"

	"github.com/kernel-launch/kernel-launch/internal/link"
)

// start carries out the order, in steps each of which can fail under its own name.
func (in *inside) start(f *os.File) {
	var (
		o      link.Order
		path   string
		status = exitFailed
	)
	for _, step := range []struct {
		stage string
		do    func() error
	}{
		{"order", func() (err error) { o, err = read(f); return err }},
		{"islands", func() error { return checkIslands(o.Islands) }},
		{"files", func() error { return writeAll(o.Files) }},
		{"folder", func() error { return enter(o.Dir) }},
		{"exec", func() (err error) { path, status, err = find(o.Argv[0], variable(o.Env, "PATH")); return err }},
		{"terminal", func() (err error) { status = exitFailed; in.terminal, err = openTerminal(o.Terminal); return err }},
	} {
		if err := step.do(); err != nil {
			in.fail(step.stage, status, err)
		}
	}
	in.spawn(o, path)
}

func read(f *os.File) (link.Order, error) {
	if f == nil {
		return link.Order{}, errors.New("the order came without its file")
	}
	defer f.Close()
	o, err := link.ReadOrder(f)
	if err != nil {
		return o, fmt.Errorf("the order cannot be read: %w", err)
	}
	if len(o.Argv) == 0 {
		return o, errors.New("the order names no program")
	}
	return o, nil
}

func writeAll(files []link.File) error {
	for _, f := range files {
		if err := write(f); err != nil {
			return err
		}
	}
	return nil
}

func write(f link.File) error {
	w, err := os.OpenFile(f.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, os.FileMode(f.Mode))
	if err != nil {
		return err
	}
	if _, err := w.Write(f.Data); err != nil {
		w.Close()
		return err
	}
	return w.Close()
}

func enter(dir string) error {
	if err := os.Chdir(dir); err != nil {
		return fmt.Errorf("the working folder cannot be entered: %w", err)
	}
	return nil
}
