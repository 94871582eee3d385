package sandbox

// systemPath is one thing of the host's system that is shown, when it exists. Pattern may hold "*" in its last element.
type systemPath struct{ Pattern, Why string }

// rootPaths are either links into /usr, which are made again, or real folders, which are shown.
var rootPaths = []systemPath{
	{"/bin", "programs"},
	{"/sbin", "programs"},
	{"/lib", "shared libraries"},
	{"/lib32", "shared libraries"},
	{"/lib64", "shared libraries and the dynamic loader"},
	{"/libx32", "shared libraries"},
}

// storePaths hold whole systems on distributions without /usr.
var storePaths = []systemPath{
	{"/nix/store", "programs and libraries of Nix"},
	{"/gnu/store", "programs and libraries of Guix"},
}

// etcPaths is all that is shown of /etc and its like: configuration that libraries read, nothing that holds a secret.
// /etc as a whole is never shown, nor is /etc/ssl/private.
var etcPaths = []systemPath{
	{"/etc/ld.so.cache", "where the dynamic loader finds libraries"},
	{"/etc/ld.so.conf", "libraries outside the default folders, read by ctypes and ldconfig -p"},
	{"/etc/ld.so.conf.d", "libraries outside the default folders"},
	{"/etc/alternatives", "what editor, java, libblas.so.3 stand for"},
	{"/etc/localtime", "the time zone"},
	{"/etc/timezone", "the time zone's name"},
	{"/etc/locale.alias", "names of locales"},
	{"/etc/ssl/certs", "certificates to trust"},
	{"/etc/ssl/cert.pem", "certificates to trust"},
	{"/etc/ssl/openssl.cnf", "OpenSSL's settings"},
	{"/etc/ca-certificates", "certificates to trust"},
	{"/etc/pki/ca-trust", "certificates to trust"},
	{"/etc/pki/tls/certs", "certificates to trust"},
	{"/etc/pki/tls/cert.pem", "certificates to trust"},
	{"/etc/pki/tls/openssl.cnf", "OpenSSL's settings"},
	{"/etc/crypto-policies", "the system's TLS versions and ciphers"},
	{"/etc/gnutls", "GnuTLS's settings"},
	{"/etc/fonts", "how fonts are chosen: plots have text"},
	{"/etc/R", "R's own settings"},
	{"/etc/java", "Java's settings"},
	{"/etc/java-*", "a Java version's settings"},
	{"/etc/jvm", "which Java is used"},
	{"/etc/OpenCL", "which OpenCL drivers there are"},
	{"/etc/magic", "types of files by content"},
	{"/etc/mime.types", "types of files by name"},
	{"/etc/os-release", "the distribution's name"},
	{"/etc/protocols", "names of network protocols"},
	{"/etc/services", "names of ports"},
	{"/etc/papersize", "the default paper of R and TeX"},
	{"/etc/libpaper.d", "the default paper of R and TeX"},
	{"/etc/texmf", "TeX's settings"},
	{"/etc/ImageMagick-*", "ImageMagick's limits"},
	{"/etc/ghostscript", "fonts of Ghostscript"},
	{"/etc/static", "where NixOS keeps what /etc links to"},
	{"/run/current-system", "the programs of NixOS"},
	{"/var/cache/fontconfig", "the index of the system's fonts: without it every start makes its own"},
}

// etcSecrets hold private keys: a name of etcPaths that leads there is left out.
var etcSecrets = []string{"/etc/ssl/private", "/etc/pki/tls/private"}

// procReadOnly are parts of /proc that can be written through it: /proc/sys names kernel.core_pattern, which runs a
// program on the host; /proc/pressure takes requests that the host's kernel works on.
var procReadOnly = []string{"/proc/sys", "/proc/pressure"}

// procRootOwned are further ones whose files belong to the host's root, who a sandbox of root still is to the kernel.
var procRootOwned = []string{"/proc/acpi", "/proc/bus", "/proc/dynamic_debug", "/proc/fs", "/proc/irq", "/proc/scsi"}

