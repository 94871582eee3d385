package sandbox

// rule is what is answered to one system call. Numbers are written down because a program is made for every architecture on any; a test compares them
// with a list made from the kernel's headers.
type rule struct {
	name         string
	amd64, arm64 int32
	answer       answer
}

// none is the number of a call that an architecture does not have.
const none int32 = -1

// newest is the number of open_tree_attr, the youngest call that was looked at when the rules were written. Both architectures number new calls alike.
// Younger ones get ENOSYS, which every program that uses them has to expect. So do the numbers with bit 30 that mean x32 on amd64: a kernel
// without x32 answers the same, and few have it.
const newest = 467

// rules are all calls that are not simply allowed. Where the kernel would refuse a call for a missing capability too, the rule keeps its code out of
// reach: a mistake there is a way out.
//
// What they cost, and what the user then sees:
//   - A mode with a set-id bit is refused ("Operation not permitted" from the program that asked): chmod u+s and g+s; cp -p, rsync -p, tar -p and
//     shutil.copytree of a set-uid or set-gid file or of a set-gid folder, which is copied before the message; git init --shared. A filter
//     cannot tell a folder from a file, and a set-gid file in a shared folder lends the user's group to whoever runs it. mkdir is asked
//     about S_ISUID alone, because the kernel ignores S_ISGID there and cp -r passes it for every set-gid folder; in one, new folders
//     inherit the bit as ever.
//   - A rename that leaves a whiteout behind, which is a device, made where neither a right nor Landlock is asked about: fuse-overlayfs copes.
//   - Leases: a host that opens a file with one waits for up to 45 s, and for as long again at the next, where it is shown read-only too. File servers use them.
//   - New namespaces: unshare, bwrap, rootless containers, the own sandbox of browsers (chromium needs --no-sandbox).
//   - Keyrings: Kerberos caches of type KEYRING; FILE and DIR work.
//   - Tracing: gdb, strace, py-spy and setarch -R work with debug. rr and perf need perf_event_open, which stays refused: it is a large part of the kernel and
//     no wall stands behind it.
//   - Protocols: SCTP, UDP-Lite and their like. ss reads /proc instead of asking by netlink.
//   - io_uring: libraries fall back to epoll and threads.
//
// landlock_*, seccomp and prctl are allowed: a program may put up walls of its own, which never widen these. mbind, set_mempolicy and memfd_create are
// what numerical libraries do with their own memory. AF_UNIX is what multiprocessing is made of.
var rules = []rule{
	// Every open passes here; the argument decides.
	{"open", 2, none, openingSecond},
	{"openat", 257, 56, openingThird},
	{"openat2", 437, 437, unknown}, // its mode lies in memory, where no filter sees it
	{"creat", 85, none, modeSecond},
	{"chmod", 90, none, modeSecond},
	{"fchmod", 91, 52, modeSecond},
	{"fchmodat", 268, 53, modeThird},
	{"fchmodat2", 452, 452, modeThird},
	{"mknod", 133, none, modeSecond},
	{"mknodat", 259, 33, modeThird},
	{"mkdir", 83, none, folderSecond},
	{"mkdirat", 258, 34, folderThird},
	{"renameat2", 316, 276, renaming},
	{"fcntl", 72, 25, leasing},

	// Sockets and terminals.
	{"socket", 41, 198, sockets},
	{"socketpair", 53, 199, sockets},
	{"ioctl", 16, 29, terminal},
	{"vhangup", 153, 58, refused},

	// Other processes.
	{"ptrace", 101, 117, tracing},
	{"process_vm_readv", 310, 270, tracing},
	{"process_vm_writev", 311, 271, tracing},
	{"kcmp", 312, 272, tracing},
	{"personality", 135, 92, persona},
	{"pidfd_getfd", 438, 438, refused},

	// Namespaces and mounts.
	{"clone", 56, 220, cloning},
	{"clone3", 435, 435, unknown}, // its flags lie in memory; the C library then uses clone
	{"unshare", 272, 97, refused},
	{"setns", 308, 268, refused},
	{"chroot", 161, 51, refused},
	{"pivot_root", 155, 41, refused},
	{"mount", 165, 40, refused},
	{"umount2", 166, 39, refused},
	{"open_tree", 428, 428, refused},
	{"open_tree_attr", 467, 467, refused},
	{"move_mount", 429, 429, refused},
	{"mount_setattr", 442, 442, refused},
	{"fsopen", 430, 430, refused},
	{"fsconfig", 431, 431, refused},
	{"fsmount", 432, 432, refused},
	{"fspick", 433, 433, refused},
	{"name_to_handle_at", 303, 264, refused},
	{"open_by_handle_at", 304, 265, refused},
	{"fanotify_init", 300, 262, refused},

	// Keyrings are not part of any namespace.
	{"add_key", 248, 217, refused},
	{"keyctl", 250, 219, refused},
	{"request_key", 249, 218, refused},

	// Large parts of the kernel that were ways out before.
	{"io_uring_setup", 425, 425, refused},
	{"io_uring_enter", 426, 426, refused},
	{"io_uring_register", 427, 427, refused},
	{"bpf", 321, 280, refused},
	{"perf_event_open", 298, 241, refused},
	{"userfaultfd", 323, 282, refused},

	// The machine.
	{"acct", 163, 89, refused},
	{"adjtimex", 159, 171, refused},
	{"clock_adjtime", 305, 266, refused},
	{"clock_settime", 227, 112, refused},
	{"delete_module", 176, 106, refused},
	{"finit_module", 313, 273, refused},
	{"init_module", 175, 105, refused},
	{"ioperm", 173, none, refused},
	{"iopl", 172, none, refused},
	{"kexec_file_load", 320, 294, refused},
	{"kexec_load", 246, 104, refused},
	{"modify_ldt", 154, none, refused},
	{"quotactl", 179, 60, refused},
	{"quotactl_fd", 443, 443, refused},
	{"reboot", 169, 142, refused},
	{"settimeofday", 164, 170, refused},
	{"swapoff", 168, 225, refused},
	{"swapon", 167, 224, refused},
	{"syslog", 103, 116, refused},
}
