package sandbox

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// argumentRow is a call by name; it is left out for an architecture that lacks it.
type argumentRow struct {
	name        string
	arguments   []uint64
	want, debug string // debug: when it differs
}

const rubbish = 0xdead_beef_0000_6fff // what a register may hold where no mode was passed

var argumentRows = []argumentRow{
	{"ioctl", []uint64{0, 0x5412}, "EPERM", ""},
	{"ioctl", []uint64{0, 0x541c}, "EPERM", ""},
	{"ioctl", []uint64{0x5412, 0x5401, 0x5412}, "ok", ""},
	{"ioctl", []uint64{0, 0x5413}, "ok", ""},

	{"socket", []uint64{1, 2, 0}, "ok", ""},
	{"socket", []uint64{2, 1, 0}, "ok", ""},
	{"socket", []uint64{10, 1, 0}, "ok", ""},
	{"socket", []uint64{16, 3, 0}, "ok", ""},
	{"socket", []uint64{1, 1, 132}, "ok", ""}, // the kernel's own answer
	{"socket", []uint64{2, 2, 1}, "ok", ""},
	{"socket", []uint64{2, 1, 6}, "ok", ""},
	{"socket", []uint64{10, 2, 17}, "ok", ""},
	{"socket", []uint64{10, 2, 58}, "ok", ""},
	{"socket", []uint64{2, 1, 262}, "ok", ""},
	{"socket", []uint64{2, 1, 132}, "EPROTONOSUPPORT", ""},
	{"socket", []uint64{10, 1, 132}, "EPROTONOSUPPORT", ""},
	{"socket", []uint64{2, 2, 115}, "EPROTONOSUPPORT", ""},
	{"socket", []uint64{2, 2, 136}, "EPROTONOSUPPORT", ""},
	{"socket", []uint64{16, 3, 4}, "EPROTONOSUPPORT", ""},
	{"socket", []uint64{16, 3, 12}, "EPROTONOSUPPORT", ""},
	{"socket", []uint64{16, 3, 16}, "EPROTONOSUPPORT", ""},
	{"socket", []uint64{0, 1, 0}, "EAFNOSUPPORT", ""},
	{"socket", []uint64{3, 1, 0}, "EAFNOSUPPORT", ""},
	{"socket", []uint64{17, 3, 0}, "EAFNOSUPPORT", ""},
	{"socket", []uint64{38, 5, 0}, "EAFNOSUPPORT", ""},
	{"socket", []uint64{40, 1, 0}, "EAFNOSUPPORT", ""},
	{"socket", []uint64{0xffff_ffff, 1, 0}, "EAFNOSUPPORT", ""},
	{"socketpair", []uint64{1, 1, 0}, "ok", ""},
	{"socketpair", []uint64{30, 1, 0}, "EAFNOSUPPORT", ""},

	{"clone", []uint64{17}, "ok", ""},
	{"clone", []uint64{0x3d0f00}, "ok", ""}, // a thread
	{"clone", []uint64{0x1200011}, "ok", ""},
	{"clone", []uint64{0x4111}, "ok", ""}, // vfork
	{"clone", []uint64{0x20011}, "EPERM", ""},
	{"clone", []uint64{0x2000011}, "EPERM", ""},
	{"clone", []uint64{0x4000011}, "EPERM", ""},
	{"clone", []uint64{0x8000011}, "EPERM", ""},
	{"clone", []uint64{0x10000011}, "EPERM", ""},
	{"clone", []uint64{0x20000011}, "EPERM", ""},
	{"clone", []uint64{0x40000011}, "EPERM", ""},
	{"clone", []uint64{0x7e020011}, "EPERM", ""},

	{"personality", []uint64{0}, "ok", ""},
	{"personality", []uint64{0xffff_ffff}, "ok", ""},
	{"personality", []uint64{0x40000}, "EPERM", "ok"},
	{"personality", []uint64{8}, "EPERM", "ok"},

	{"chmod", []uint64{0o4755, 0o755}, "ok", ""},
	{"chmod", []uint64{0, 0o1777}, "ok", ""},
	{"chmod", []uint64{0, 0o4755}, "EPERM", ""},
	{"chmod", []uint64{0, 0o2755}, "EPERM", ""},
	{"fchmod", []uint64{6, 0o644}, "ok", ""},
	{"fchmod", []uint64{6, 0o4000}, "EPERM", ""},
	{"fchmod", []uint64{6, 0o102770}, "EPERM", ""},
	{"fchmodat", []uint64{3, 0o6777, 0o755}, "ok", ""},
	{"fchmodat", []uint64{3, 0, 0o6755}, "EPERM", ""},
	{"fchmodat2", []uint64{3, 0o6777, 0o755, 0x1000}, "ok", ""},
	{"fchmodat2", []uint64{3, 0, 0o4755, 0x1000}, "EPERM", ""},
	{"creat", []uint64{0, 0o666}, "ok", ""},
	{"creat", []uint64{0, 0o4755}, "EPERM", ""},
	{"mknod", []uint64{0, 0o10666}, "ok", ""},
	{"mknod", []uint64{0, 0o104755}, "EPERM", ""},
	{"mknodat", []uint64{3, 0, 0o100666}, "ok", ""},
	{"mknodat", []uint64{3, 0, 0o102755}, "EPERM", ""},
	{"mkdir", []uint64{0, 0o777}, "ok", ""},
	{"mkdir", []uint64{0, 0o2755}, "ok", ""},
	{"mkdir", []uint64{0, 0o4755}, "EPERM", ""},
	{"mkdirat", []uint64{0xffff_ff9c, 0o6777, 0o1777}, "ok", ""},
	{"mkdirat", []uint64{0xffff_ff9c, 0, 0o2755}, "ok", ""},
	{"mkdirat", []uint64{0xffff_ff9c, 0, 0o4755}, "EPERM", ""},

	{"fcntl", []uint64{1024, 4, 1024}, "ok", ""},
	{"fcntl", []uint64{3, 1030, 0}, "ok", ""},
	{"fcntl", []uint64{3, 1025}, "ok", ""},
	{"fcntl", []uint64{3, 1024, 1}, "EPERM", ""},
	{"fcntl", []uint64{3, 1040, 0}, "EPERM", ""},

	{"renameat2", []uint64{4, 4, 4, 4, 0}, "ok", ""},
	{"renameat2", []uint64{3, 0, 3, 0, 1}, "ok", ""},
	{"renameat2", []uint64{3, 0, 3, 0, 2}, "ok", ""},
	{"renameat2", []uint64{3, 0, 3, 0, 4}, "EPERM", ""},
	{"renameat2", []uint64{3, 0, 3, 0, 5}, "EPERM", ""},

	{"open", []uint64{0, 0, rubbish}, "ok", ""},
	{"open", []uint64{0, 0o2001, 0o6755}, "ok", ""},
	{"open", []uint64{0, 0o200000, rubbish}, "ok", ""}, // O_DIRECTORY, a part of O_TMPFILE
	{"open", []uint64{0, 0o101, 0o1666}, "ok", ""},
	{"open", []uint64{0, 0o101, 0o4755}, "EPERM", ""},
	{"open", []uint64{0, 0o100, 0o2755}, "EPERM", ""},
	{"open", []uint64{0, 0o20200002, 0o4755}, "EPERM", ""},
	{"openat", []uint64{0o100, 0o100, 0o2000000, rubbish}, "ok", ""},
	{"openat", []uint64{3, 0, 0o101, 0o644, rubbish}, "ok", ""},
	{"openat", []uint64{3, 0, 0o2000301, 0o4644}, "EPERM", ""},
	{"openat", []uint64{3, 0, 0o20040002, 0o2644}, "EPERM", ""}, // O_TMPFILE on arm64
}

