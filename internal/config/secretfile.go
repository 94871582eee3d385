package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// maxSecret is above every token and every header that a server takes.
const maxSecret = 64 << 10

// ReadSecret reads the value of a credential from a file: one that nobody but root and this user can change, and that nobody else can read unless it is
// root's, as a machine's administrator hands secrets out. Errors never hold what is in it.
func ReadSecret(file string) ([]byte, error) {
	if err := checkTrust(file, self()); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(file, os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := checkOpen(file, f, self()); err != nil {
		return nil, err
	}
	if err := checkClosed(file, f); err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, maxSecret+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxSecret {
		return nil, fmt.Errorf("%s: %w", filepath.Clean(file), errors.New("is longer than 64 KiB"))
	}
	return b, nil
}
