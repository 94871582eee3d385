package sandbox

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/elastic/go-seccomp-bpf/arch"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/bpf"
)

// For arm64 these tests of the program are all there is: its real calls were only made on amd64.
var filterArches = []string{"amd64", "arm64"}

// seccompData is what the kernel shows to a filter.
type seccompData struct {
	number, audit uint32
	arguments     [6]uint64
}

func (d seccompData) word(off uint32) uint32 {
	switch {
	case off == 0:
		return d.number
	case off == 4:
		return d.audit
	}
	return uint32(d.arguments[(off-16)/8] >> (8 * (off % 8)))
}

// verdict runs the program as the kernel does. The machine of x/net/bpf reads big-endian packets, which this is not.
func verdict(t *testing.T, program []bpf.Instruction, d seccompData) (string, int) {
	t.Helper()
	var a uint32
	steps := 0
	for pc := 0; ; pc++ {
		steps++
		switch i := program[pc].(type) {
		case bpf.LoadAbsolute:
			require.Equal(t, 4, i.Size)
			a = d.word(i.Off)
		case bpf.JumpIf:
			pc += skip(t, i, a)
		case bpf.Jump:
			pc += int(i.Skip)
		case bpf.RetConstant:
			return verdictName(i.Val), steps
		default:
			t.Fatalf("instruction %d is %#v", pc, i)
		}
	}
}

func skip(t *testing.T, i bpf.JumpIf, a uint32) int {
	t.Helper()
	holds, known := map[bpf.JumpTest]bool{
		bpf.JumpEqual: a == i.Val, bpf.JumpNotEqual: a != i.Val, bpf.JumpGreaterOrEqual: a >= i.Val, bpf.JumpLessThan: a < i.Val,
		bpf.JumpGreaterThan: a > i.Val, bpf.JumpLessOrEqual: a <= i.Val, bpf.JumpBitsSet: a&i.Val != 0, bpf.JumpBitsNotSet: a&i.Val == 0,
	}[i.Cond]
	require.True(t, known)
	if holds {
		return int(i.SkipTrue)
	}
	return int(i.SkipFalse)
}

func verdictName(v uint32) string {
	switch v {
	case 0x7fff0000:
		return "ok"
	case 0x80000000:
		return "kill"
	case 0x50001:
		return "EPERM"
	case 0x50026:
		return "ENOSYS"
	case 0x5005d:
		return "EPROTONOSUPPORT"
	case 0x50061:
		return "EAFNOSUPPORT"
	}
	return fmt.Sprintf("%#x", v)
}

// judge answers calls of one architecture.
type judge struct {
	t       *testing.T
	info    *arch.Info
	program []bpf.Instruction
}

func newJudge(t *testing.T, name string, debug bool) judge {
	t.Helper()
	raw, err := (&Filter{Debug: debug}).program(name)
	require.NoError(t, err)
	program, ok := bpf.Disassemble(raw)
	require.True(t, ok)
	info, err := arch.GetInfo(name)
	require.NoError(t, err)
	return judge{t, info, program}
}

func (j judge) number(number uint32, arguments ...uint64) string {
	d := seccompData{number: number, audit: uint32(j.info.ID)}
	copy(d.arguments[:], arguments)
	v, _ := verdict(j.t, j.program, d)
	return v
}

func eachJudge(t *testing.T, f func(t *testing.T, j judge, debug bool)) {
	for _, name := range filterArches {
		for _, debug := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s debug %v", name, debug), func(t *testing.T) { f(t, newJudge(t, name, debug), debug) })
		}
	}
}

// alwaysRefused gets EPERM whatever its arguments are.
var alwaysRefused = []string{
	"acct", "add_key", "adjtimex", "bpf", "chroot", "clock_adjtime", "clock_settime", "delete_module", "fanotify_init", "finit_module", "fsconfig",
	"fsmount", "fsopen", "fspick", "init_module", "io_uring_enter", "io_uring_register", "io_uring_setup", "ioperm", "iopl", "kexec_file_load",
	"kexec_load", "keyctl", "modify_ldt", "mount", "mount_setattr", "move_mount", "name_to_handle_at", "open_by_handle_at", "open_tree",
	"open_tree_attr", "perf_event_open", "pidfd_getfd", "pivot_root", "quotactl", "quotactl_fd", "reboot", "request_key", "setns", "settimeofday",
	"swapoff", "swapon", "syslog", "umount2", "unshare", "userfaultfd", "vhangup",
}

var givenBackByDebug = []string{"kcmp", "process_vm_readv", "process_vm_writev", "ptrace"}

