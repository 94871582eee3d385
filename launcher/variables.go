package launcher

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"path/filepath"
	"runtime"
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

// variables is the kernel's whole environment. Ours come before env.set: the operator has the last word, but for what the walls stand on.
func (p *Plan) variables(cfg *Config, folder string) map[string]string {
	v := map[string]string{}
	for name, value := range p.host.env {
		if passes(name) {
			v[name] = value
		}
	}
	if v["LANG"] == "" && v["LC_ALL"] == "" && v["LC_CTYPE"] == "" {
		v["LANG"] = "C.UTF-8"
	}
	v["PATH"] = p.Environment.Bin() + ":/usr/local/bin:/usr/bin:/bin"
	maps.Copy(v, p.Environment.Variables())
	// A kernel must not look for its server: process ids differ inside, and ipykernel ends itself when the one that it was told is not there.
	v["JPY_PARENT_PID"] = "1"
	if folder != "" {
		v["PWD"] = folder
	}
	for _, name := range cfg.Sandbox.Env.Pass {
		if value, ok := p.host.env[name]; ok {
			v[name] = value
		}
	}
	maps.Copy(v, cfg.Sandbox.Env.Set)
	v["HOME"] = sandbox.HomeTarget
	if cfg.Sandbox.Network == sandbox.NetworkAllowlist {
		maps.Copy(v, egress.ClientEnvironment("127.0.0.1:"+strconv.Itoa(p.egressAt())))
	}
	return v
}

func passes(name string) bool {
	for _, n := range passed {
		if n == name {
			return true
		}
	}
	for _, prefix := range passedPrefixes {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// keptHome is what a kernel may keep, by environment and folder: what a kernel in one folder plants must not run in another's.
func keptHome(state string, e *envs.Environment, folder string) string {
	if runtime.GOOS == "windows" {
		folder = strings.ToLower(folder)
	}
	sum := sha256.Sum256([]byte(folder))
	return filepath.Join(state, "homes", e.Language, e.Name, hex.EncodeToString(sum[:8]))
}
