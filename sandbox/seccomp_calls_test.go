//go:build linux

package sandbox

// callRow is a system call whose arguments are wrong or harmless, so that it does nothing even where it is allowed.
type callRow struct{ call, want string }

// tellingRows are answered otherwise by the kernel itself, so that the filter is what is seen.
var tellingRows = []callRow{
	{"ptrace 16 99999", "EPERM"},
	{"process_vm_readv 1 0 0 0 0 0", "EPERM"},
	{"process_vm_writev 1 0 0 0 0 0", "EPERM"},
	{"kcmp 1 1 0 0 0", "EPERM"},
	{"pidfd_getfd -1 0 0", "EPERM"},
	{"personality 0x40000", "EPERM"},
	{"add_key 0 0 0 0 0", "EPERM"},
	{"keyctl 0 -3 1", "EPERM"},
	{"request_key 0 0 0 0", "EPERM"},
	{"io_uring_setup 0 0", "EPERM"},
	{"io_uring_enter -1 0 0 0", "EPERM"},
	{"io_uring_register -1 99 0 0", "EPERM"},
	{"unshare 0", "EPERM"},
	{"unshare 0x10000000", "EPERM"},
	{"setns -1 0", "EPERM"},
	{"clone 0x10010000", "EPERM"}, // CLONE_THREAD alone is never right
	{"clone 0x20010000", "EPERM"},
	{"clone 0x40010000", "EPERM"},
	{"clone3 0 0", "ENOSYS"},
	{"openat2 -100 /usr 0 0", "ENOSYS"},
	{"mount 0 0 0 0 0", "EPERM"},
	{"umount2 0 0x100", "EPERM"},
	{"chroot 0", "EPERM"},
	{"open_tree -1 0 0x7fffffff", "EPERM"},
	{"mount_setattr -1 0 0x7fffffff 0 0", "EPERM"},
	{"fsconfig -1 0 0 0 0", "EPERM"},
	{"name_to_handle_at -1 0 0 0 0x7fffffff", "EPERM"},
	{"perf_event_open 0 0 -1 -1 0x7fffffff", "EPERM"},
	{"adjtimex 0", "EPERM"},
	{"clock_adjtime 0 0", "EPERM"},
	{"clock_settime 99 0", "EPERM"},
	{"quotactl -1 0 0 0", "EPERM"},
	{"swapon 0 0x7fffffff", "EPERM"},
	{"socket 40 1 0", "EAFNOSUPPORT"},
	{"socket 0x100000028 1 0", "EAFNOSUPPORT"},
	{"socket 17 3 0", "EAFNOSUPPORT"},
	{"socketpair 40 1 0 0", "EAFNOSUPPORT"},
}

// sureRows are answered by some kernels as by the filter: for want of a capability, of a setting, or of the call.
var sureRows = []callRow{
	{"pivot_root 0 0", "EPERM"},
	{"open_tree_attr -1 0 0x7fffffff 0 0", "EPERM"},
	{"move_mount -1 0 -1 0 0", "EPERM"},
	{"fsopen 0 0", "EPERM"},
	{"fsmount -1 0 0", "EPERM"},
	{"fspick -1 0 0", "EPERM"},
	{"open_by_handle_at -1 0 0", "EPERM"},
	{"fanotify_init 0x7fffffff 0", "EPERM"},
	{"bpf 99999 0 0", "EPERM"},
	{"userfaultfd 0x7fffffff", "EPERM"},
	{"acct 0", "EPERM"},
	{"settimeofday 0 0", "EPERM"},
	{"delete_module 0 0", "EPERM"},
	{"init_module 0 0 0", "EPERM"},
	{"finit_module -1 0 0", "EPERM"},
	{"kexec_load 0 0 0 0", "EPERM"},
	{"kexec_file_load -1 -1 0 0 0", "EPERM"},
	{"quotactl_fd -1 0 0 0", "EPERM"},
	{"reboot 0 0 0 0", "EPERM"},
	{"swapoff 0", "EPERM"},
	{"syslog 99 0 0", "EPERM"},
	{"vhangup", "EPERM"},
	{"socket 38 5 0", "EAFNOSUPPORT"},
	{"0x40000027", "ENOSYS"},    // x32's getpid
	{"468 0 0 0 0 0", "ENOSYS"}, // younger than the filter
}

// openCalls are answered by the kernel alone, and not by EPERM.
var openCalls = []string{
	"personality 0xffffffff", "clone 0x10000", "socket 1 1 0", "socket 2 1 0", "socket 10 1 0", "socket 16 3 0", "socket 0x100000001 1 0",
	"mbind 0 0 0 0 0 0", "memfd_create name 0", "seccomp 0xffff 0 0", "landlock_create_ruleset 0 0 1",
}

var amd64Rows = []callRow{{"iopl 0", "EPERM"}, {"ioperm 0 0 0", "EPERM"}, {"modify_ldt 0 0 0", "EPERM"}}
