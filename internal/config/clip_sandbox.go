package config

import (
	"slices"
	"strings"

	"github.com/kernel-launch/kernel-launch/sandbox"
)

// walls lowers what a kernel can get at beside files.
func (k *clipper) walls() {
	k.unconfined()
	k.unfiltered()
	single(k, "sandbox.backend", func(c *Config) *Backend { return &c.Sandbox.Backend }, allowsBackend)
	single(k, "sandbox.network", func(c *Config) *sandbox.Network { return &c.Sandbox.Network }, allowsNetwork)
	single(k, "sandbox.links", func(c *Config) *string { return &c.Sandbox.Links }, func(top, v string) bool { return top == "allow" || v != "allow" })
	single(k, "sandbox.gpu", func(c *Config) *string { return &c.Sandbox.GPU }, func(top, v string) bool { return v == top || v == "none" || v == "" })
	single(k, "sandbox.debug", func(c *Config) *bool { return &c.Sandbox.Debug }, onlyOff)
	several(k, "sandbox.forward", func(c *Config) *[]Forward { return &c.Sandbox.Forward }, among)
	several(k, "sandbox.publish", func(c *Config) *[]Publish { return &c.Sandbox.Publish }, among)
	several(k, "sandbox.env.pass", func(c *Config) *[]string { return &c.Sandbox.Env.Pass }, among)
}

// view lowers what of the host is shown. Where a kernel may write it may read.
func (k *clipper) view() {
	_, writes := k.top.origin("sandbox.write")
	several(k, "sandbox.read", func(c *Config) *[]string { return &c.Sandbox.Read }, func(top []string, v string) bool {
		return below(top, v) || writes && below(k.top.bound.Sandbox.Write, v)
	})
	several(k, "sandbox.write", func(c *Config) *[]string { return &c.Sandbox.Write }, below)
	single(k, "sandbox.project", func(c *Config) *bool { return &c.Sandbox.Project }, onlyOff)
	always(k, "sandbox.hide", func(c *Config) *[]string { return &c.Sandbox.Hide })
	always(k, "sandbox.islands", func(c *Config) *[]string { return &c.Sandbox.Islands })
}

func (k *clipper) limits() {
	single(k, "sandbox.limits.memory", func(c *Config) *sandbox.Size { return &c.Sandbox.Limits.Memory }, atMost)
	single(k, "sandbox.limits.processes", func(c *Config) *int { return &c.Sandbox.Limits.Processes }, atMost)
	single(k, "sandbox.limits.cpus", func(c *Config) *float64 { return &c.Sandbox.Limits.CPUs }, atMost)
	single(k, "sandbox.limits.tmp", func(c *Config) *sandbox.Size { return &c.Sandbox.Limits.Tmp }, scratch(sandbox.DefaultTmp))
	single(k, "sandbox.limits.shm", func(c *Config) *sandbox.Size { return &c.Sandbox.Limits.Shm }, scratch(sandbox.DefaultShm))
	single(k, "sandbox.limits.best_effort", func(c *Config) *bool { return &c.Sandbox.Limits.BestEffort }, onlyOff)
}

// unconfined keeps the walls up where the ceiling says anything about what is behind them: without walls none of it holds.
func (k *clipper) unconfined() {
	const key = "sandbox.backend"
	if _, ok := k.top.origin(key); ok || k.c.Sandbox.Backend != BackendOff {
		return
	}
	if at, ok := k.first("sandbox.", "egress."); ok {
		k.note(key, string(BackendOff), string(BackendAuto), "what only walls hold", at)
		k.c.Sandbox.Backend, k.c.origins[key] = BackendAuto, []Origin{at}
	}
}

// unfiltered keeps the proxy in place where the ceiling says anything about what it does.
func (k *clipper) unfiltered() {
	const key = "sandbox.network"
	if _, ok := k.top.origin(key); ok || k.c.Sandbox.Network != sandbox.NetworkHost {
		return
	}
	if at, ok := k.first("egress."); ok {
		k.note(key, string(sandbox.NetworkHost), string(sandbox.NetworkAllowlist), "what only the proxy holds", at)
		k.c.Sandbox.Network, k.c.origins[key] = sandbox.NetworkAllowlist, []Origin{at}
	}
}

// first is the uppermost line of the ceiling whose key begins with one of prefixes.
func (k *clipper) first(prefixes ...string) (at Origin, ok bool) {
	for key, from := range k.top.bound.origins {
		begins := func(p string) bool { return strings.HasPrefix(key, p) }
		if len(from) > 0 && slices.ContainsFunc(prefixes, begins) && (!ok || from[0].Line < at.Line) {
			at, ok = from[0], true
		}
	}
	return at, ok
}

// allowsBackend: auto is whatever walls the platform has.
func allowsBackend(top, v Backend) bool {
	return top == BackendOff || v == top || v == BackendAuto || v == "" || top == BackendAuto && v != BackendOff
}

func allowsNetwork(top, v sandbox.Network) bool {
	widths := []sandbox.Network{"", sandbox.NetworkNone, sandbox.NetworkAllowlist, sandbox.NetworkHost}
	return slices.Index(widths, v) <= slices.Index(widths, top)
}

func onlyOff(top, v bool) bool { return top || !v }

// scratch is for the two sizes that are always bounded: 0 is the built-in one.
func scratch(builtIn sandbox.Size) func(top, v sandbox.Size) bool {
	return func(top, v sandbox.Size) bool {
		if top == 0 {
			top = builtIn
		}
		if v == 0 {
			v = builtIn
		}
		return v <= top
	}
}

// below follows links on both sides: a link of the user's into a folder that is not allowed is outside.
func below(top []string, v string) bool {
	v = resolve(v)
	return slices.ContainsFunc(top, func(dir string) bool { return within(v, resolve(dir)) })
}