// procMasked are files of /proc that show or change the host as a whole.
var procMasked = []systemPath{
	{"/proc/keys", "it lists the keys of this user on the host"},
	{"/proc/latency_stats", "it tells of the host's processes"},
	{"/proc/sched_debug", "it tells of the host's processes"},
}

// procRootMasked are further ones that only the host's root could open.
var procRootMasked = []systemPath{
	{"/proc/sysrq-trigger", "it acts on the host"},
	{"/proc/kcore", "it is the host's memory"},
	{"/proc/kmsg", "it is the host's log"},
	{"/proc/mtrr", "it changes the host's memory types"},
	{"/proc/timer_list", "it tells of the host's processes"},
}

// systemPatterns is everything that Observe looks at, whatever the policy says; some of it matters for root alone. The patterns come first: for them a
// folder is read, which answers for its names.
func systemPatterns(root bool) []string {
	lists := [][]systemPath{etcPaths, rootPaths, storePaths, procMasked}
	out := []string{"/usr", "/etc/resolv.conf", "/etc/hosts"}
	if root {
		lists = append(lists, procRootMasked)
		out = append(out, procRootOwned...)
	}
	for _, list := range lists {
		for _, p := range list {
			out = append(out, p.Pattern)
		}
	}
	return append(out, procReadOnly...)
}

// tooBroad are folders that hold what belongs to the whole machine or to everyone: never shown as a whole, read-only or not.
var tooBroad = []string{
	"/", "/bin", "/boot", "/dev", "/etc", "/gnu", "/home", "/lib", "/lib32", "/lib64", "/libx32", "/nix", "/opt", "/proc", "/root", "/run",
	"/run/user", "/sbin", "/sys", "/tmp", "/usr", "/usr/local", "/usr/share", "/usr/src", "/var", "/var/cache", "/var/lib", "/var/log", "/var/run", "/var/spool", "/var/tmp",
}

// neverBelow are trees of which no part is shown by a grant: they are the sandbox's own, or hold devices and sockets.
var neverBelow = []string{"/proc", "/dev", "/sys", "/boot", "/run/kernel-launch"}

// neverWritten are trees of the system in which a writable folder would change what the host itself runs.
var neverWritten = []string{
	"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/nix/store", "/gnu/store",
	"/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec", "/usr/share", "/usr/include",
	"/usr/local/bin", "/usr/local/sbin", "/usr/local/lib", "/usr/local/lib64", "/var/spool/cron",
	"/run/systemd", "/var/lib/apt", "/var/lib/dpkg", "/var/lib/pam", "/var/lib/rpm", "/var/lib/systemd",
}

// isSystemMount reports whether a mount belongs to the part of every view that is the same on this machine.
func isSystemMount(m Mount) bool {
	if m.Kind == MountFile || m.Kind == MountSeal || m.Kind == MountMask || m.Kind == MountProc || m.Kind == MountDev {
		return true
	}
	for _, root := range []string{"/usr", "/etc", "/nix/store", "/gnu/store", "/proc", "/dev", "/run/current-system", "/var/cache/fontconfig"} {
		if within(m.Target, root) && m.Kind != MountReadWrite && m.Kind != MountDevice && m.Target != "/dev/shm" {
			return true
		}
	}
	for _, p := range rootPaths {
		if m.Target == p.Pattern {
			return true
		}
	}
	return false
}

// within reports whether path is root or lies below it. Both are clean and absolute.
func within(path, root string) bool {
	n := len(root)
	return path == root || root == "/" || len(path) > n && path[n] == '/' && path[:n] == root // a concatenation would cost every start
}

// below is within, without root itself.
func below(path, root string) bool { return path != root && within(path, root) }

// overlap reports whether one path lies in the other.
func overlap(a, b string) bool { return within(a, b) || within(b, a) }
