//go:build linux

package sandbox

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// RunProbe is called by TestMain, which stands outside of the package: what it needs besides imports this one.
func RunProbe(args []string) int {
	setProbes()
	return runProbe(args[0], args[1:])
}

func runProbe(name string, args []string) int {
	probe, ok := probes[name]
	if !ok {
		fmt.Println("no probe", name)
		return 99
	}
	return probe(args)
}

var probes map[string]func([]string) int

// The table is set here because a probe starts further probes.
func setProbes() {
	probes = map[string]func([]string) int{
		"read": each(func(path string) error {
			data, err := os.ReadFile(path)
			fmt.Print(string(data))
			return err
		}),
		"write":     each(openWrite),
		"create":    each(create),
		"chmod":     each(func(path string) error { return os.Chmod(path, 0o755) }),
		"remove":    each(os.Remove),
		"away":      each(func(path string) error { return os.Rename(path, path+"-away") }),
		"island":    probeIsland,
		"mode":      each(mode),
		"list":      each(list),
		"connect":   each(connect),
		"connectin": connectIn,
		"lookup":    each(lookup),
		"interface": probeInterfaces,
		"fill":      probeFill,
		"newuser":   probeNewUser,
		"links":     each(followed),
		"echo":      probeEcho,
		"files":     probeFiles,
		"exit":      func(a []string) int { return len(a) },
		"sleep":     func([]string) int { signal.Ignore(syscall.SIGTERM); time.Sleep(time.Minute); return 0 },
		"daemon":    probeDaemon,
		"nested":    probeNested,
		"start":     probeStart,
		"calls":     probeCalls,
		"sibling":   probeSibling,
		"terminal":  probeTerminal,
		"type":      probeType,
		"run":       probeRun,
		"hog":       probeHog,
		"spin":      probeSpin,
		"compute":   probeCompute,
	}
}

// each prints one line for each argument: "ok", or the bare reason of the error.
func each(f func(string) error) func([]string) int {
	return func(args []string) int {
		for _, a := range args {
			if err := f(a); err != nil {
				fmt.Println(bare(err))
				continue
			}
			fmt.Println("ok")
		}
		return 0
	}
}

func bare(err error) string {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno.Error()
	}
	return err.Error()
}

// openWrite opens and closes: what is protected is never written, even where the protection fails.
func openWrite(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

func create(path string) error { return os.WriteFile(path, []byte("made inside"), 0o600) }

func mode(path string) error {
	info, err := os.Stat(path)
	if err == nil {
		fmt.Print(info.Mode(), " ")
	}
	return err
}

func list(path string) error {
	names, err := os.ReadDir(path)
	for _, n := range names {
		fmt.Print(n.Name(), " ")
	}
	return err
}

func connect(address string) error {
	network := "tcp"
	if strings.HasPrefix(address, "/") || strings.HasPrefix(address, "@") {
		network = "unix"
	}
	c, err := net.DialTimeout(network, address, 3*time.Second)
	if err != nil {
		return err
	}
	return c.Close()
}

// connectIn connects to a socket whose path would be too long from elsewhere.
func connectIn(args []string) int {
	err := os.Chdir(args[0])
	if err == nil {
		var c net.Conn
		if c, err = net.Dial("unix", args[1]); err == nil {
			err = c.Close()
		}
	}
	if err != nil {
		fmt.Println(bare(err))
		return 0
	}
	fmt.Println("ok")
	return 0
}

func followed(path string) error {
	real, err := filepath.EvalSymlinks(path)
	fmt.Print(real, " ")
	return err
}

// probeFill writes KiB steps to a file until the number is reached or the space is used up.
func probeFill(args []string) int {
	var kib int
	fmt.Sscan(args[1], &kib)
	f, err := os.OpenFile(args[0], os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		fmt.Println(bare(err))
		return 0
	}
	defer f.Close()
	for range kib {
		if _, err := f.Write(make([]byte, 1024)); err != nil {
			fmt.Println(bare(err))
			return 0
		}
	}
	fmt.Println("ok")
	return 0
}

func probeNewUser([]string) int {
	cmd := exec.Command("/proc/self/exe", "probe", "exit")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER}
	if err := cmd.Run(); err != nil {
		fmt.Println(bare(err))
		return 0
	}
	fmt.Println("ok")
	return 0
}

// probeEcho answers each line of descriptor 3 on descriptor 4, so that a test can wait for it to live.
func probeEcho([]string) int {
	in, out := os.NewFile(3, "in"), os.NewFile(4, "out")
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		fmt.Fprintln(out, lines.Text())
	}
	return 0
}

func probeFiles([]string) int {
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		fmt.Println(err)
		return 1
	}
	for _, n := range names {
		if target, err := os.Readlink("/proc/self/fd/" + n.Name()); err == nil && !strings.HasPrefix(target, "anon_inode") && !strings.HasSuffix(target, "/fd") {
			fmt.Println(n.Name(), target)
		}
	}
	return 0
}

// probeDaemon leaves a grandchild in a session of its own behind and waits.
func probeDaemon(args []string) int {
	cmd := exec.Command("/proc/self/exe", append([]string{"probe", "sleep"}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("ok")
	time.Sleep(time.Minute)
	return 0
}

// probeNested runs bubblewrap inside and shows what it says.
func probeNested([]string) int {
	cmd := exec.Command("/usr/bin/bwrap", "--unshare-user", "--ro-bind", "/", "/", "/bin/true")
	out, err := cmd.CombinedOutput()
	fmt.Print(string(out))
	if err == nil {
		fmt.Println("it ran")
	}
	return 0
}
