package sandbox

import (
	"encoding/binary"
	"fmt"
	"slices"

	"golang.org/x/net/bpf"
)

// FilterError is an architecture whose system calls are not known here. Nothing can be filtered on it.
type FilterError struct{ Arch string }

func (e *FilterError) Error() string {
	return fmt.Sprintf("no system call filter for architecture %q", e.Arch)
}

// String says what the filter does.
func (f *Filter) String() string {
	if f == nil {
		return "system calls are not filtered"
	}
	if f.Debug {
		return "system calls are filtered, but processes inside may trace each other (ptrace, process_vm_readv, process_vm_writev, kcmp, personality)"
	}
	return "system calls are filtered"
}

// filterFor is the filter for a machine, nil where there is none.
func filterFor(arch string, debug bool) *Filter {
	if _, err := lookUp(arch); err != nil {
		return nil
	}
	return &Filter{Debug: debug}
}

// How the kernel names an architecture to a filter.
const (
	auditAMD64 = 0xc000003e
	auditARM64 = 0xc00000b7
)

// abi is how one architecture numbers its system calls.
type abi struct {
	audit  uint32
	number func(rule) int32
}

func lookUp(arch string) (abi, error) {
	switch arch {
	case "amd64":
		return abi{auditAMD64, func(r rule) int32 { return r.amd64 }}, nil
	case "arm64":
		return abi{auditARM64, func(r rule) int32 { return r.arm64 }}, nil
	}
	return abi{}, &FilterError{Arch: arch}
}

// encoded is the program as the kernel reads it: an array of struct sock_filter. Both architectures are little-endian.
func (f *Filter) encoded(arch string) ([]byte, error) {
	program, err := f.program(arch)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, 8*len(program))
	for _, i := range program {
		out = binary.LittleEndian.AppendUint16(out, i.Op)
		out = append(out, i.Jt, i.Jf)
		out = binary.LittleEndian.AppendUint32(out, i.K)
	}
	return out, nil
}

// program is the filter for one architecture. The architecture comes first: a program may enter the kernel by another one (int 0x80 on amd64), where
// the same numbers are other calls. Such a process is killed, since none that was built for this machine does it.
// Then the number is searched for in a tree of jumps, so that any call passes after about eight of them. Kernels since 5.11 do not even run it for
// a call that is allowed whatever its arguments are.
func (f *Filter) program(arch string) ([]bpf.RawInstruction, error) {
	abi, err := lookUp(arch)
	if err != nil {
		return nil, err
	}
	p := append(make([]bpf.Instruction, 0, 512),
		bpf.LoadAbsolute{Off: archOffset, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: abi.audit, SkipTrue: 1},
		bpf.RetConstant{Val: retKillProcess},
		bpf.LoadAbsolute{Off: numberOffset, Size: 4})
	return bpf.Assemble(f.search(p, spans(abi)))
}

// span are the numbers from one on up to where the next span begins.
type span struct {
	from   uint32
	answer answer
}

// spans divides all numbers by what is answered to them.
func spans(a abi) []span {
	here := slices.DeleteFunc(slices.Clone(rules), func(r rule) bool { return a.number(r) == none })
	slices.SortFunc(here, func(x, y rule) int { return int(a.number(x) - a.number(y)) })
	var out []span
	next := uint32(0)
	for _, r := range here {
		n := uint32(a.number(r))
		if n > next {
			out = append(out, span{next, allowed})
		}
		out = append(out, span{n, r.answer})
		next = n + 1
	}
	if next <= newest {
		out = append(out, span{next, allowed})
	}
	out = append(out, span{newest + 1, unknown})
	return slices.CompactFunc(out, func(x, y span) bool { return x.answer == y.answer })
}

// search appends what finds the span of the number that is loaded, and answers it. The program is far shorter than the 255 instructions that a
// conditional jump can skip in one half.
func (f *Filter) search(p []bpf.Instruction, s []span) []bpf.Instruction {
	if len(s) == 1 {
		return append(p, f.code(s[0].answer)...)
	}
	half, at := len(s)/2, len(p)
	p = f.search(append(p, nil), s[:half])
	p[at] = bpf.JumpIf{Cond: bpf.JumpGreaterOrEqual, Val: s[half].from, SkipTrue: uint8(len(p) - at - 1)}
	return f.search(p, s[half:])
}
