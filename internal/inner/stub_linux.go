package inner

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/kernel-launch/kernel-launch/internal/link"
)

// statusFD is where the stub says why it could not become the program. It closes by itself when it could.
const statusFD = 3

// stub is the last step before a program that has limits of its own. args are the limits, the program's path and its arguments.
func stub(args []string) int {
	syscall.CloseOnExec(statusFD)
	status, err := become(args)
	fmt.Fprintf(os.NewFile(statusFD, "status"), "%d %v", status, err)
	return status
}

func become(args []string) (int, error) {
	if len(args) < 3 {
		return exitFailed, errors.New("the stub was given no program")
	}
	var limits []limit
	if err := json.Unmarshal([]byte(args[0]), &limits); err != nil {
		return exitFailed, err
	}
	path, env := args[1], os.Environ()
	for _, l := range limits {
		if err := unix.Setrlimit(l.Resource, &unix.Rlimit{Cur: l.Value, Max: l.Value}); err != nil {
			return exitFailed, fmt.Errorf("limit resource %d to %d: %w", l.Resource, l.Value, err)
		}
	}
	err := syscall.Exec(path, args[2:], env)
	return statusOf(err), fmt.Errorf("%s: %w", path, err)
}

// limit is one resource limit as the kernel has it.
type limit struct {
	Resource int    `json:"resource"`
	Value    uint64 `json:"value"`
}

// encode is what the stub is told of the limits.
func encode(ordered []link.Rlimit) (string, error) {
	resources := map[string]int{"data": unix.RLIMIT_DATA, "nproc": unix.RLIMIT_NPROC}
	var limits []limit
	for _, o := range ordered {
		r, known := resources[o.Name]
		if !known {
			return "", fmt.Errorf("there is no resource limit %q", o.Name)
		}
		limits = append(limits, limit{r, o.Value})
	}
	b, err := json.Marshal(limits)
	return string(b), err
}
