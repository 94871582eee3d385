package kernelspec

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kernel-launch/kernel-launch/internal/plain"
)

// MaxFile bounds a kernel.json, in bytes.
const MaxFile = 1 << 20

// Read reads the kernel.json in dir. All faults come at once, each a Problem.
func Read(dir string) (*Spec, error) {
	file := filepath.Join(dir, fileName)
	data, err := readFile(file)
	if err != nil {
		return nil, err
	}
	s, problems := parse(strings.ToLower(filepath.Base(dir)), dir, data)
	if s == nil {
		return nil, faults(problems)
	}
	return s, nil
}

func readFile(file string) ([]byte, error) {
	fi, err := os.Stat(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, errors.Unwrap(err))
	}
	if !fi.Mode().IsRegular() { // opening a FIFO would wait for a writer
		return nil, Problem{File: file, What: "is not a regular file"}
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, Problem{File: file, What: openFault(err)}
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil {
		return nil, Problem{File: file, What: err.Error()}
	}
	if len(data) > MaxFile {
		return nil, Problem{File: file, What: fmt.Sprintf("is larger than %d bytes", MaxFile)}
	}
	return data, nil
}

func openFault(err error) string {
	if errors.Is(err, fs.ErrPermission) {
		return "may not be read by this user"
	}
	return err.Error()
}

func faults(problems []Problem) error {
	var errs []error
	for _, p := range problems {
		if !p.Warning {
			errs = append(errs, p)
		}
	}
	return errors.Join(errs...)
}

// parse returns the spec, or nil and at least one Problem that is no warning. Warnings stand in the spec.
func parse(name, dir string, data []byte) (*Spec, []Problem) {
	p := parser{file: filepath.Join(dir, fileName), spec: &Spec{Name: name, Dir: dir, InterruptMode: "signal"}}
	if text, ok := p.text(data); ok {
		p.object(text)
	}
	for _, problem := range p.problems {
		if !problem.Warning {
			return nil, p.problems
		}
	}
	p.spec.Warnings = p.problems
	return p.spec, p.problems
}

type parser struct {
	file     string
	spec     *Spec
	members  []member
	problems []Problem
}

func (p *parser) fault(line int, format string, args ...any) {
	p.problems = append(p.problems, Problem{File: p.file, Line: line, What: fmt.Sprintf(format, args...)})
}

func (p *parser) warn(line int, format string, args ...any) {
	p.problems = append(p.problems, Problem{File: p.file, Line: line, What: fmt.Sprintf(format, args...), Warning: true})
}

// text returns data as UTF-8 without a mark.
func (p *parser) text(data []byte) ([]byte, bool) {
	if rest, ok := bytes.CutPrefix(data, []byte("\xef\xbb\xbf")); ok {
		p.warn(1, "starts with a byte-order mark, for which Jupyter hides the kernel; save it as UTF-8 without one")
		data = rest
	}
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		p.fault(0, "the file is empty")
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		p.fault(0, "is encoded in UTF-16; save it as UTF-8")
	case !utf8.Valid(data):
		p.fault(0, "is not UTF-8 text")
	default:
		return data, true
	}
	return nil, false
}

var knownKeys = []string{
	"argv", "display_name", "language", "interrupt_mode", "env", "metadata", "kernel_protocol_version", "name", "mimetype", "resource_dir",
}

func (p *parser) object(data []byte) {
	members, twice, err := parseMembers(data)
	if err != nil {
		var at *lineError
		errors.As(err, &at)
		p.fault(at.line, "%s", at.what)
		return
	}
	for _, m := range twice {
		p.warn(m.line, "%s appears twice; the last one counts", plain.Line(m.name, 80))
	}
	p.members = members
	p.argv()
	p.spec.DisplayName = p.string("display_name")
	p.spec.Language = p.string("language")
	p.spec.ProtocolVersion = p.string("kernel_protocol_version")
	p.interruptMode()
	p.env()
	p.metadata()
	p.rest()
}

func (p *parser) rest() {
	if p.spec.DisplayName == "" {
		p.spec.DisplayName = p.spec.Name
		p.warn(0, "no display_name; the display name defaults to the folder name")
	}
	for _, m := range p.members {
		if !slices.Contains(knownKeys, m.name) {
			p.spec.Unknown = append(p.spec.Unknown, m.name)
			p.warn(m.line, "unknown field %s", plain.Line(m.name, 80))
		}
	}
}
