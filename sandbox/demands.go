package sandbox

import (
	"sort"
	"strings"
)

// demands checks everything in the policy that is no path. What this version cannot hold is an error unless
// BestEffort says that trying is enough.
func (c *linux) demands() {
	p := c.p
	if !p.networkOrNone().valid() {
		c.fault(&NetworkError{Value: string(p.Network)})
	}
	c.limits()
	for _, d := range unheld(p) {
		if d.impossible || !p.Limits.BestEffort {
			c.fault(&d.UnsupportedError)
		}
	}
	for _, name := range sortedKeys(p.Environment) {
		if why := badVariable(name, p.Environment[name]); why != "" {
			c.fault(&EnvironmentError{Name: name, Reason: why})
		}
	}
}

// demand is what a policy asks and this backend does not hold; an impossible one makes no sense to any backend.
type demand struct {
	UnsupportedError
	impossible bool
}

func unheld(p Policy) []demand {
	out := gpuDemand(p.GPU)
	if p.Links != "" && p.Links != "deny" && p.Links != "allow" {
		out = append(out, demand{UnsupportedError{"links", p.Links, "is none of deny, allow"}, true})
	}
	return out
}

func badVariable(name, value string) string {
	switch {
	case name == "":
		return "has no name"
	case strings.ContainsAny(name, "=\x00"):
		return "has a name that no process can be given"
	case strings.Contains(value, "\x00"):
		return "has a value with a zero byte"
	}
	return ""
}

// environment returns K=V sorted, and the same to be shown.
func environment(vars map[string]string) (all, shown []string) {
	all, shown = []string{}, []string{}
	for _, name := range sortedKeys(vars) {
		all = append(all, name+"="+vars[name])
		if secretName(name) || holdsUser(vars[name]) {
			shown = append(shown, name+"=(not shown)")
			continue
		}
		shown = append(shown, name+"="+vars[name])
	}
	return all, shown
}

// secretName guesses by name: a wrong guess hides a harmless value, or shows one that the operator chose to pass.
func secretName(name string) bool {
	upper := strings.ToUpper(name)
	for _, word := range []string{"SECRET", "TOKEN", "PASSW", "PASSPHRASE", "KEY", "CREDENTIAL", "AUTH", "COOKIE", "SESSION", "DSN", "_PAT"} {
		if strings.Contains(upper, word) {
			return true
		}
	}
	return false
}

// holdsUser spots an address with a user and a password before the host, as in a proxy's variable.
func holdsUser(value string) bool {
	_, rest, ok := strings.Cut(value, "://")
	authority, _, _ := strings.Cut(rest, "/")
	return ok && strings.Contains(authority, "@")
}

func sortedKeys(m map[string]string) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}
