package config

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kernel-launch/kernel-launch/egress"
	"github.com/kernel-launch/kernel-launch/sandbox"
)

// Overrides are the policy flags as they were typed. Empty ones change nothing; lists add to what the files grant.
type Overrides struct {
	Network   string   // --network
	AllowHost []string // --allow-host
	Read      []string // --read; relative paths start at Sources.Folder
	Write     []string // --write
	PassEnv   []string // --pass-env NAME
	SetEnv    []string // --set-env NAME=VALUE
	Forward   []string // --forward PORT or PORT:HOST:PORT
	Publish   []string // --publish PORT or HOSTPORT:PORT
	Memory    string   // --memory
	Processes string   // --processes
	CPUs      string   // --cpus
	GPU       string   // --gpu
	Sandbox   string   // --sandbox auto|off
}

// Apply puts the flags on top of the layers, below the machine's ceiling. The error holds Faults, one for each flag that cannot be read or that asks for what this version cannot do;
// with an error the configuration must not be used.
func (c *Config) Apply(o Overrides) error {
	c.ready()
	f := &flags{config: c}
	limits := &c.Sandbox.Limits
	one(f, "--network", "sandbox.network", o.Network, sandbox.ParseNetwork, func(v sandbox.Network) { c.Sandbox.Network = v })
	one(f, "--memory", "sandbox.limits.memory", o.Memory, sandbox.ParseSize, func(v sandbox.Size) { limits.Memory = v })
	one(f, "--processes", "sandbox.limits.processes", o.Processes, count, func(v int) { limits.Processes = v })
	one(f, "--cpus", "sandbox.limits.cpus", o.CPUs, cpus, func(v float64) { limits.CPUs = v })
	one(f, "--gpu", "sandbox.gpu", o.GPU, oneOf("gpu", "none", "nvidia", "amd"), func(v string) { c.Sandbox.GPU = v })
	one(f, "--sandbox", "sandbox.backend", o.Sandbox, oneOf("sandbox", BackendAuto, BackendOff), func(v Backend) { c.Sandbox.Backend = v })
	many(f, "--allow-host", "egress.allow", o.AllowHost, egress.ParseRule, func(v egress.Rule) { c.Egress.Allow = append(c.Egress.Allow, v) })
	many(f, "--read", "sandbox.read", o.Read, c.paths.absolute, func(v string) { c.Sandbox.Read = append(c.Sandbox.Read, v) })
	many(f, "--write", "sandbox.write", o.Write, c.paths.absolute, func(v string) { c.Sandbox.Write = append(c.Sandbox.Write, v) })
	many(f, "--pass-env", "sandbox.env.pass", o.PassEnv, variable, func(v string) { c.Sandbox.Env.Pass = append(c.Sandbox.Env.Pass, v) })
	many(f, "--set-env", "sandbox.env.set", o.SetEnv, assignment, func(v [2]string) { c.Sandbox.Env.Set[v[0]] = v[1] })
	many(f, "--forward", "sandbox.forward", o.Forward, ParseForward, func(v Forward) { c.Sandbox.Forward = append(c.Sandbox.Forward, v) })
	many(f, "--publish", "sandbox.publish", o.Publish, ParsePublish, func(v Publish) { c.Sandbox.Publish = append(c.Sandbox.Publish, v) })
	c.clip()
	return append(f.faults, c.Unsupported()...).err()
}

// ready makes a Config that an embedder wrote as a literal one that can be added to.
func (c *Config) ready() {
	if c.origins == nil {
		c.origins = map[string][]Origin{}
	}
	if c.Sandbox.Env.Set == nil {
		c.Sandbox.Env.Set = map[string]string{}
	}
}

type flags struct {
	config *Config
	faults Faults
}

// one is a flag with one value; the empty text is a flag that was not given.
func one[T any](f *flags, flag, key, text string, parse func(string) (T, error), set func(T)) {
	if text == "" {
		return
	}
	if v, ok := flagValue(f, flag, key, text, parse); ok {
		set(v)
		f.config.unclip(key)
		f.config.origins[key] = []Origin{{Flag: flag}}
	}
}

// many is a flag that can be given several times.
func many[T any](f *flags, flag, key string, texts []string, parse func(string) (T, error), add func(T)) {
	for _, text := range texts {
		if v, ok := flagValue(f, flag, key, text, parse); ok {
			add(v)
			f.config.origins[key] = append(f.config.origins[key], Origin{Flag: flag})
		}
	}
}

func flagValue[T any](f *flags, flag, key, text string, parse func(string) (T, error)) (T, bool) {
	v, err := parse(text)
	if err != nil {
		f.faults = append(f.faults, &FaultError{Flag: flag, Key: key, Problem: naming(text, err)})
	}
	return v, err == nil
}

// assignment reads NAME=VALUE. Its errors name the variable alone: the value can be a secret.
func assignment(s string) (v [2]string, err error) {
	name, text, ok := strings.Cut(s, "=")
	if !ok {
		return v, errors.New("must be NAME=VALUE")
	}
	if text, err = variableValue(name, text); err != nil {
		return v, &secretError{fmt.Sprintf("%s: %v", quote(name), err)}
	}
	return [2]string{name, text}, nil
}
