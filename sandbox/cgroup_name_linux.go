package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// groupName says whose a group is: the process that made it, by its number and its start in clock ticks since the machine's, and the how manieth it is.
type groupName struct {
	pid   int
	start string
	n     uint64
}

var groupsMade atomic.Uint64

func newGroupName() groupName {
	pid := os.Getpid()
	return groupName{pid, startOf(pid), groupsMade.Add(1)}
}

func (g groupName) String() string { return fmt.Sprintf("kernel-launch-%d-%s-%d", g.pid, g.start, g.n) }

// unit is the name for systemd, where a dash would put the slice into another one.
func (g groupName) unit() string { return fmt.Sprintf("kernellaunch_%d_%s_%d", g.pid, g.start, g.n) }

var groupForm = sync.OnceValue(func() *regexp.Regexp { // made when it is asked: most starts never do
	return regexp.MustCompile(`^(?:kernel-launch-|kernellaunch_)(\d+)[-_](\d+)[-_]\d+(?:\.slice)?$`)
})

// abandoned reports whether a name is of a group whose maker has gone.
func abandoned(name string) bool {
	m := groupForm().FindStringSubmatch(name)
	if m == nil {
		return false
	}
	pid, err := strconv.Atoi(m[1])
	return err == nil && startOf(pid) != m[2]
}

// startOf is empty for a process that is not there.
func startOf(pid int) string {
	start, _ := statField(pid, 19) // empty when there is none
	return start
}

// sweep removes the groups of launchers that were killed. One that still holds processes cannot be removed, and is left.
func sweep(parent string) {
	names, _ := namesIn(parent) // as many as can be told at once
	for _, name := range names {
		if abandoned(name) {
			unix.Rmdir(filepath.Join(parent, name))
		}
	}
}
