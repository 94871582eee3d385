package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// labOrder is what the process in the network of its own is told.
type labOrder struct {
	Launcher string
	Folder   string // where a notebook would be
	Root     string // a folder for what proxies write
	Environ  []string
	Tools    string // the folder of smokescreen
	N        int
}

// measureProxy measures the egress proxy against direct connections and against other proxies, in a network of its own: there the origin has an address
// that counts as public and a name server on port 53 gives it, so that no proxy needs an exception and none asks the world.
func measureProxy(ctx context.Context, w *world) ([]Row, error) {
	root, err := os.MkdirTemp("/var/tmp", "kernel-launch-bench-proxy-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(root)
	if err := os.Chmod(root, 0o755); err != nil { // squid of root becomes another user
		return nil, err
	}
	order, err := json.Marshal(labOrder{
		Launcher: w.launcher, Folder: w.folder, Root: root, Environ: w.environ, Tools: w.peers, N: max(w.n/2, 3),
	})
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "/proc/self/exe", roleLab)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(order), os.Stderr
	cmd.SysProcAttr = ownNetwork()
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	out, err := cmd.Output()
	var rows []Row
	if len(out) > 0 {
		if fault := json.Unmarshal(out, &rows); fault != nil {
			return nil, fmt.Errorf("the lab wrote %q: %w", out, fault)
		}
	}
	return rows, err
}

// ownNetwork are new network and mount namespaces. An ordinary user's need a user namespace around them, in which he stays who he is: bubblewrap and
// squid take a root that is none for what it is not.
func ownNetwork() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET | unix.CLONE_NEWNS}
	if uid, gid := os.Geteuid(), os.Getegid(); uid != 0 {
		a.Cloneflags |= unix.CLONE_NEWUSER
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		a.AmbientCaps = []uintptr{unix.CAP_NET_ADMIN, unix.CAP_SYS_ADMIN, unix.CAP_NET_BIND_SERVICE}
	}
	return a
}
