package egress

import (
	"fmt"
	"strings"
)

const (
	maxLabel = 63
	maxName  = 253
)

// checkBytes allows what host names are made of: letters, digits, hyphen, dot
// and the underscore that exists in the wild.
func checkBytes(s string) error {
	for i := range len(s) {
		if !nameByte(s[i]) {
			return fmt.Errorf("byte %q does not belong in a host name", rune(s[i]))
		}
	}
	return nil
}

func nameByte(b byte) bool {
	switch {
	case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b >= '0' && b <= '9':
		return true
	}
	return b == '-' || b == '_' || b == '.'
}

// parseName checks the labels and gives the one spelling that everything else
// compares: lower case, the final dot off.
func parseName(s string) (string, error) {
	s = strings.ToLower(strings.TrimSuffix(s, "."))
	if s == "" {
		return "", fmt.Errorf("the host is empty")
	}
	if len(s) > maxName {
		return "", fmt.Errorf("the name has %d bytes, more than %d", len(s), maxName)
	}
	for label := range strings.SplitSeq(s, ".") {
		if err := checkLabel(label); err != nil {
			return "", err
		}
	}
	return s, nil
}

func checkLabel(label string) error {
	switch {
	case label == "":
		return fmt.Errorf("a label is empty")
	case len(label) > maxLabel:
		return fmt.Errorf("a label has %d bytes, more than %d", len(label), maxLabel)
	case label[0] == '-' || label[len(label)-1] == '-':
		return fmt.Errorf("label %q starts or ends with a hyphen", label)
	}
	return nil
}

// endsInNumber is the WHATWG rule: a host whose last label is a number is an
// IPv4 address to somebody, whatever stands before it.
func endsInNumber(s string) bool {
	last := strings.ToLower(s[strings.LastIndexByte(s, '.')+1:])
	if last == "" {
		return false
	}
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(last, "0123456789") == ""
}

// isLocal is true for the names that RFC 6761 keeps on the machine.
func isLocal(name string) bool {
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// sameASCII compares without case, and without the letters beyond ASCII that
// fold into it, such as the Kelvin sign: nobody else takes them for the same.
func sameASCII(a, b string) bool { return isASCII(a) && strings.EqualFold(a, b) }

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n] + "..."
}
