package sandbox

import "golang.org/x/net/bpf"

// Where the kernel puts what a filter looks at: struct seccomp_data.
const (
	numberOffset   = 0
	archOffset     = 4
	argumentOffset = 16
)

// The kernel's words for a verdict. Linux's numbers of errors stand here because a plan for Linux is made on every system.
const (
	retKillProcess = 0x80000000
	retAllow       = 0x7fff0000
	retErrno       = 0x00050000

	errnoEPERM           = 1
	errnoENOSYS          = 38
	errnoEPROTONOSUPPORT = 93
	errnoEAFNOSUPPORT    = 97
)

// What arguments are compared with.
const (
	setIDs  = 0o6000               // S_ISUID and S_ISGID
	setUser = 0o4000               // S_ISUID
	creates = 0o100 | 0o20_000_000 // O_CREAT and the bit of O_TMPFILE that only it has; both are the same on all our architectures
	whites  = 0x4                  // RENAME_WHITEOUT: a device with the number 0 takes the name's place
	spaces  = 0x7e020000           // CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET; clone has no bit for NEWTIME
	asIs    = uint32(0)            // personality: an ordinary Linux program
	query   = uint32(0xffff_ffff)  // personality: only ask
	lease   = 1024                 // F_SETLEASE
	rights  = 1024 + 16            // F_SETDELEG: the same for folders
	pushIn  = 0x5412               // TIOCSTI: types into a terminal
	console = 0x541c               // TIOCLINUX: pastes into a console
)

// Kinds of sockets that can be made. Netlink is how a program lists its network interfaces. Others are rarely needed and not all of them belong to a network
// namespace: AF_VSOCK reaches the hypervisor from any.
const (
	familyUnix    = 1
	familyInet    = 2
	familyInet6   = 10
	familyNetlink = 16
)

// protocols are what can be spoken: the kind's own, ICMP, TCP, UDP, ICMPv6, and the TCP of several paths that Go listens with. For a protocol that it does
// not know the host's kernel loads a module, whoever asks: SCTP and L2TP come that way.
var protocols = []uint32{0, 1, 6, 17, 58, 262}

// netlinks are NETLINK_ROUTE alone: the others are questions about the host, settings that nobody inside may make, and modules that are loaded for them.
var netlinks = []uint32{0}

// answer is what is done about a call.
type answer uint8

const (
	allowed       answer = iota
	refused              // EPERM
	unknown              // ENOSYS: programs then do it another way
	tracing              // EPERM, unless debugging
	persona              // EPERM for all personalities but the ordinary one, unless debugging
	cloning              // EPERM with a new namespace
	terminal             // EPERM for two requests that type into a terminal
	sockets              // EAFNOSUPPORT for other families, EPROTONOSUPPORT for other protocols
	modeSecond           // EPERM when the second argument is a mode with a set-id bit
	modeThird            // the same for the third
	folderSecond         // EPERM when the second argument is a mode with the set-user-id bit
	folderThird          // the same for the third
	openingSecond        // EPERM when the second argument creates a file and the third is a mode with a set-id bit
	openingThird         // the same for the third and fourth
	renaming             // EPERM when the fifth argument asks for a whiteout
	leasing              // EPERM for two requests that make others wait for a file
)

// code ends the program with the verdict. The kernel takes all that is compared here as 32 bits wide, so only these are looked at: whoever sets others
// has asked for the same thing.
func (f *Filter) code(a answer) []bpf.Instruction {
	switch a {
	case refused:
		return []bpf.Instruction{fails(errnoEPERM)}
	case unknown:
		return []bpf.Instruction{fails(errnoENOSYS)}
	case tracing, persona:
		return f.traces(a)
	case cloning:
		return refuseBits(0, spaces)
	case terminal:
		return oneOf(1, []uint32{pushIn, console}, fails(errnoEPERM), passes)
	case sockets:
		return choose()
	case modeSecond, modeThird:
		return refuseBits(1+int(a-modeSecond), setIDs)
	case folderSecond, folderThird:
		return refuseBits(1+int(a-folderSecond), setUser)
	case openingSecond, openingThird:
		return refuseCreation(1 + int(a-openingSecond))
	case renaming:
		return refuseBits(4, whites)
	case leasing:
		return oneOf(1, []uint32{lease, rights}, fails(errnoEPERM), passes)
	}
	return []bpf.Instruction{passes}
}

func (f *Filter) traces(a answer) []bpf.Instruction {
	switch {
	case f.Debug:
		return []bpf.Instruction{passes}
	case a == persona:
		return oneOf(0, []uint32{asIs, query}, passes, fails(errnoEPERM))
	}
	return []bpf.Instruction{fails(errnoEPERM)}
}

var passes = bpf.RetConstant{Val: retAllow}

func fails(errno uint32) bpf.RetConstant { return bpf.RetConstant{Val: retErrno | errno} }

// argument loads the lower half of an argument on a little-endian machine.
func argument(n int) bpf.Instruction {
	return bpf.LoadAbsolute{Off: argumentOffset + 8*uint32(n), Size: 4}
}

func refuseBits(n int, bits uint32) []bpf.Instruction {
	return []bpf.Instruction{argument(n), bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: bits, SkipFalse: 1}, fails(errnoEPERM), passes}
}

// refuseCreation looks at the mode only where the flags create a file: without one there is no such argument, and whatever the register held is passed.
func refuseCreation(flags int) []bpf.Instruction {
	head := []bpf.Instruction{argument(flags), bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: creates, SkipTrue: 1}, passes}
	return append(head, refuseBits(flags+1, setIDs)...)
}

func oneOf(n int, values []uint32, match, other bpf.Instruction) []bpf.Instruction {
	out := []bpf.Instruction{argument(n)}
	for i, v := range values {
		out = append(out, bpf.JumpIf{Cond: bpf.JumpEqual, Val: v, SkipTrue: uint8(len(values) - i)})
	}
	return append(out, other, match)
}

// choose looks at a socket's family, then at its protocol.
func choose() []bpf.Instruction {
	inet := oneOf(2, protocols, passes, fails(errnoEPROTONOSUPPORT))
	head := []bpf.Instruction{
		argument(0),
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: familyUnix, SkipTrue: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: familyInet, SkipTrue: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: familyInet6, SkipTrue: 3},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: familyNetlink, SkipTrue: uint8(2 + len(inet))},
		fails(errnoEAFNOSUPPORT),
		passes,
	}
	return append(append(head, inet...), oneOf(2, netlinks, passes, fails(errnoEPROTONOSUPPORT))...)
}
