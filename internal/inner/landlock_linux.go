package inner

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/kernel-launch/kernel-launch/internal/link"
)

const (
	makeLinks = unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK
	referABI, scopeABI = 2, 6 // what the kernel must know for RefuseLinks and for ScopeAbstract
)

// landlock holds the calling thread, and what it starts, to w. A kernel that cannot is an error: the plan asks only for what it found there.
func landlock(w *link.Landlock) error {
	if w == nil || !w.RefuseLinks && !w.ScopeAbstract {
		return nil
	}
	if abi := landlockABI(); abi < needed(w) {
		return fmt.Errorf("the kernel has landlock version %d, and what was ordered takes %d", abi, needed(w))
	}
	rules, err := ruleset(w)
	if err != nil {
		return err
	}
	defer unix.Close(rules)
	// Without this the kernel takes no restriction from a process that has no rights of its own. bwrap has set it already.
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("give up new privileges: %w", err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(rules), 0, 0); errno != 0 {
		return fmt.Errorf("landlock_restrict_self: %w", errno)
	}
	return nil
}

func needed(w *link.Landlock) int {
	if w.ScopeAbstract {
		return scopeABI
	}
	return referABI
}

func landlockABI() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
}

// ruleset puts w into rules. Signals are not scoped, though the kernel could: programs ask by signal 0 whether their parent, pid 1, still lives,
// and would take the refusal for its end.
func ruleset(w *link.Landlock) (int, error) {
	var attr unix.LandlockRulesetAttr
	if w.ScopeAbstract {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
	}
	if w.RefuseLinks {
		attr.Handled_access_fs = makeLinks | unix.LANDLOCK_ACCESS_FS_REFER
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return 0, fmt.Errorf("landlock_create_ruleset: %w", errno)
	}
	rules := int(fd)
	if err := exceptions(rules, w); err != nil {
		unix.Close(rules)
		return 0, err
	}
	return rules, nil
}

// exceptions lets files be moved and linked between folders everywhere: whatever refuses links refuses that as well until it is allowed, and
// a program that moves a file into another folder would get EXDEV. Nothing is made by it: a link, a pipe or a socket that is moved counts as
// a new one where it goes.
func exceptions(rules int, w *link.Landlock) error {
	if !w.RefuseLinks {
		return nil
	}
	if err := allow(rules, "/", unix.LANDLOCK_ACCESS_FS_REFER); err != nil {
		return err
	}
	for _, folder := range w.Links {
		if err := allow(rules, folder, makeLinks); err != nil && !errors.Is(err, unix.ENOENT) {
			return err
		}
	}
	return nil
}

// allow adds a rule for what lies beneath folder. A link in its place is not followed: it could lead to where nothing is allowed.
func allow(rules int, folder string, access uint64) error {
	fd, err := unix.Open(folder, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open %s for a landlock rule: %w", folder, err)
	}
	defer unix.Close(fd)
	attr := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
	if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(rules), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&attr)), 0, 0, 0); errno != 0 {
		return fmt.Errorf("landlock_add_rule for %s: %w", folder, errno)
	}
	return nil
}
