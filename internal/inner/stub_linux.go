package inner

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// stubOptions is what the stub does to itself before it becomes the program.
type stubOptions struct {
	OOM int `json:"oom,omitempty"`
}

// statusFD is where the stub says why it could not become the program. It closes by itself when it could.
const statusFD = 3

// stub is the last step before the program: what must hold for it and not for pid 1. args are the options and the program's own arguments.
func stub(args []string) int {
	syscall.CloseOnExec(statusFD)
	status, err := become(args)
	fmt.Fprintf(os.NewFile(statusFD, "status"), "%d %v", status, err)
	return status
}

func become(args []string) (int, error) {
	if len(args) < 2 {
		return exitFailed, errors.New("the stub was given no program")
	}
	var o stubOptions
	if err := json.Unmarshal([]byte(args[0]), &o); err != nil {
		return exitFailed, err
	}
	argv := args[1:]
	path, status, err := find(argv[0])
	if err != nil {
		return status, err
	}
	if err := settle(o); err != nil {
		return exitFailed, err
	}
	// The mask belongs to the thread that calls exec.
	runtime.LockOSThread()
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &unix.Sigset_t{}, nil); err != nil {
		return exitFailed, fmt.Errorf("unblock signals: %w", err)
	}
	err = syscall.Exec(path, argv, os.Environ())
	return statusOf(err), fmt.Errorf("%s: %w", path, err)
}

// find looks argv[0] up in the PATH that the program gets.
func find(name string) (path string, status int, err error) {
	path, err = exec.LookPath(name)
	if err == nil || errors.Is(err, exec.ErrDot) {
		return path, 0, nil
	}
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EISDIR) {
		return "", exitNoExec, fmt.Errorf("%s cannot be executed", name)
	}
	return "", exitNotFound, fmt.Errorf("%s is not there", name)
}

func statusOf(err error) int {
	if errors.Is(err, fs.ErrNotExist) {
		return exitNotFound
	}
	return exitNoExec
}

// settle sets the limits of the program.
func settle(o stubOptions) error {
	// 1, not 0: with a core_pattern that starts with "|" the kernel runs the host's handler for a limit of 0, and for 1 it does not.
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{Cur: 1, Max: 1}); err != nil {
		return fmt.Errorf("limit core files: %w", err)
	}
	if o.OOM <= 0 {
		return nil
	}
	const file = "/proc/self/oom_score_adj"
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	now, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return os.WriteFile(file, []byte(strconv.Itoa(min(now+o.OOM, 1000))), 0)
}
