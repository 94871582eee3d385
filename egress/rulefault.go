package egress

import (
	"errors"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// checkShape refuses what is not a host pattern at all, and guesses the host
// that was meant.
func checkShape(s string) error {
	fault := func(what, suggest string) error { return &RuleError{Rule: s, What: what, Suggest: suggest} }
	switch {
	case s == "":
		return fault("the rule is empty", "")
	case strings.ContainsAny(s, " \t\r\n"):
		return fault("white space inside a rule; one rule names one host or domain", "")
	case strings.Trim(s, "*.") == "":
		return fault("this would allow every host; name the hosts, or a domain as \".domain\"", "")
	case strings.Contains(s, "://"):
		return fault("a URL is no rule; drop the scheme and the path", hostOfURL(s))
	case strings.Contains(s, "@"):
		return fault("a rule has no user", s[strings.LastIndexByte(s, '@')+1:])
	case isPrefix(s):
		return fault("a range of addresses is no rule; name the hosts, and open the range for them with allow_inward", "")
	case strings.ContainsAny(s, "/?#"):
		return fault("a path is no part of a rule", s[:strings.IndexAny(s, "/?#")])
	case strings.Contains(strings.TrimPrefix(s, "*."), "*"):
		return fault("a star stands only at the start, before a dot, as in \"*.domain\"", afterStar(s))
	}
	return nil
}

func hostOfURL(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return ""
	}
	if u.Port() != "" {
		return u.Host
	}
	return u.Hostname()
}

func isPrefix(s string) bool {
	_, err := netip.ParsePrefix(s)
	return err == nil
}

// afterStar suggests "*.rest" for "*rest", "a*.rest" and "a.*.rest" when rest
// is a domain of two labels.
func afterStar(s string) string {
	rest := strings.TrimPrefix(s[strings.LastIndexByte(s, '*')+1:], ".")
	if strings.Count(rest, ".") < 1 {
		return ""
	}
	return "*." + rest
}

func bracketed(s string) string {
	if a, err := netip.ParseAddr(s); err == nil && a.Is6() {
		return "[" + a.String() + "]"
	}
	return ""
}

// hostFault says what is wrong with the host of a rule. A number is answered
// as the address that others would dial.
func (r Rule) hostFault(rule, host string, err error) error {
	var t *TargetError
	if !errors.As(err, &t) {
		return &RuleError{Rule: rule, What: err.Error()}
	}
	if a, ok := looseQuad(strings.TrimSuffix(host, ".")); ok && t.Code == CodeNumericHost {
		_, err := r.withAddr(rule, host, a)
		return err
	}
	return &RuleError{Rule: rule, What: t.What}
}

// usable makes a suggestion one that is a rule, by way of its own suggestion
// where it has one; empty when it does not become one.
func usable(s string) string {
	for range 3 { // a scheme, a user, a spelling
		r, err := parseRule(s)
		if err == nil {
			return r.String()
		}
		var fault *RuleError
		if !errors.As(err, &fault) {
			return ""
		}
		s = fault.Suggest
	}
	return ""
}

// looseQuad reads the spellings that inet_aton takes, only to say in an error
// which address was meant. Nothing is ever dialled by it.
func looseQuad(s string) (netip.Addr, bool) {
	parts := strings.Split(s, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var sum uint64
	for i, p := range parts {
		n, err := looseNumber(p)
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (5 - len(parts))
		}
		if err != nil || n >= 1<<bits {
			return netip.Addr{}, false
		}
		sum = sum<<bits | n
	}
	return netip.AddrFrom4([4]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)}), true
}

// looseNumber reads hexadecimal behind 0x, octal behind 0, and decimal.
func looseNumber(s string) (uint64, error) {
	if hex, ok := strings.CutPrefix(strings.ToLower(s), "0x"); ok {
		return strconv.ParseUint(hex, 16, 32)
	}
	if len(s) > 1 && s[0] == '0' {
		return strconv.ParseUint(s, 8, 32)
	}
	return strconv.ParseUint(s, 10, 32)
}
