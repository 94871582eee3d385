package sandbox

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// observeControl looks at the control groups and the systemd of this user. It asks nobody and changes nothing.
func observeControl() *Control {
	groups, mounts := memberships(kernelText("/proc/self/cgroup")), cgroupMounts(kernelText("/proc/self/mountinfo"))
	c := &Control{CPUs: runtime.NumCPU(), Legacy: map[string]Cgroup{}}
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		c.NProc = separate(unix.ByteSliceToString(name.Release[:]))
	}
	for _, controller := range []string{"memory", "pids", "cpu"} {
		if folder, _, ok := placeOf(controller, groups, mounts); ok {
			c.Legacy[controller] = Cgroup{Path: folder, Fault: unwritable(folder)}
		}
	}
	own, point, ok := placeOf("", groups, mounts)
	if ok {
		c.Unified = append(c.Unified, unifiedAt(own))
		if own != point {
			c.Unified = append(c.Unified, unifiedAt(filepath.Dir(own)))
		}
	}
	c.Systemd = observeSystemd(os.Geteuid(), point)
	return c
}

// kernelText is a file of the kernel's, or nothing where it cannot be read: what cannot be seen cannot be used.
func kernelText(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(data)
}

func unifiedAt(folder string) Cgroup {
	g := Cgroup{
		Path:        folder,
		Controllers: strings.Fields(kernelText(folder + "/cgroup.controllers")),
		Enabled:     strings.Fields(kernelText(folder + "/cgroup.subtree_control")),
		Processes:   len(strings.Fields(kernelText(folder + "/cgroup.procs"))),
		Fault:       unwritable(folder, "cgroup.procs", "cgroup.subtree_control"),
	}
	_, err := os.Stat(folder + "/cgroup.type") // every group has it but the root of the whole machine
	g.Root = os.IsNotExist(err)
	return g
}

// unwritable says why no group can be made in a folder and filled.
func unwritable(folder string, files ...string) string {
	if err := unix.Access(folder, unix.W_OK); err != nil {
		return "cannot be written: " + err.Error()
	}
	for _, name := range files {
		if err := unix.Access(filepath.Join(folder, name), unix.W_OK); err != nil {
			return name + " cannot be written: " + err.Error()
		}
	}
	return ""
}

// observeSystemd looks for the bus on which the user's own manager listens; for root that is the machine's.
func observeSystemd(uid int, mount string) Systemd {
	if _, err := os.Stat("/run/systemd/system"); err != nil {
		return Systemd{Fault: "is not running"}
	}
	bus, units := "/run/dbus/system_bus_socket", ""
	if uid != 0 {
		number := strconv.Itoa(uid)
		bus, units = filepath.Join("/run/user", number, "bus"), "/user.slice/user-"+number+".slice/user@"+number+".service"
		if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
			bus = filepath.Join(dir, "bus")
		}
	}
	if _, err := os.Stat(bus); err != nil {
		return Systemd{Fault: "no D-Bus at " + quoted(bus)}
	}
	return Systemd{Bus: bus, Controllers: strings.Fields(kernelText(mount + units + "/cgroup.controllers"))}
}
