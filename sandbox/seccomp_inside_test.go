//go:build linux

package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/sys/unix"
)

// probeCalls makes each system call that an argument spells, "chmod /path 04755", and prints what became of it. An argument that is no number is a
// path; the first word may be a number too.
func probeCalls(calls []string) int {
	for _, c := range calls {
		fmt.Println(makeCall(strings.Fields(c)))
	}
	return 0
}

func makeCall(words []string) string {
	number, err := callNumber(words[0])
	if err != nil {
		return err.Error()
	}
	var a [6]uintptr
	for i, w := range words[1:] {
		if n, err := strconv.ParseInt(w, 0, 64); err == nil {
			a[i] = uintptr(n)
			continue
		}
		p, err := syscall.BytePtrFromString(w)
		if err != nil {
			return err.Error()
		}
		defer runtime.KeepAlive(p)
		a[i] = uintptr(unsafe.Pointer(p))
	}
	_, _, errno := syscall.Syscall6(number, a[0], a[1], a[2], a[3], a[4], a[5])
	if errno != 0 {
		return unix.ErrnoName(errno)
	}
	return "ok"
}

func callNumber(word string) (uintptr, error) {
	if n, err := strconv.ParseUint(word, 0, 64); err == nil {
		return uintptr(n), nil
	}
	info, err := arch.GetInfo("")
	if err != nil {
		return 0, err
	}
	n, known := info.SyscallNames[word]
	if !known {
		return 0, fmt.Errorf("no system call %s", word)
	}
	return uintptr(n), nil
}

// probeSibling does to a child what a debugger does.
func probeSibling([]string) int {
	runtime.LockOSThread() // a tracer is a thread
	cmd := exec.Command("/proc/self/exe", "probe", "sleep")
	if err := cmd.Start(); err != nil {
		fmt.Println(err)
		return 1
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	for maps := ""; !strings.Contains(maps, " r-xp "); { // exec is known to have succeeded a moment before the program is in memory
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", cmd.Process.Pid))
		if err != nil {
			fmt.Println(err)
			return 1
		}
		maps = string(text)
	}
	fmt.Println("attach", status(syscall.PtraceAttach(cmd.Process.Pid)))
	var b [1]byte
	local := []unix.Iovec{{Base: &b[0], Len: 1}}
	remote := []unix.RemoteIovec{{Base: reflect.ValueOf(probeSibling).Pointer(), Len: 1}} // the child is the same program
	_, err := unix.ProcessVMReadv(cmd.Process.Pid, local, remote, 0)
	fmt.Println("read", status(err))
	return 0
}

func status(err error) string {
	if err == nil {
		return "ok"
	}
	if errno, ok := err.(syscall.Errno); ok {
		return unix.ErrnoName(errno)
	}
	return err.Error()
}

// probeTerminal starts a child on a terminal of its own and shows what the child says.
func probeTerminal(requests []string) int {
	master, terminal, err := openTerminal()
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer master.Close()
	cmd := exec.Command("/proc/self/exe", append([]string{"probe", "type"}, requests...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	cmd.Stdin = terminal
	out, err := cmd.Output()
	fmt.Print(string(out))
	if err != nil {
		fmt.Println(err)
	}
	return 0
}

func openTerminal() (master, slave *os.File, err error) {
	master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	return master, slave, err
}

// probeType sends requests with a pointer to a letter to the terminal at descriptor 0.
func probeType(requests []string) int {
	for _, r := range requests {
		n, err := strconv.ParseUint(r, 0, 64)
		if err != nil {
			fmt.Println(err)
			return 1
		}
		letter := [64]byte{'x'} // some requests write there
		_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, 0, uintptr(n), uintptr(unsafe.Pointer(&letter)))
		if errno != 0 {
			fmt.Println(r, unix.ErrnoName(errno))
			continue
		}
		fmt.Println(r, "ok")
	}
	return 0
}

// probeRun starts a program and shows how it ended.
func probeRun(argv []string) int {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	err := cmd.Run()
	if err == nil {
		fmt.Println("ok")
		return 0
	}
	fmt.Println(err)
	return 0
}

// probeSpin prints the nanoseconds of processor time that one call takes: a busy machine does not count.
func probeSpin(args []string) int {
	call, known := spins[args[0]]
	count, err := strconv.Atoi(args[1])
	if err != nil || !known {
		fmt.Println("no spin", args)
		return 1
	}
	start := processorTime()
	for range count {
		call()
	}
	fmt.Print((processorTime() - start) / int64(count))
	return 0
}

func processorTime() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return t.Nano()
}

// spins are a call that no argument decides, one that does, and what a program does most.
var spins = map[string]func(){
	"getppid": func() { syscall.RawSyscall(syscall.SYS_GETPPID, 0, 0, 0) },
	"ioctl":   func() { syscall.RawSyscall(syscall.SYS_IOCTL, ^uintptr(0), 0x5401, 0) },
	"open":    func() { syscall.Open("/missing", syscall.O_RDONLY, 0) },
}
