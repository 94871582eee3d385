package probe

import (
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// namespaces are attempts at a view of one's own.
var namespaces = map[string]attempt{
	"unshare users":   func(Args) (string, error) { return forked(&syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWUSER}) },
	"clone users":     func(Args) (string, error) { return forked(&syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER}) },
	"clone3 users":    func(Args) (string, error) { return "", clone3(unix.CLONE_NEWUSER) },
	"unshare time":    func(Args) (string, error) { return "", unix.Unshare(unix.CLONE_NEWTIME) },
	"mount":           func(a Args) (string, error) { return "", mount(a.Path) },
	"unmount":         unmount,
	"remount":         remount,
	"enter":           enter,
	"change the root": func(a Args) (string, error) { return "", unix.Chroot(a.Path) },
	"name the host":   func(a Args) (string, error) { return "", unix.Sethostname([]byte(a.Path)) },
	"make a device":   func(a Args) (string, error) { return node(a.Path, unix.S_IFBLK|0o600, int(unix.Mkdev(7, 0))) },
	"make a pipe":     func(a Args) (string, error) { return node(a.Path, unix.S_IFIFO|0o600, 0) },
	"leave a device":  leaveDevice,
	"make a file":     func(a Args) (string, error) { return node(a.Path, unix.S_IFREG|0o600, 0) },
}

// forked starts a child with attributes; the error is that of the call that gives them.
func forked(attr *syscall.SysProcAttr) (string, error) {
	cmd, err := again()
	if err != nil {
		return "", err
	}
	cmd.SysProcAttr = attr
	return "", cmd.Run()
}

func mount(path string) error { return unix.Mount("none", path, "tmpfs", unix.MS_RDONLY, "size=4096") }

// unmount takes a mount away; with a number, one that it has made first.
func unmount(a Args) (string, error) {
	if a.number(0) != 0 {
		if err := mount(a.Path); err != nil {
			return "", err
		}
	}
	return "", unix.Unmount(a.Path, unix.MNT_DETACH)
}

// remount makes a read-only mount writable; with a number, one that it has made first.
func remount(a Args) (string, error) {
	flags := uintptr(unix.MS_REMOUNT | unix.MS_BIND)
	if a.number(0) != 0 {
		if err := mount(a.Path); err != nil {
			return "", err
		}
	}
	return "", unix.Mount("none", a.Path, "", flags, "")
}

// enter joins the namespace at Path.
func enter(a Args) (string, error) {
	f, err := os.Open(a.Path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	runtime.LockOSThread() // never unlocked: the thread may be elsewhere now
	return "", unix.Setns(int(f.Fd()), 0)
}

func node(path string, mode uint32, device int) (string, error) {
	if err := unix.Mknod(path, mode, device); err != nil {
		return "", err
	}
	return "", os.Remove(path)
}

// leaveDevice renames a file so that a whiteout, which is a device with the number 0, takes its place.
func leaveDevice(a Args) (string, error) {
	if err := os.WriteFile(a.Path, nil, 0o600); err != nil {
		return "", err
	}
	defer os.Remove(a.Path)
	defer os.Remove(a.Path + ".away")
	return "", unix.Renameat2(unix.AT_FDCWD, a.Path, unix.AT_FDCWD, a.Path+".away", unix.RENAME_WHITEOUT)
}
