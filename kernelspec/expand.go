package kernelspec

import (
	"regexp"
	"strings"
	"sync"
)

// Values are what a spec's argv is completed with.
type Values struct {
	ConnectionFile string
	Prefix         string // for {prefix}: the prefix of the environment that the kernel is bound to
	Home           string // for a leading ~; empty leaves it

	// HomeOf returns the home folder of a user, for a leading ~user; nil leaves it.
	HomeOf func(user string) (string, bool)

	More map[string]string // further names
}

// Compiled at the first use: most processes expand nothing.
var (
	placeholder = expression(`\{([A-Za-z0-9_]+)\}`)
	variable    = expression(`\$(?:\$|[A-Za-z_][A-Za-z0-9_]*|\{[A-Za-z_][A-Za-z0-9_]*\})`)
)

func expression(s string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(s) })
}

// Expand returns argv with its placeholders filled in and a leading ~ of each element replaced: once, in this order, as Jupyter does it.
// Unknown placeholders stay, and no element is split or quoted.
func Expand(s *Spec, v Values) []string {
	names := map[string]string{"connection_file": v.ConnectionFile, "prefix": v.Prefix, "resource_dir": s.Dir}
	for name, value := range v.More {
		names[name] = value
	}
	argv := make([]string, 0, len(s.Argv))
	for _, arg := range s.Argv {
		arg = placeholder().ReplaceAllStringFunc(arg, func(token string) string {
			if value, ok := names[token[1:len(token)-1]]; ok {
				return value
			}
			return token
		})
		argv = append(argv, v.tilde(arg))
	}
	return argv
}

// tilde replaces a ~ that starts a path, as Python's expanduser.
func (v Values) tilde(arg string) string {
	rest, ok := strings.CutPrefix(arg, "~")
	if !ok {
		return arg
	}
	user, path, slash := strings.Cut(rest, "/")
	home := v.Home
	if user != "" {
		if v.HomeOf == nil {
			return arg
		}
		if home, ok = v.HomeOf(user); !ok {
			return arg
		}
	}
	if home == "" {
		return arg
	}
	if !slash {
		return home
	}
	return strings.TrimRight(home, "/") + "/" + path
}

// ExpandEnv returns the spec's variables with $NAME and ${NAME} replaced by those of the launching environment, once. Unknown names stay,
// "$$" is a dollar sign. A spec that Jupyter started needs none of this: Jupyter did it.
func ExpandEnv(s *Spec, lookup func(string) (string, bool)) map[string]string {
	out := make(map[string]string, len(s.Env))
	for name, value := range s.Env {
		out[name] = variable().ReplaceAllStringFunc(value, func(token string) string {
			if token == "$$" {
				return "$"
			}
			if known, ok := lookup(strings.Trim(token[1:], "{}")); ok {
				return known
			}
			return token
		})
	}
	return out
}
