package envs

import "strings"

var (
	leadingRelease = newForm(`\Av?([0-9]+(?:\.[0-9]+)*)`)
	notLocal       = newForm(`[^a-z0-9]+`)
)

// stubVersion is a version in the form of PEP 440. Distributions and people write others, and one of them would make tools refuse every resolution.
func stubVersion(version string) string {
	if v, ok := parsePyVersion(version); ok {
		return v.String()
	}
	release, rest := "0", strings.ToLower(strings.TrimSpace(version))
	if m := leadingRelease.FindStringSubmatch(rest); m != nil {
		release, rest = m[1], rest[len(m[0]):]
	}
	if local := strings.Trim(notLocal.ReplaceAllString(rest, "."), "."); local != "" {
		release += "+" + local
	}
	if v, ok := parsePyVersion(release); ok {
		return v.String()
	}
	return "0"
}
