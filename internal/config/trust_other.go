//go:build !unix

package config

import (
	"fmt"
	"os"
)

const noWait = 0

func self() int { return 0 }

func keeper(string) (int, error) { return 0, nil }

// checkTrust: the access list of a user's own profile keeps others out; there is no owner and mode to read.
func checkTrust(string, int) error { return nil }

func checkOpen(file string, f *os.File, _ int) error {
	fi, err := f.Stat()
	if err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	if !fi.Mode().IsRegular() {
		return &InsecureError{File: file, Path: file, Reason: "is not a regular file"}
	}
	return nil
}

func checkClosed(string, *os.File) error { return nil }
