package selftest

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/kernel-launch/kernel-launch/internal/probe"
	"github.com/kernel-launch/kernel-launch/sandbox"
)

// processRows are about other processes, and what a process is told of its surroundings.
func (h *host) processRows() []row {
	pid := os.Getpid()
	nobody := fails("ESRCH")
	child := control(do("trace a child"))
	return []row{
		{number: 23, name: "look at a process of the host", call: at("open", fmt.Sprintf("/proc/%d/cmdline", pid)), inside: fails("ENOENT"), quick: true},
		{number: 24, name: "count the processes", call: do("count processes"), inside: finds("fewer than 8", fewer(8))},
		{number: 25, name: "signal a process of the host", call: do("signal", int64(pid)), inside: nobody},
		{number: 26, name: "signal every process", call: do("signal", -1), inside: nobody},
		{number: 27, name: "signal the launcher's group", call: do("signal", int64(-unix.Getpgrp())), inside: nobody},
		{number: 28, name: "trace a sibling", call: do("trace a child"), inside: fails("EPERM")},
		{number: 29, name: "read a sibling's memory", call: do("read a child"), inside: fails("EPERM")},
		{number: 30, name: "trace process 1", call: in(probe.Process, do("trace", 1)), control: child, inside: fails("EPERM")},
		{number: 54, name: "gain rights from a file", call: at("status", "NoNewPrivs"), outside: holdsWord("NoNewPrivs"), inside: says("NoNewPrivs 1")},
		{number: 55, name: "have a capability", call: at("status", "CapInh CapPrm CapEff CapBnd CapAmb"), outside: holdsWord("1"), inside: finds("none", noCapability), quick: true},
		{number: 56, name: "call the kernel unfiltered", call: at("status", "Seccomp"), outside: holdsWord("Seccomp"), inside: says("Seccomp 2"), quick: true},
		{number: 57, name: "open the terminal", call: at("open", "/dev/tty"), control: control(in(probe.Terminal, at("open", "/dev/tty"))), inside: fails("ENXIO")},
		{number: 59, name: "raise the priority", call: do("priority", -5), control: control(in(probe.Process, do("priority", 1))), inside: fails("EACCES", "EPERM")},
		{number: 59, name: "raise a limit", call: in(probe.Process, do("limit files", 1)), control: control(in(probe.Process, do("limit files", -1))), inside: fails("EPERM")},
		{number: 74, name: "find a descriptor of the launcher", call: do("descriptors"), outside: holdsWord("3"), inside: says("0 1 2"), quick: true},
		{number: 75, name: "find the launcher's variables", call: do("variables"), outside: holdsWord(secret).counted(), inside: finds("PWD alone", onlyFolder).counted(), quick: true},
		{number: 76, name: "read the variables of process 1", call: at("read", "/proc/1/environ"), control: control(at("read", "/proc/self/environ")), outside: holdsWord(secret).counted(), inside: finds("PWD alone", onlyFolder).counted(), quick: true},
		{number: 77, name: "read the command line of process 1", call: at("read", "/proc/1/cmdline"), control: control(at("read", "/proc/self/cmdline")), outside: holdsWord(probe.Word), inside: says(sandbox.HelperTarget + "\x00" + probe.Word + "\x00")},
	}
}

func fewer(n int) func(string) bool {
	return func(s string) bool {
		have, err := strconv.Atoi(s)
		return err == nil && have < n
	}
}

func noCapability(status string) bool {
	return strings.Count(status, "0000000000000000") == 5
}

// onlyFolder: bubblewrap sets the working folder, and nothing else is there.
func onlyFolder(environ string) bool {
	return strings.HasPrefix(environ, "PWD=") && strings.Count(environ, "=") == 1
}