// byArgument are calls whose answer depends on an argument.
var byArgument = []string{
	"chmod", "clone", "creat", "fchmod", "fchmodat", "fchmodat2", "fcntl", "ioctl", "mkdir", "mkdirat", "mknod", "mknodat", "open", "openat", "personality",
	"renameat2", "socket", "socketpair",
}

func TestEveryCallIsAnsweredAsItsNameSays(t *testing.T) {
	eachJudge(t, func(t *testing.T, j judge, debug bool) {
		for name, number := range j.info.SyscallNames {
			want := "ok"
			switch {
			case slices.Contains(alwaysRefused, name), slices.Contains(givenBackByDebug, name) && !debug:
				want = "EPERM"
			case name == "clone3" || name == "openat2":
				want = "ENOSYS"
			case slices.Contains(byArgument, name):
				continue
			}
			for range 4 {
				arguments := []uint64{rand.Uint64(), rand.Uint64(), rand.Uint64(), rand.Uint64(), rand.Uint64(), rand.Uint64()}
				require.Equal(t, want, j.number(uint32(number), arguments...), "%s %x", name, arguments)
			}
		}
	})
}

func TestTheNamesOfTheTestExist(t *testing.T) {
	amd64, err := arch.GetInfo("amd64")
	require.NoError(t, err)
	for _, name := range slices.Concat(alwaysRefused, givenBackByDebug, byArgument) {
		assert.Contains(t, amd64.SyscallNames, name)
	}
}

func TestTheNumbersOfTheRules(t *testing.T) {
	for _, name := range filterArches {
		info, err := arch.GetInfo(name)
		require.NoError(t, err)
		abi, err := lookUp(name)
		require.NoError(t, err)
		require.Equal(t, uint32(info.ID), abi.audit)
		for _, r := range rules {
			number, known := info.SyscallNames[r.name]
			if !known {
				number = int(none)
			}
			assert.Equal(t, int32(number), abi.number(r), "%s on %s", r.name, name)
		}
		require.Equal(t, "open_tree_attr", info.SyscallNumbers[newest])
	}
}

func TestForeignWaysIntoTheKernel(t *testing.T) {
	eachJudge(t, func(t *testing.T, j judge, _ bool) {
		for _, foreign := range []*arch.Info{arch.I386, arch.ARM, arch.PPC64LE, arch.S390X, {ID: 0}} {
			for _, number := range []uint32{0, 20, 101, 250, 0xffff_ffff} {
				v, _ := verdict(t, j.program, seccompData{number: number, audit: uint32(foreign.ID)})
				require.Equal(t, "kill", v, "%v %d", foreign.ID, number)
			}
		}
		for _, number := range []uint32{0x4000_0000, 0x4000_0027, 0x4000_0065, 0x7fff_ffff, newest + 1, 0xffff_ffff} {
			require.Equal(t, "ENOSYS", j.number(number), "%#x", number)
		}
		require.Equal(t, "EPERM", j.number(newest), "the control: the last one that is known is answered by its rule")
	})
}

func TestAnUnknownArchitecture(t *testing.T) {
	_, err := (&Filter{}).encoded("riscv64")
	var e *FilterError
	require.ErrorAs(t, err, &e)
	require.Equal(t, FilterError{Arch: "riscv64"}, *e)
	require.Nil(t, filterFor("riscv64", true))
	require.Equal(t, &Filter{Debug: true}, filterFor("arm64", true))
}

func TestAPlanFiltersWhereAFilterIsKnown(t *testing.T) {
	f := machine()
	for _, arch := range []string{"amd64", "arm64", "riscv64"} {
		f.Arch = arch
		plan, err := Compile(Policy{Debug: true}, f)
		require.NoError(t, err)
		require.Equal(t, arch != "riscv64", plan.Filter != nil && plan.Filter.Debug, arch)
	}
}

func TestWhatAFilterSaysOfItself(t *testing.T) {
	var off *Filter
	require.Equal(t, "system calls are not filtered", off.String())
	require.Equal(t, "system calls are filtered", (&Filter{}).String())
	require.Contains(t, (&Filter{Debug: true}).String(), "trace each other (ptrace")
}

// Kernels before 5.11 run the program at every call.
func TestFewStepsLeadToAnAnswer(t *testing.T) {
	eachJudge(t, func(t *testing.T, j judge, _ bool) {
		for number := range uint32(newest + 2) {
			_, steps := verdict(t, j.program, seccompData{number: number, audit: uint32(j.info.ID)})
			require.LessOrEqual(t, steps, 18, "%d", number)
		}
		require.Less(t, len(j.program), 400)
	})
}

func BenchmarkFilterProgram(b *testing.B) {
	for b.Loop() {
		if _, err := (&Filter{}).encoded("amd64"); err != nil {
			b.Fatal(err)
		}
	}
}
