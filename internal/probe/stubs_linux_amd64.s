#include "textflag.h"

// func interrupt80(number, a, b, c int32) int32
TEXT ·interrupt80(SB), NOSPLIT, $0-20
	MOVL number+0(FP), AX
	MOVL a+4(FP), BX
	MOVL b+8(FP), CX
	MOVL c+12(FP), DX
	INT  $0x80
	MOVL AX, ret+16(FP)
	RET

// func fork3(args *cloneArgs, size uintptr) int64
// The child has no runtime: it ends here.
TEXT ·fork3(SB), NOSPLIT, $0-24
	MOVQ args+0(FP), DI
	MOVQ size+8(FP), SI
	MOVL $435, AX // clone3
	SYSCALL
	CMPQ AX, $0
	JNE  parent
	MOVL $231, AX // exit_group
	XORL DI, DI
	SYSCALL
parent:
	MOVQ AX, ret+16(FP)
	RET
