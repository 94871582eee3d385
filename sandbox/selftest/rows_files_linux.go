package selftest

import (
	"os"

	"github.com/kernel-launch/kernel-launch/sandbox"
)

// fileRows are about what is in view, and what of it can be written.
func (h *host) fileRows() []row {
	gone, readOnly := fails("ENOENT"), fails("EROFS")
	works := control(at("try to create", h.work+"/control"))
	jupyter := h.home + "/.local/share/jupyter"
	return []row{
		{number: 60, name: "write to data that may be read", call: at("try to create", h.data+"/new"), inside: readOnly, quick: true},
		{number: 60, name: "write to the system", call: at("try to create", "/usr/new"), control: works, inside: readOnly},
		{number: 60, name: "write to the system's settings", call: at("try to create", "/etc/new"), control: works, inside: readOnly},
		{number: 60, name: "change the mode of the helper", call: at("chmod", sandbox.HelperTarget, 0o755), control: control(at("chmod", h.data+"/table", 0o600)), inside: readOnly},
		{number: 60, name: "write to the working folder", call: at("try to create", h.work+"/new")},
		{number: 60, name: "write to the private folder", call: at("try to create", sandbox.PrivateDir+"/new"), control: works},
		{number: 60, name: "write to the sandbox's own places", call: at("try to create", "/run/kernel-launch/new"), control: works, inside: readOnly},
		{number: 60, name: "list the sandbox's own places", call: at("list", "/run/kernel-launch"), control: works, inside: says("bin helper home private")},
		{number: 61, name: "write to the root", call: at("try to create", "/new"), control: works, inside: readOnly},
		{number: 63, name: "link data into the working folder", call: two("link", h.data+"/table", h.work+"/inside"), control: control(two("link", h.data+"/table", h.work+"/outside")), inside: fails("EXDEV", "EPERM")},
		{number: 65, name: "read a secret through a link", call: at("read", h.work+"/link"), outside: says(secret), inside: gone, quick: true},
		{number: 66, name: "read a neighbour's file", call: at("read", h.work+"/../other/file"), outside: says(secret), inside: gone},
		{number: 67, name: "read a secret of the home", call: at("read", h.secretFile), outside: says(secret), inside: gone},
		{number: 67, name: "list the real home", call: at("list", h.home), outside: holdsWord("secret"), inside: says("data")},
		{number: 67, name: "find the passwords", call: at("stat", "/etc/shadow"), inside: gone},
		{number: 67, name: "list the homes", call: at("list", "/home"), control: control(at("stat", "/home")), inside: gone},
		{number: 67, name: "list root's home", call: at("list", "/root"), control: control(at("stat", "/root")), inside: gone},
		{number: 62, name: "read a file of the host's /tmp", call: at("read", h.tmpFile), outside: says(secret), inside: gone},
		{number: 69, name: "make a device", call: at("make a device", h.work+"/device"), control: control(at("make a file", h.work+"/device")), inside: fails("EPERM")},
		{number: 69, name: "leave a device behind by renaming", call: at("leave a device", h.work+"/renamed"), outside: eitherWay("EINVAL"), inside: fails("EPERM")}, // not every file system has whiteouts
		{number: 79, name: "read another kernel's connection file", call: at("read", jupyter+"/runtime/kernel-1.json"), outside: says(secret), inside: gone},
		{number: 80, name: "write to the environment", call: at("try to create", h.current+"/new"), inside: readOnly},
		{number: 80, name: "read the environment", call: at("read", h.current+"/module"), outside: says(secret), inside: says(secret)},
		{number: 80, name: "have others wait for the environment", call: at("lease", h.current+"/module"), outside: eitherWay("EINVAL", "EAGAIN"), inside: fails("EPERM")}, // not every file system has leases
		{number: 80, name: "write a kernelspec", call: at("open to write", jupyter+"/kernels/other/kernel.json"), inside: gone},
	}
}

// kernelRows are about the settings of the host's kernel. They are opened, and never written.
func kernelRows() []row {
	settings := want{}
	if os.Geteuid() != 0 {
		settings = fails("EACCES") // the kernel itself keeps its settings from users; the wall is what keeps them from root
	}
	shut := fails("EROFS", "EACCES")
	works := control(at("stat", "/proc/version")) // not every kernel has these two
	hidden := fails("ENOENT", "EACCES", "EROFS", "EPERM")
	return []row{
		{number: 70, name: "open the pattern of core files", call: at("open to write", "/proc/sys/kernel/core_pattern"), outside: settings, inside: shut, quick: true},
		{number: 71, name: "open the caches' switch", call: at("open to write", "/proc/sys/vm/drop_caches"), outside: settings, inside: shut},
		{number: 71, name: "open any setting", call: do("writable settings"), control: control(at("open to write", "/proc/self/oom_score_adj")), inside: says("")},
		{number: 71, name: "open a setting of its own", call: at("open to write", "/proc/self/oom_score_adj")},
		{number: 72, name: "open the emergency key", call: at("open to write", "/proc/sysrq-trigger"), control: works, inside: hidden},
		{number: 72, name: "open the kernel's memory", call: at("open", "/proc/kcore"), control: works, inside: hidden},
		{number: 73, name: "list the devices' tree", call: at("list", "/sys"), control: control(at("stat", "/sys")), inside: fails("ENOENT")},
		{number: 73, name: "find the control groups", call: at("stat", "/sys/fs/cgroup"), inside: fails("ENOENT")},
	}
}

// devices are what a machine may have; a row is made for each that is there.
var devices = []string{"kvm", "vda", "sda", "nvme0n1", "fuse", "net/tun", "vsock", "kmsg", "mem", "loop0", "dri", "snd", "input"}

func deviceRows() []row {
	known := []string{"null", "zero", "full", "random", "urandom", "tty", "console", "ptmx", "pts", "shm", "fd", "stdin", "stdout", "stderr", "core"}
	rows := []row{
		{number: 68, name: "list the devices", call: at("list", "/dev"), inside: finds("the harmless ones", within(known))},
		{number: 68, name: "write to the null device", call: at("open to write", "/dev/null")},
	}
	for _, name := range devices {
		if _, err := os.Stat("/dev/" + name); err == nil {
			rows = append(rows, row{number: 68, name: "find /dev/" + name, call: at("stat", "/dev/"+name), inside: fails("ENOENT")})
		}
	}
	return rows
}

// sizeRows are about space that is bounded.
func (h *host) sizeRows() []row {
	full, readOnly := fails("ENOSPC"), fails("EROFS")
	fits := control(at("fill", h.work+"/control", 1200<<10))
	return []row{
		{number: 84, name: "fill /tmp", call: at("fill", "/tmp/fill", 1200<<10), control: fits, inside: full, quick: true},
		{number: 84, name: "use /tmp", call: at("fill", "/tmp/use", 900<<10), control: fits},
		{number: 85, name: "fill /dev/shm", call: at("fill", "/dev/shm/fill", 600<<10), control: fits, inside: full},
		{number: 85, name: "use /dev/shm", call: at("fill", "/dev/shm/use", 400<<10), control: fits},
		{number: 85, name: "write beside the devices", call: at("fill", "/dev/fill", 1), control: fits, inside: readOnly},
		{number: 85, name: "fill the root", call: at("fill", "/fill", 1), control: fits, inside: readOnly},
	}
}
