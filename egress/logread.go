package egress

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// maxLogLine is far above what an Entry takes; a longer line is none.
const maxLogLine = 64 << 10

// LogReader reads an audit log from its oldest file on, while others write and
// rotate it.
type LogReader struct {
	Path string // as in Audit

	file *os.File
	rest []byte // of a line that is not complete yet
}

// Read hands over every entry that has been written since the last call, the
// oldest first. A log that is not there yet has none. Lines that are no
// entries, such as one that a crash cut, are left out. An error is the
// system's; a later call goes on from there.
func (r *LogReader) Read(use func(Entry)) error {
	for {
		next, err := r.next()
		if err != nil {
			return err
		}
		if r.file != nil { // after next: what was written until it was rotated is read as well
			if err := r.drain(use); err != nil {
				return err
			}
		}
		if next == nil {
			return nil
		}
		r.Close()
		r.file = next
	}
}

// Close ends the reading.
func (r *LogReader) Close() error {
	r.rest = nil
	if r.file == nil {
		return nil
	}
	err := r.file.Close()
	r.file = nil
	return err
}

// next opens the file that is written after the present one; nil when that is
// the newest. Without a present one, or when it has been removed, it is the
// oldest.
func (r *LogReader) next() (*os.File, error) {
	for {
		at := r.age()
		if at == 0 {
			return nil, nil
		}
		f, err := os.OpenFile(r.name(at-1), os.O_RDONLY|noFollow, 0)
		if errors.Is(err, fs.ErrNotExist) && at == 1 {
			return nil, nil // rotated, and nothing has been written since
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("audit log: %w", err)
		}
		if err == nil && r.age() == at { // else it was rotated meanwhile
			return f, nil
		}
		if err == nil {
			f.Close()
		}
	}
}

// age is how many files are newer than the present one: 0 when it is path
// itself, 1 for path.1. When there is no present one all are; one that has
// been removed is as old as when it was last written to.
func (r *LogReader) age() int {
	var ours fs.FileInfo
	if r.file != nil {
		ours, _ = r.file.Stat() // nil: as if there were none
	}
	older := -1
	for n := 0; ; n++ {
		info, err := os.Lstat(r.name(n))
		switch {
		case err != nil && n > 0 && older >= 0:
			return older
		case err != nil && n > 0:
			return n
		case err != nil || ours == nil:
		case os.SameFile(info, ours):
			return n
		case older < 0 && !info.ModTime().After(ours.ModTime()):
			older = n
		}
	}
}

func (r *LogReader) name(age int) string {
	if age == 0 {
		return r.Path
	}
	return fmt.Sprintf("%s.%d", r.Path, age)
}

func (r *LogReader) drain(use func(Entry)) error {
	buf := make([]byte, 32<<10)
	for {
		n, err := r.file.Read(buf)
		r.rest = append(r.rest, buf[:n]...)
		r.lines(use)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("audit log: %w", err)
		}
	}
}

func (r *LogReader) lines(use func(Entry)) {
	for {
		line, rest, whole := bytes.Cut(r.rest, []byte("\n"))
		if !whole {
			break
		}
		r.rest = rest
		var e Entry
		if json.Unmarshal(line, &e) == nil && !e.Time.IsZero() {
			use(e)
		}
	}
	if len(r.rest) > maxLogLine {
		r.rest = r.rest[:0]
	}
}