func TestCallsThatDependOnAnArgument(t *testing.T) {
	eachJudge(t, func(t *testing.T, j judge, debug bool) {
		for _, r := range argumentRows {
			number, here := j.info.SyscallNames[r.name]
			if !here {
				continue
			}
			want := r.want
			if debug && r.debug != "" {
				want = r.debug
			}
			require.Equal(t, want, j.number(uint32(number), r.arguments...), "%s %#o", r.name, r.arguments)
			for range 20 {
				require.Equal(t, want, j.number(uint32(number), withHighBits(r.arguments)...), "%s %#o with other high bits", r.name, r.arguments)
			}
		}
	})
}

func withHighBits(arguments []uint64) []uint64 {
	out := make([]uint64, 6)
	for i := range out {
		out[i] = rand.Uint64() << 32
		if i < len(arguments) {
			out[i] |= arguments[i] & 0xffff_ffff
		}
	}
	return out
}

// Nothing but the lower halves decides: of any call with any arguments.
func TestHighBitsNeverDecide(t *testing.T) {
	eachJudge(t, func(t *testing.T, j judge, _ bool) {
		for range 20_000 {
			number := rand.Uint32N(newest + 20)
			low := make([]uint64, 6)
			for i := range low {
				low[i] = uint64(interesting[rand.IntN(len(interesting))])
			}
			require.Equal(t, j.number(number, low...), j.number(number, withHighBits(low)...), fmt.Sprint(number, low))
		}
	})
}

var interesting = []uint32{0, 1, 2, 10, 16, 17, 40, 0o100, 0o101, 0o644, 0o2755, 0o4755, 0o20200002, 1024, 1040, 0x5412, 0x541c, 0x40000, 0x10000011, 0xffff_ffff}