// callRows are about calls into the kernel that a filter refuses.
func (h *host) callRows() []row {
	no := fails("EPERM")
	log := row{number: 50, name: "read the kernel's log", call: do("read the kernel log"), inside: no}
	if os.Geteuid() != 0 {
		log.outside = eitherWay("EPERM") // the kernel may keep its log from users
	}
	rows := []row{
		log,
		{number: 31, name: "add a key", call: do("add a key"), inside: no},
		{number: 32, name: "read a key of the user", call: do("read a key", int64(h.objects.key)), outside: says(secret), inside: no},
		{number: 33, name: "list the keys of the user", call: at("read", "/proc/keys"), inside: fails("EACCES")},
		{number: 34, name: "set up an io_uring", call: do("io_uring"), inside: no},
		{number: 41, name: "use bpf", call: do("bpf"), outside: fails("E2BIG"), inside: no},
		{number: 42, name: "watch performance counters", call: do("perf"), outside: fails("EINVAL"), inside: no},
		{number: 43, name: "handle page faults", call: do("userfaultfd"), inside: no},
		{number: 44, name: "name a file by its handle", call: at("name a handle", "/usr"), inside: no},
		{number: 45, name: "switch address randomisation off", call: in(probe.Process, do("personality")), inside: no},
		{number: 49, name: "set the clock", call: do("set the clock"), outside: fails("EFAULT"), inside: no},
		{number: 52, name: "type into the terminal", call: in(probe.Terminal, do("type into the terminal", unix.TIOCSTI)), outside: eitherWay("EIO"), inside: no},
		{number: 52, name: "type into the terminal with high bits", call: in(probe.Terminal, do("type into the terminal", 1<<32|unix.TIOCSTI)), outside: eitherWay("EIO"), inside: no},
		{number: 53, name: "execute from memory", call: at("execute from memory", "/usr/bin/true")},
	}
	if runtime.GOARCH == "amd64" {
		rows = append(rows, row{number: 51, name: "call the kernel as a 32-bit program", call: in(probe.Process, do("int 80")), inside: fails("SIGSYS"), quick: true})
	}
	return rows
}

// namespaceRows are about a view of one's own, from which the walls could be taken apart.
func (h *host) namespaceRows() []row {
	no := fails("EPERM")
	program := at("run", "/usr/bin/unshare -Urm mount -t tmpfs x /mnt")
	rows := []row{
		{number: 35, name: "unshare the users", call: do("unshare users"), inside: no, quick: true},
		{number: 35, name: "clone with users of its own", call: do("clone users"), inside: no},
		{number: 37, name: "mount in namespaces of its own", call: program, inside: fails("exit status 1")},
		{number: 38, name: "mount", call: at("mount", h.data), spare: true, inside: fails("EPERM")},
		{number: 39, name: "unmount", call: at("unmount", h.data), control: control(at("unmount", h.data, 1)), spare: true, inside: no},
		{number: 40, name: "make a mount writable", call: at("remount", h.data), control: control(at("remount", h.data, 1)), spare: true, inside: no},
		{number: 46, name: "enter a namespace", call: at("enter", "/proc/1/ns/uts"), control: control(at("enter", "/proc/self/ns/uts")), spare: true, inside: no},
		{number: 47, name: "change the root", call: in(probe.Process, at("change the root", h.work)), spare: true, inside: no},
		{number: 48, name: "unshare the time", call: do("unshare time"), spare: true, inside: no},
		{number: 49, name: "name the host", call: at("name the host", "probe"), spare: true, inside: no},
	}
	if runtime.GOARCH == "amd64" {
		rows = append(rows, row{number: 36, name: "clone3 with users of its own", call: do("clone3 users"), inside: fails("ENOSYS")})
	}
	return rows
}

// objectRows are about what processes share by name.
func (h *host) objectRows() []row {
	gone := fails("ENOENT")
	return []row{
		{number: 58, name: "find a shared memory segment", call: do("shared memory", int64(h.objects.segment)), inside: gone},
		{number: 58, name: "find a file of shared memory", call: at("read", h.shmFile), outside: says(secret), inside: gone},
		{number: 58, name: "find a message queue", call: at("message queue", h.objects.queue), inside: gone},
	}
}
