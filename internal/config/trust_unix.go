//go:build unix

package config

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// noWait keeps a named pipe in the file's place from holding the launcher up.
const noWait = syscall.O_NONBLOCK

// self owns what this user configures.
func self() int { return os.Geteuid() }

// keeper is who may own what binds this user: the owner of the machine's folder, which is root but for a folder that this user made.
func keeper(dir string) (int, error) {
	fi, err := os.Stat(dir)
	if err != nil {
		return 0, err
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, &InsecureError{File: dir, Path: dir, Reason: noOwner}
	}
	if reason := judge(int(st.Uid), self(), 0, false); reason != "" {
		return 0, &InsecureError{File: dir, Path: dir, Reason: reason}
	}
	return int(st.Uid), nil
}

const noOwner = "has no owner that can be read"

// checkTrust looks at every name on the way to file: the name itself, its folder, and the same for each link that it leads through.
func checkTrust(file string, owner int) error {
	at, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	const maxLinks = 40 // as many as the kernel follows
	for range maxLinks {
		fi, err := os.Lstat(at)
		if err != nil {
			return fmt.Errorf("configuration: %w", err)
		}
		if err := checkName(file, at, fi, owner); err != nil {
			return err
		}
		if fi.Mode()&fs.ModeSymlink == 0 {
			return nil
		}
		to, err := os.Readlink(at)
		if err != nil {
			return fmt.Errorf("configuration: %w", err)
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(at), to)
		}
		at = to
	}
	return &InsecureError{File: file, Path: file, Reason: "leads through too many links"}
}

func checkName(file, at string, fi fs.FileInfo, owner int) error {
	dir, err := os.Stat(filepath.Dir(at))
	if err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	// In a sticky folder such as /tmp others can add names but not replace this one.
	if reason := openToOthers(dir, owner, dir.Mode()&fs.ModeSticky != 0); reason != "" {
		return &InsecureError{File: file, Path: filepath.Dir(at), Reason: reason}
	}
	if reason := openToOthers(fi, owner, fi.Mode()&fs.ModeSymlink != 0); reason != "" { // a link's own mode means nothing
		return &InsecureError{File: file, Path: at, Reason: reason}
	}
	return nil
}

// checkOpen looks at the opened file itself, whatever its name led to a moment ago.
func checkOpen(file string, f *os.File, owner int) error {
	fi, err := f.Stat()
	if err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	if !fi.Mode().IsRegular() {
		return &InsecureError{File: file, Path: file, Reason: "is not a regular file"}
	}
	if reason := openToOthers(fi, owner, false); reason != "" {
		return &InsecureError{File: file, Path: file, Reason: reason}
	}
	return nil
}

// openToOthers says why somebody who is neither owner nor root can change fi; "" when nobody can.
func openToOthers(fi fs.FileInfo, owner int, ignoreMode bool) string {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return noOwner
	}
	return judge(int(st.Uid), owner, fi.Mode().Perm(), ignoreMode)
}

func judge(owner, allowed int, mode fs.FileMode, ignoreMode bool) string {
	switch {
	case owner == 0 || owner == allowed:
	case allowed == 0:
		return fmt.Sprintf("belongs to user %d, not to root", owner)
	default:
		return fmt.Sprintf("belongs to user %d, not to %d or root", owner, allowed)
	}
	if mode&0o022 != 0 && !ignoreMode {
		return fmt.Sprintf("has mode %04o: others can write it", mode)
	}
	return ""
}

// checkClosed: what this user keeps secret is closed to others. What belongs to root is as open as its administrator made it.
func checkClosed(file string, f *os.File) error {
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	if st, ok := fi.Sys().(*syscall.Stat_t); ok && int(st.Uid) != self() {
		return nil
	}
	if mode := fi.Mode().Perm(); mode&0o077 != 0 {
		return &InsecureError{File: file, Path: file, Reason: fmt.Sprintf("has mode %04o: others can read it; 0600 is right for a secret", mode)}
	}
	return nil
}
