package inner

import (
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const scoreFile = "/proc/self/oom_score_adj"

// score is this process's oom_score_adj, which a child inherits.
type score struct {
	fd  int
	err error // why it could not be opened
}

// openScore must come before harden: afterwards the file is root's.
func openScore() *score {
	fd, err := unix.Open(scoreFile, unix.O_RDWR|unix.O_CLOEXEC, 0)
	return &score{fd, err}
}

// raise adds to the score until restore is called: what is started meanwhile keeps it, and this process does not.
func (s *score) raise(by int) (restore func(), err error) {
	if by <= 0 {
		return func() {}, nil
	}
	if s.err != nil {
		return nil, fmt.Errorf("open %s: %w", scoreFile, s.err)
	}
	b := make([]byte, 16)
	n, err := unix.Pread(s.fd, b, 0)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", scoreFile, err)
	}
	now, err := strconv.Atoi(strings.TrimSpace(string(b[:n])))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", scoreFile, err)
	}
	if err := s.set(min(now+by, 1000)); err != nil {
		return nil, err
	}
	return func() { s.set(now) }, nil
}

func (s *score) set(value int) error {
	if _, err := unix.Pwrite(s.fd, []byte(strconv.Itoa(value)), 0); err != nil {
		return fmt.Errorf("write %d to %s: %w", value, scoreFile, err)
	}
	return nil
}
