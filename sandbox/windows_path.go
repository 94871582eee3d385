package sandbox

import (
	"errors"
	"strings"
)

// windowsPaths are paths of Windows, judged without asking Windows: the same on every platform.
var windowsPaths = spelling{
	clean: cleanWindows, fold: foldWindows, separator: `\`,
	broad: windowsBroad, never: windowsNever, system: windowsSystem,
}

// What a path may not be: each of these names something else than it seems to, or nothing on a local drive.
var (
	errNetworkShare = errors.New("lies on a network share, whose rights are not this machine's to give")
	errDevicePath   = errors.New("is a device path, which skips the rules for names")
	errStream       = errors.New("holds a colon after the drive: it names a stream of a file")
	errOddCharacter = errors.New(`holds a character that no name may have (one of <>"|?* or a control character)`)
	errTrailing     = errors.New("has a name that ends in a dot or a space, which Windows drops")
	errDeviceName   = errors.New("has a name that stands for a device in every folder")
	errShortName    = errors.New("has a name in the short form (as PROGRA~1), which stands for another one")
)

// cleanWindows gives a path with a drive in its one form: backslashes, a capital drive letter, no ".", ".." or doubled separator.
func cleanWindows(path string) (string, error) {
	p := strings.ReplaceAll(path, "/", `\`)
	switch {
	case strings.HasPrefix(p, `\\?\`) || strings.HasPrefix(p, `\\.\`) || strings.HasPrefix(p, `\??\`):
		return "", errDevicePath
	case strings.HasPrefix(p, `\\`):
		return "", errNetworkShare
	case len(p) < 3 || p[1] != ':' || p[2] != '\\' || !letter(p[0]):
		return "", errRelative
	}
	var names []string
	for _, name := range strings.Split(p[3:], `\`) {
		switch name {
		case "", ".":
			continue
		case "..":
			if len(names) > 0 {
				names = names[:len(names)-1]
			}
			continue
		}
		if err := windowsName(name); err != nil {
			return "", err
		}
		names = append(names, name)
	}
	return strings.ToUpper(p[:1]) + `:\` + strings.Join(names, `\`), nil
}

func letter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }

// windowsName says why a name leads elsewhere than to the entry of that name.
func windowsName(name string) error {
	base, _, _ := strings.Cut(name, ".")
	switch {
	case strings.Contains(name, ":"):
		return errStream
	case strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || strings.ContainsRune(`<>"|?*`, r) }):
		return errOddCharacter
	case strings.HasSuffix(name, ".") || strings.HasSuffix(name, " "):
		return errTrailing
	case deviceName(strings.ToUpper(strings.TrimRight(base, " "))):
		return errDeviceName
	case shortName(name):
		return errShortName
	}
	return nil
}

func deviceName(base string) bool {
	switch base {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$":
		return true
	}
	rest, ok := strings.CutPrefix(base, "COM")
	if !ok {
		rest, ok = strings.CutPrefix(base, "LPT")
	}
	return ok && len([]rune(rest)) == 1 && strings.Contains("0123456789¹²³", rest)
}

// shortName fits eight characters and three, the first ending in a tilde and digits.
func shortName(name string) bool {
	base, extension, _ := strings.Cut(name, ".")
	stem, digits, ok := strings.Cut(base, "~")
	return ok && stem != "" && len(base) <= 8 && len(extension) <= 3 && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// foldWindows compares names as the file system does: by their capitals, one UTF-16 unit after the other.
func foldWindows(path string) string {
	return strings.Map(func(r rune) rune {
		if r > 0xffff {
			return r
		}
		return capital(r)
	}, path)
}
