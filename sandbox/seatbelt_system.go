package sandbox

// darwinReadable is what is read of the system: programs, libraries and settings that every program of this machine reads. The whole /Library is not
// shown: it holds keychains and what applications keep.
var darwinReadable = []string{
	"/System", "/usr", "/bin", "/sbin",
	"/Library/Apple", "/Library/Developer/CommandLineTools", "/Library/Fonts", "/Library/Frameworks", "/Library/Java/JavaVirtualMachines", "/Library/TeX",
	"/private/etc/fonts", "/private/etc/localtime", "/private/etc/protocols", "/private/etc/services", "/private/etc/ssl",
	"/private/var/db/dyld", "/private/var/db/timezone", "/private/var/select",
}

// darwinNames answer look-ups on the host's network.
var darwinNames = []string{"/private/etc/hosts", "/private/etc/resolv.conf", "/private/var/run/resolv.conf"}

var darwinBroad = []string{
	"", "/Applications", "/Library", "/Network", "/System", "/System/*", "/System/Volumes/*", "/Users", "/Users/Shared", "/Volumes", "/bin", "/cores", "/dev", "/home",
	"/opt", "/opt/homebrew", "/private", "/private/etc", "/private/tmp", "/private/var", "/private/var/*", "/private/var/folders/*", "/private/var/folders/*/*",
	"/private/var/folders/*/*/*", "/sbin", "/usr", "/usr/local", "/usr/share",
}

var darwinNever = []string{"/dev", "/Library/Keychains", "/private/var/db", "/private/var/run"}

var darwinSystem = []string{
	"/System", "/bin", "/sbin", "/usr", "/private/etc", "/Applications", "/Library/*", "/opt/homebrew/bin", "/opt/homebrew/lib", "/opt/homebrew/opt", "/opt/homebrew/Cellar",
	"/private/var/at", "/private/var/root", "/Users/*/Library/LaunchAgents",
}

// darwinSensitive lie in a home folder and hold keys or passwords.
var darwinSensitive = []string{
	".aws", ".azure", ".config/gcloud", ".config/gh", ".docker", ".gnupg", ".kube", ".netrc", ".pgpass", ".pypirc", ".ssh",
	"Library/Application Support/com.apple.TCC", "Library/Cookies", "Library/Keychains",
}

// islandsInPlace are what programs outside act on later; they stay as they are in a writable folder.
var islandsInPlace = []string{".git", ".venv", "venv", ".vscode", ".pixi"}

// darwinServices answer what the C library and CoreFoundation ask of every program. None of them starts programs, opens files for others or reaches the
// network: for that reason the trust service is not among them, nor the one that looks up hosts.
var darwinServices = []string{
	"com.apple.bsd.dirhelper", "com.apple.cfprefsd.agent", "com.apple.cfprefsd.daemon", "com.apple.logd", "com.apple.system.logger",
	"com.apple.system.notification_center", "com.apple.system.opendirectoryd.libinfo", "com.apple.system.opendirectoryd.membership",
}

// darwinNetworkServices are added for the host's network.
var darwinNetworkServices = []string{"com.apple.SystemConfiguration.configd", "com.apple.dnssd.service", "com.apple.trustd.agent"}

// darwinSysctls are read by language runtimes. Those that list the machine's processes and their arguments are not among them.
var darwinSysctls = []string{
	"kern.argmax", "kern.boottime", "kern.hostname", "kern.iossupportversion", "kern.maxfiles", "kern.maxfilesperproc", "kern.maxproc", "kern.ngroups", "kern.osproductversion",
	"kern.osrelease", "kern.ostype", "kern.osversion", "kern.secure_kernel", "kern.usrstack64", "kern.version", "sysctl.proc_translated", "vm.loadavg",
	"vm.page_pageable_internal_count", "vm.pages",
}
