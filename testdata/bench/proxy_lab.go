package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// Words with which the program starts itself.
const (
	roleLab   = "proxy-lab"   // the network of its own: origin, name server, and what conducts the rest
	roleLoad  = "proxy-load"  // the client
	roleAlone = "proxy-alone" // the proxy of the egress package and nothing else
)

var roles = map[string]func(context.Context) error{roleLab: runLab, roleLoad: runLoad, roleAlone: runAlone}

// The origin. Its address is one for documentation, which the proxies take for public; nothing of it leaves the namespace.
const (
	originDomain  = ".bench.test"
	originName    = "a0000000" + originDomain // and whatever is below the domain
	originAddress = "198.51.100.1"
	originPort    = "443"
	stuckPort     = "444" // does not answer a SYN
)

// lab is everything inside the network of its own.
type lab struct {
	labOrder
	origin   *origin
	subjects []*subject
	inside   *subject // the proxy as a kernel sees it
	rows     []Row
}

func runLab(ctx context.Context) error {
	l := &lab{}
	if err := json.NewDecoder(os.Stdin).Decode(&l.labOrder); err != nil {
		return err
	}
	if err := l.makeNetwork(); err != nil {
		return fmt.Errorf("making a network: %w", err)
	}
	defer l.close()
	fault := l.run(ctx)
	return errors.Join(fault, json.NewEncoder(os.Stdout).Encode(l.rows))
}

func (l *lab) run(ctx context.Context) (err error) {
	if l.origin, err = newOrigin(); err != nil {
		return err
	}
	if err := l.startSubjects(ctx); err != nil {
		return err
	}
	for _, m := range []func(context.Context) ([]Row, error){l.tunnels, l.copied, l.connects, l.latency, l.idle, l.aborts} {
		rows, err := m(ctx)
		l.rows = append(l.rows, rows...)
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *lab) close() {
	for _, s := range l.subjects {
		s.stop()
	}
	if l.origin != nil {
		l.origin.close()
	}
}

// makeNetwork brings the loopback up, gives it the origin's address and points the resolvers of this namespace to the lab's name server.
func (l *lab) makeNetwork() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	file := filepath.Join(l.Root, "resolv.conf")
	if err := os.WriteFile(file, []byte("nameserver 127.0.0.1\n"), 0o644); err != nil {
		return err
	}
	if err := unix.Mount(file, "/etc/resolv.conf", "", unix.MS_BIND, ""); err != nil {
		return err
	}
	// Memory that another user's squid left behind would stop this one.
	if err := unix.Mount("tmpfs", "/dev/shm", "tmpfs", 0, ""); err != nil {
		return err
	}
	if err := loopbackUp(); err != nil {
		return err
	}
	return dropRights()
}

func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	up, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	up.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, up); err != nil {
		return err
	}
	address, err := unix.NewIfreq("lo:1")
	if err != nil {
		return err
	}
	if err := address.SetInet4Addr(net.ParseIP(originAddress).To4()); err != nil {
		return err
	}
	return unix.IoctlIfreq(fd, unix.SIOCSIFADDR, address)
}

// dropRights keeps an ordinary user's processes from inheriting the namespace's rights, with which bubblewrap would refuse to start. The lab itself
// still binds low ports. The program must have been built without cgo, as the Makefile does.
func dropRights() error {
	if os.Geteuid() == 0 {
		return nil
	}
	_, _, errno := syscall.AllThreadsSyscall6(unix.SYS_PRCTL, unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
