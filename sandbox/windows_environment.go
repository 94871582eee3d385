package sandbox

import (
	"errors"
	"sort"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// windowsRequired are the variables without which no process starts in a container: CreateProcess fails with ERROR_ENVVAR_NOT_FOUND (203).
var windowsRequired = []string{"LOCALAPPDATA", "SYSTEMROOT"}

// EnvironmentBlock is the environment of a process as CreateProcess takes it: UTF-16, each variable and the whole ended by a zero, sorted by name
// without case. Two names that differ only in case are one variable to Windows, and which of them it would be is left to chance: that is an error.
func EnvironmentBlock(vars map[string]string) ([]uint16, error) {
	if faults := windowsVariableFaults(vars); len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	names := sortedKeys(vars)
	sort.SliceStable(names, func(i, j int) bool { return lessUnits(capitals(names[i]), capitals(names[j])) })
	var block []uint16
	for _, name := range names {
		block = append(append(block, utf16.Encode([]rune(name+"="+vars[name]))...), 0)
	}
	return append(block, 0), nil
}

func windowsVariableFaults(vars map[string]string) []error {
	var faults []error
	seen := map[string]string{}
	for _, name := range sortedKeys(vars) {
		if why := badWindowsVariable(name, vars[name]); why != "" {
			faults = append(faults, &EnvironmentError{Name: name, Reason: why})
		}
		key := foldWindows(name)
		if other, twice := seen[key]; twice {
			faults = append(faults, &EnvironmentError{Name: name, Reason: "is the same name as " + other + " on Windows"})
		}
		seen[key] = name
	}
	for _, name := range windowsRequired {
		if _, ok := seen[name]; !ok {
			faults = append(faults, &EnvironmentError{Name: name, Reason: "is missing: without it no process starts in a container (error 203)"})
		}
	}
	return faults
}

func badWindowsVariable(name, value string) string {
	if why := badVariable(name, value); why != "" {
		return why
	}
	if !utf8.ValidString(name) || !utf8.ValidString(value) {
		return "is not valid UTF-8 and so has no form in UTF-16"
	}
	return ""
}

func capitals(name string) []uint16 {
	units := utf16.Encode([]rune(name))
	for i, u := range units {
		units[i] = uint16(capital(rune(u)))
	}
	return units
}

// capital is the upper case of one UTF-16 unit; halves of a pair, and letters whose capital is longer, stay.
func capital(r rune) rune {
	if utf16.IsSurrogate(r) {
		return r
	}
	if u := unicode.ToUpper(r); u <= 0xffff {
		return u
	}
	return r
}

func lessUnits(a, b []uint16) bool {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return len(a) < len(b)
}

// windowsVariables are the policy's with those that every container needs, as far as the machine's are known.
func windowsVariables(vars, known map[string]string) map[string]string {
	out := map[string]string{}
	have := map[string]bool{}
	for name, value := range vars {
		out[name] = value
		have[foldWindows(name)] = true
	}
	for _, name := range windowsRequired {
		if !have[name] && known[name] != "" {
			out[name] = known[name]
		}
	}
	return out
}

// setVariable gives a variable a value, whatever the case in which it is there already.
func setVariable(vars map[string]string, name, value string) {
	for other := range vars {
		if foldWindows(other) == foldWindows(name) {
			delete(vars, other)
		}
	}
	vars[name] = value
}

// knownFolders are what Windows itself names by variables.
func knownFolders(goos string, getenv func(string) string) map[string]string {
	if goos != "windows" {
		return nil
	}
	known := map[string]string{}
	for _, name := range append([]string{"TEMP"}, windowsRequired...) {
		if value := getenv(name); value != "" {
			known[name] = value
		}
	}
	return known
}
