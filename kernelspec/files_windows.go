package kernelspec

import (
	"os"
	"syscall"
)

// errNotFolder is met where a search path names a file.
var errNotFolder error = syscall.ERROR_PATH_NOT_FOUND

// ownedByMe: profile and environment folders belong to whoever uses them there; the owner is not looked up.
func ownedByMe(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
