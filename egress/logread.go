package egress

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// maxLogLine is far above what an Entry takes; a longer line is none.
const maxLogLine = 64 << 10

// LogReader reads an audit log from its oldest file on, while others write and
// rotate it.
type LogReader struct {
	Path string // as in Audit

	logPart
	before logPart   // the one that was read before it
	until  time.Time // so long something may still be written there
}

// logPart is one file of a log.
type logPart struct {
	file *os.File
	rest []byte // of a line that is not complete yet
}

func (p *logPart) Close() error {
	if p.file == nil {
		return nil
	}
	err := p.file.Close()
	*p = logPart{}
	return err
}

// Read hands over every entry that has been written since the last call, the
// oldest first. A log that is not there yet has none. Lines that are no
// entries, such as one that a crash cut, are left out. An error is the
// system's; a later call goes on from there.
func (r *LogReader) Read(use func(Entry)) error {
	if err := r.drainBefore(use); err != nil {
		return err
	}
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
		r.before.Close()
		r.before, r.until = r.logPart, time.Now().Add(2*lookAgain)
		r.logPart = logPart{file: next}
	}
}

// drainBefore reads what a writer that had not seen the rotation yet has added
// to the file that was read before.
func (r *LogReader) drainBefore(use func(Entry)) error {
	if r.before.file == nil {
		return nil
	}
	over := time.Now().After(r.until) // before it is read: what comes later is nothing
	err := r.before.drain(use)
	if over {
		r.before.Close()
	}
	return err
}

// Close ends the reading.
func (r *LogReader) Close() error {
	return errors.Join(r.before.Close(), r.logPart.Close())
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

func (p *logPart) drain(use func(Entry)) error {
	buf := make([]byte, 32<<10)
	for {
		n, err := p.file.Read(buf)
		p.rest = append(p.rest, buf[:n]...)
		p.lines(use)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("audit log: %w", err)
		}
	}
}

func (p *logPart) lines(use func(Entry)) {
	for {
		line, rest, whole := bytes.Cut(p.rest, []byte("\n"))
		if !whole {
			break
		}
		p.rest = rest
		var e Entry
		if json.Unmarshal(line, &e) == nil && !e.Time.IsZero() {
			use(e)
		}
	}
	if len(p.rest) > maxLogLine {
		p.rest = p.rest[:0]
	}
}
