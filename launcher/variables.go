package launcher

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/kernel-launch/kernel-launch/egress"
	"github.com/kernel-launch/kernel-launch/envs"
	"github.com/kernel-launch/kernel-launch/sandbox"
)

// passed are the launcher's own variables that a kernel gets: language, time zone, terminal, the notebook's name, and how many threads numerical
// libraries start. Everything else stays outside unless env.pass names it: tokens live in variables.
var passed = []string{"LANG", "LANGUAGE", "TZ", "TERM", "COLORTERM", "JPY_SESSION_NAME", "CUDA_VISIBLE_DEVICES"}

var passedPrefixes = []string{"LC_", "OMP_", "OPENBLAS_", "MKL_", "BLIS_", "NUMEXPR_", "VECLIB_"}

// windowsPassed are more of them, in capitals: without these no program finds the system's libraries or its shell.
var windowsPassed = []string{"PATH", "PATHEXT", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE"}

// variables is the kernel's whole environment. Ours come before env.set: the operator has the last word, but for what the walls stand on.
func (p *Plan) variables(cfg *Config, folder string) map[string]string {
	v := environment{p.host.goos, map[string]string{}}
	v.ofHost(p.host.env)
	v.set("PATH", searched(v.goos, p.Environment.Bin(), v.get("PATH")))
	v.setAll(p.Environment.Variables())
	// A kernel must not look for its server: process ids differ inside, and ipykernel ends itself when the one that it was told is not there.
	v.set("JPY_PARENT_PID", "1")
	if folder != "" {
		v.set("PWD", folder)
	}
	host := environment{p.host.goos, p.host.env}
	for _, name := range cfg.Sandbox.Env.Pass {
		if value, ok := host.vars[host.spelled(name)]; ok {
			v.set(name, value)
		}
	}
	v.setAll(p.authorities.variables) // in place of paths that lead nowhere inside
	v.setAll(cfg.Sandbox.Env.Set)
	v.set("HOME", sandbox.HomeTarget)
	if cfg.Sandbox.Network == sandbox.NetworkAllowlist {
		v.setAll(egress.ClientEnvironment("127.0.0.1:" + strconv.Itoa(p.egressAt())))
	}
	return v.vars
}

// environment are variables by name. On Windows PATH and Path are one variable, which keeps the spelling that it came with.
type environment struct {
	goos string
	vars map[string]string
}

func (v environment) get(name string) string { return v.vars[v.spelled(name)] }

func (v environment) set(name, value string) { v.vars[v.spelled(name)] = value }

// setAll goes by the names' order, so that of two spellings in more the same one stays every time.
func (v environment) setAll(more map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(more)) {
		v.set(name, more[name])
	}
}

// spelled is the name under which a variable is there already, else name.
func (v environment) spelled(name string) string {
	if _, ok := v.vars[name]; ok || v.goos != "windows" {
		return name
	}
	for other := range v.vars {
		if strings.EqualFold(other, name) {
			return other
		}
	}
	return name
}

// ofHost takes those of the host's that pass, and a locale: a kernel without one cannot write what it prints.
func (v environment) ofHost(host map[string]string) {
	for name, value := range host {
		if passes(v.goos, name) {
			v.vars[name] = value
		}
	}
	if v.get("LANG") == "" && v.get("LC_ALL") == "" && v.get("LC_CTYPE") == "" {
		v.set("LANG", "C.UTF-8")
	}
}

func passes(goos, name string) bool {
	names := passed
	if goos == "windows" {
		name, names = strings.ToUpper(name), slices.Concat(passed, windowsPassed)
	}
	return slices.Contains(names, name) || slices.ContainsFunc(passedPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// searched is where programs are looked for. On Windows the system's own folders are known by the host's variable alone.
func searched(goos, bin, host string) string {
	if goos == "windows" {
		return strings.TrimSuffix(bin+";"+host, ";")
	}
	list := bin + ":/usr/local/bin:/usr/bin:/bin"
	if goos == "linux" {
		list += ":" + sandbox.BinDir // kernel-launch connect, under the name that it has outside
	}
	return list
}

// keptHome is what a kernel may keep, by environment and folder, whatever links lead there: what a kernel in one folder plants must not run in another's.
func keptHome(state string, e *envs.Environment, folder string) string {
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	if runtime.GOOS == "windows" {
		folder = strings.ToLower(folder)
	}
	sum := sha256.Sum256([]byte(folder))
	return filepath.Join(state, "homes", e.Language, e.Name, hex.EncodeToString(sum[:8]))
}
