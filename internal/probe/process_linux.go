package probe

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// processes are attempts at other processes, and at what a process shows of itself.
var processes = map[string]attempt{
	"count processes":     countProcesses,
	"signal":              func(a Args) (string, error) { return "", unix.Kill(int(a.number(0)), 0) },
	"trace a child":       traceChild,
	"trace":               func(a Args) (string, error) { return "", seize(int(a.number(0))) },
	"read a child":        readChild,
	"status":              status,
	"descriptors":         descriptors,
	"run":                 runProgram,
	"execute from memory": executeMemory,
	"priority":            func(a Args) (string, error) { return "", unix.Setpriority(unix.PRIO_PROCESS, 0, int(a.number(0))) },
	"limit files":         limitFiles,
	"writable settings":   writableSettings,
}

func numeric(name string) bool {
	_, err := strconv.Atoi(name)
	return err == nil
}

func countProcesses(Args) (string, error) {
	entries, err := os.ReadDir("/proc")
	n := 0
	for _, e := range entries {
		if numeric(e.Name()) {
			n++
		}
	}
	return strconv.Itoa(n), err
}

// sleeper is a child of this program that waits until it is ended.
func sleeper() (pid int, end func(), err error) {
	cmd, err := again(Call{Name: "wait"})
	if err != nil {
		return 0, nil, err
	}
	if err := cmd.Start(); err != nil {
		return 0, nil, err
	}
	end = func() { cmd.Process.Kill(); cmd.Wait() } //nolint:errcheck // it was killed
	if err := loaded(cmd.Process.Pid); err != nil {
		end()
		return 0, nil, err
	}
	return cmd.Process.Pid, end, nil
}

// loaded waits until a program is in its process's memory: exec is known to have succeeded a moment before that.
func loaded(pid int) error {
	limit := time.After(10 * time.Second)
	for {
		maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
		if err != nil || strings.Contains(string(maps), " r-xp ") {
			return err
		}
		select {
		case <-limit:
			return errors.New("the child's program was not loaded in time")
		case <-time.After(time.Millisecond):
		}
	}
}

func traceChild(Args) (string, error) {
	pid, end, err := sleeper()
	if err != nil {
		return "", err
	}
	defer end()
	runtime.LockOSThread() // a tracer is a thread
	defer runtime.UnlockOSThread()
	return "", unix.PtraceAttach(pid) // it is not let go, but ended: a stop that is still on its way would hold it for ever
}

// seize traces without stopping: process 1 must go on, whatever the walls say. The tracer's end ends it.
func seize(pid int) error {
	runtime.LockOSThread()
	return unix.PtraceSeize(pid)
}

// readChild reads the beginning of another process's memory.
func readChild(Args) (string, error) {
	pid, end, err := sleeper()
	if err != nil {
		return "", err
	}
	defer end()
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return "", err
	}
	first, _, _ := strings.Cut(string(maps), "-")
	at, err := strconv.ParseUint(first, 16, 64)
	if err != nil {
		return "", err
	}
	buf := make([]byte, 4)
	local := unix.Iovec{Base: &buf[0], Len: uint64(len(buf))}
	remote := unix.RemoteIovec{Base: uintptr(at), Len: len(buf)}
	_, err = unix.ProcessVMReadv(pid, []unix.Iovec{local}, []unix.RemoteIovec{remote}, 0)
	return strconv.Quote(string(buf)), err
}

// status are the lines of /proc/self/status that Path names, in its order.
func status(a Args) (string, error) {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "", err
	}
	var out []string
	for _, want := range strings.Fields(a.Path) {
		for _, line := range strings.Split(string(b), "\n") {
			if key, value, _ := strings.Cut(line, ":"); key == want {
				out = append(out, key+" "+strings.TrimSpace(value))
			}
		}
	}
	return strings.Join(out, ", "), nil
}

// descriptors are the open ones that lead to something outside of this process.
func descriptors(Args) (string, error) {
	entries, err := os.ReadDir("/proc/self/fd")
	var out []string
	for _, e := range entries {
		to, err := os.Readlink("/proc/self/fd/" + e.Name())
		if err == nil && !strings.HasPrefix(to, "anon_inode") && !strings.HasSuffix(to, "/fd") {
			out = append(out, e.Name())
		}
	}
	return strings.Join(out, " "), err
}

// runProgram runs the words of Path.
func runProgram(a Args) (string, error) {
	words := strings.Fields(a.Path)
	out, err := exec.Command(words[0], words[1:]...).CombinedOutput() //nolint:noctx // it ends with the sandbox
	return string(out), err
}

// executeMemory runs a copy of the program at Path that has no name.
func executeMemory(a Args) (string, error) {
	b, err := os.ReadFile(a.Path)
	if err != nil {
		return "", err
	}
	fd, err := unix.MemfdCreate("kernel-launch-probe", 0)
	if err != nil {
		return "", err
	}
	f := os.NewFile(uintptr(fd), "memory")
	defer f.Close()
	if _, err := f.Write(b); err != nil {
		return "", err
	}
	return "", exec.Command(fmt.Sprintf("/proc/self/fd/%d", fd)).Run() //nolint:noctx // it ends with the sandbox
}

// limitFiles sets the number of open files that may be had, relative to the present one.
func limitFiles(a Args) (string, error) {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return "", err
	}
	l.Max = uint64(int64(l.Max) + a.number(0)) //nolint:gosec // a few more or fewer than now
	l.Cur = l.Max
	return "", unix.Setrlimit(unix.RLIMIT_NOFILE, &l)
}

// writableSettings opens everything of /proc outside of the processes' folders for writing, and names what could be.
func writableSettings(Args) (string, error) {
	var found []string
	err := filepath.WalkDir("/proc", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if name := d.Name(); filepath.Dir(path) == "/proc" && (numeric(name) || name == "self" || name == "thread-self") {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		if f, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
			f.Close()
			found = append(found, path)
		}
		return nil
	})
	return strings.Join(found, " "), err
}
