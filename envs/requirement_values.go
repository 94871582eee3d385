package envs

import (
	"fmt"
	"strings"
)

// markers are the variables of PEP 508 for this interpreter, as far as its probe tells.
func (i Interpreter) markers() markerValues {
	major, minor := versionOf(i.Version)
	v := markerValues{
		"python_version": fmt.Sprintf("%d.%d", major, minor), "python_full_version": i.Version,
		"implementation_name": i.Implementation, "platform_python_implementation": implementationName(i.Implementation),
	}
	if i.Implementation == "cpython" {
		v["implementation_version"] = i.Version
	}
	v["os_name"], v["sys_platform"], v["platform_system"], v["platform_machine"] = systemOf(i.Platform)
	return v
}

func implementationName(name string) string {
	switch name {
	case "cpython":
		return "CPython"
	case "pypy":
		return "PyPy"
	}
	return name
}

// systemOf reads what sysconfig.get_platform says: "linux-x86_64", "macosx-11.0-arm64", "win-amd64", "win32".
func systemOf(platform string) (osName, sysPlatform, system, machine string) {
	machine = platform[strings.LastIndexByte(platform, '-')+1:]
	switch {
	case strings.HasPrefix(platform, "win"):
		if machine = strings.ToUpper(machine); machine == "WIN32" {
			machine = "x86"
		}
		return "nt", "win32", "Windows", machine
	case strings.HasPrefix(platform, "macosx"):
		return "posix", "darwin", "Darwin", machine
	}
	first, _, _ := strings.Cut(platform, "-")
	return "posix", first, strings.ToUpper(first[:min(len(first), 1)]) + first[min(len(first), 1):], machine
}
