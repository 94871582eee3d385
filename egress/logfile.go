package egress

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/gofrs/flock"
)

// lookAgain is how often a writer looks whether another process has rotated
// the file that it writes to.
const lookAgain = time.Second

// logFile appends whole lines, each by one write: lines of several processes
// do not mix, and a crash leaves at most one of them cut.
type logFile struct {
	file   *os.File
	looked time.Time
}

func (l *logFile) append(path string, most int64, keep int, line []byte) error {
	if err := l.open(path); err != nil {
		return err
	}
	if info, err := l.file.Stat(); err == nil && info.Size() > 0 && info.Size()+int64(len(line)) > most {
		if err := rotate(path, most-int64(len(line)), keep); err != nil {
			return err
		}
		l.close()
		if err := l.open(path); err != nil {
			return err
		}
	}
	_, err := l.file.Write(line)
	return err
}

func (l *logFile) open(path string) error {
	if l.file != nil && time.Since(l.looked) > lookAgain && l.moved(path) {
		l.close()
	}
	if l.file != nil {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|noFollow, 0o600)
	if err != nil {
		return fmt.Errorf("audit log: %w", err)
	}
	l.file, l.looked = f, time.Now()
	return nil
}

func (l *logFile) moved(path string) bool {
	l.looked = time.Now()
	ours, err := l.file.Stat()
	if err != nil {
		return true
	}
	there, err := os.Lstat(path)
	return err != nil || !os.SameFile(ours, there)
}

func (l *logFile) close() error {
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}

// rotate moves path to path.1, path.1 to path.2 and so on, when path is still
// larger than most. Of several processes one does it; the others find it done.
func rotate(path string, most int64, keep int) error {
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("audit log: %w", err)
	}
	defer lock.Close()
	if info, err := os.Lstat(path); err != nil || info.Size() <= most {
		return nil
	}
	for n := keep; n > 0; n-- {
		from := path
		if n > 1 {
			from = fmt.Sprintf("%s.%d", path, n-1)
		}
		if err := os.Rename(from, fmt.Sprintf("%s.%d", path, n)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("audit log: %w", err)
		}
	}
	return nil
}
