package jupyter

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
)

// MaxConnectionFile bounds a connection file, in bytes. Clients write about 300.
const MaxConnectionFile = 1 << 20

// ErrRegistration is wrapped by the fault of a file with a registration_port, in which the kernel is asked to choose its ports.
var ErrRegistration = errors.New("registration_port is not supported yet")

// FaultError is one fault of a connection file. Field and Value are empty where the file as a whole is at fault.
type FaultError struct {
	File  string
	Field string // the key, such as "shell_port"
	Value string // as it stands in the file; never the key that signs
	What  string
	Err   error
}

func (e *FaultError) Error() string {
	subject := e.Field
	if e.Value != "" {
		subject += " " + e.Value
	}
	if subject != "" {
		subject += " "
	}
	return fmt.Sprintf("%s: %s%s", e.File, subject, e.What)
}

func (e *FaultError) Unwrap() error { return e.Err }

// ReadConnection reads the connection file at path. All faults come at once, each a *FaultError.
func ReadConnection(path string) (*Connection, error) {
	data, mode, err := readFile(path)
	if err != nil {
		return nil, err
	}
	c, err := ParseConnection(path, data)
	if err != nil {
		return nil, err
	}
	if w := modeWarning(runtime.GOOS, mode); w != "" {
		c.Warnings = append(c.Warnings, w)
	}
	return c, nil
}

// ParseConnection reads the text of a connection file; name stands for it in messages. All faults come at once, each a *FaultError.
func ParseConnection(name string, data []byte) (*Connection, error) {
	var warnings []string
	if rest, ok := bytes.CutPrefix(data, []byte("\xef\xbb\xbf")); ok {
		data = rest
		warnings = append(warnings, "starts with a byte-order mark, which many kernels cannot read")
	}
	fields, twice, err := parseObject(data)
	if err != nil {
		return nil, &FaultError{File: name, What: err.Error(), Err: err}
	}
	for _, key := range twice {
		warnings = append(warnings, fmt.Sprintf("%s appears twice; the last one counts", key))
	}
	r := reader{file: name, c: &Connection{fields: fields, Warnings: warnings}}
	return r.read()
}

func readFile(path string) ([]byte, fs.FileMode, error) {
	fi, err := os.Stat(path)
	if err == nil && !fi.Mode().IsRegular() { // opening a FIFO would wait for a writer
		return nil, 0, &FaultError{File: path, What: "is not a regular file"}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, &FaultError{File: path, What: openFault(err), Err: err}
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxConnectionFile+1))
	if err != nil {
		return nil, 0, &FaultError{File: path, What: err.Error(), Err: err}
	}
	if len(data) > MaxConnectionFile {
		return nil, 0, &FaultError{File: path, What: fmt.Sprintf("is larger than %d bytes", MaxConnectionFile)}
	}
	return data, fi.Mode(), nil
}

func openFault(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "does not exist"
	case errors.Is(err, fs.ErrPermission):
		return "may not be read by this user"
	}
	return err.Error()
}

// modeWarning: Windows keeps other users out by the folder's access list, the mode says nothing there.
func modeWarning(goos string, mode fs.FileMode) string {
	if goos == "windows" || mode.Perm()&0o044 == 0 {
		return ""
	}
	return fmt.Sprintf("connection file is readable by other users (mode %04o): they can drive the kernel", mode.Perm())
}
