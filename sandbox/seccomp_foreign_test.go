//go:build linux

package sandbox

import (
	"bytes"
	"encoding/binary"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A program that enters the kernel as an i386 one, where the numbers of the filter are other calls.
func TestTheOldWayIntoTheKernelKills(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("int 0x80 is a way of amd64")
	}
	w := newWorld(t)
	program := w.work + "/int80"
	require.NoError(t, os.WriteFile(program, int80(), 0o700))
	require.Equal(t, "ok\n", w.insideOf(w.bare(), "run", program), "the control: this kernel answers i386 calls")
	require.Contains(t, w.inside("run", program), "signal: bad system call")
}

// int80 is a program that exits with 0 when i386's getpid gave it a number.
func int80() []byte {
	const base, headers = 0x400000, 64 + 56
	code := []byte{
		0xb8, 20, 0, 0, 0, // mov eax, 20
		0xcd, 0x80, // int 0x80
		0x31, 0xff, // xor edi, edi
		0x85, 0xc0, // test eax, eax
		0x7f, 0x03, // jg +3
		0x40, 0xb7, 1, // mov dil, 1
		0xb8, 60, 0, 0, 0, // mov eax, 60
		0x0f, 0x05, // syscall: exit
	}
	var out bytes.Buffer
	out.WriteString("\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 9))
	size := uint64(headers + len(code))
	for _, field := range []any{
		uint16(2), uint16(62), uint32(1), uint64(base + headers), uint64(64), uint64(0), uint32(0), uint16(64), uint16(56), uint16(1), uint16(0), uint16(0), uint16(0),
		uint32(1), uint32(5), uint64(0), uint64(base), uint64(base), size, size, uint64(0x1000),
	} {
		if err := binary.Write(&out, binary.LittleEndian, field); err != nil {
			panic(err)
		}
	}
	return append(out.Bytes(), code...)
}
