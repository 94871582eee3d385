package config

import (
	"fmt"
	"slices"
	"time"

	"github.com/kernel-launch/kernel-launch/egress"
	"github.com/kernel-launch/kernel-launch/sandbox"
)

// layerKeys are what a file, a folder and a profile can hold alike.
func layerKeys(p paths) fields {
	return fields{
		"sandbox": section(sandboxKeys(p)),
		"egress":  section(egressKeys(p)),
		"install": section(installKeys(p)),
		"restart": section(fields{
			"when": scalar(oneOf("word", "required", "recommended", "never"), func(c *Config, v string) { c.Restart.When = v }),
		}),
		"hooks": section(fields{
			"after_install":  commands(func(c *Config, v [][]string) { c.Hooks.AfterInstall = v }),
			"before_restart": commands(func(c *Config, v [][]string) { c.Hooks.BeforeRestart = v }),
			"after_restart":  commands(func(c *Config, v [][]string) { c.Hooks.AfterRestart = v }),
		}),
	}
}

// scopeKeys are those of a folder or a profile.
func scopeKeys(p paths) fields {
	k := layerKeys(p)
	k["env"] = scalar(environment, func(c *Config, v string) { c.Env = v })
	return k
}

// environmentKeys are those of an environment: what its kernels get. How packages get into it is settled before one is chosen.
func environmentKeys(p paths) fields {
	return fields{"sandbox": section(sandboxKeys(p)), "egress": section(egressKeys(p))}
}

func sandboxKeys(p paths) fields {
	return fields{
		"backend": scalar(oneOf("backend", BackendAuto, BackendBubblewrap, BackendSeatbelt, BackendAppContainer, BackendOff), func(c *Config, v Backend) { c.Sandbox.Backend = v }),
		"network": scalar(sandbox.ParseNetwork, func(c *Config, v sandbox.Network) { c.Sandbox.Network = v }),
		"read":    adding(p.absolute, func(c *Config, v []string) { c.Sandbox.Read = append(c.Sandbox.Read, v...) }),
		"write":   adding(p.absolute, func(c *Config, v []string) { c.Sandbox.Write = append(c.Sandbox.Write, v...) }),
		"hide":    adding(p.absolute, func(c *Config, v []string) { c.Sandbox.Hide = append(c.Sandbox.Hide, v...) }),
		"project": scalar(boolean, func(c *Config, v bool) { c.Sandbox.Project = v }),
		"islands": adding(p.absolute, func(c *Config, v []string) { c.Sandbox.Islands = append(c.Sandbox.Islands, v...) }),
		"links":   scalar(oneOf("word", "deny", "allow"), func(c *Config, v string) { c.Sandbox.Links = v }),
		"env": section(fields{
			"pass": adding(variable, func(c *Config, v []string) { c.Sandbox.Env.Pass = append(c.Sandbox.Env.Pass, v...) }),
			"set":  pairs(variableValue, asWritten, func(c *Config, name, v string) { c.Sandbox.Env.Set[name] = v }),
		}),
		"gpu":     scalar(oneOf("gpu", "none", "nvidia", "amd"), func(c *Config, v string) { c.Sandbox.GPU = v }),
		"forward": adding(ParseForward, func(c *Config, v []Forward) { c.Sandbox.Forward = append(c.Sandbox.Forward, v...) }),
		"publish": adding(ParsePublish, func(c *Config, v []Publish) { c.Sandbox.Publish = append(c.Sandbox.Publish, v...) }),
		"limits":  section(limitKeys()),
		"debug":   scalar(boolean, func(c *Config, v bool) { c.Sandbox.Debug = v }),
	}
}

func limitKeys() fields {
	return fields{
		"memory":      scalar(sandbox.ParseSize, func(c *Config, v sandbox.Size) { c.Sandbox.Limits.Memory = v }),
		"processes":   scalar(count, func(c *Config, v int) { c.Sandbox.Limits.Processes = v }),
		"cpus":        scalar(cpus, func(c *Config, v float64) { c.Sandbox.Limits.CPUs = v }),
		"tmp":         scalar(sandbox.ParseSize, func(c *Config, v sandbox.Size) { c.Sandbox.Limits.Tmp = v }),
		"shm":         scalar(sandbox.ParseSize, func(c *Config, v sandbox.Size) { c.Sandbox.Limits.Shm = v }),
		"best_effort": scalar(boolean, func(c *Config, v bool) { c.Sandbox.Limits.BestEffort = v }),
	}
}

func egressKeys(p paths) fields {
	return fields{
		"groups":        list(group, func(c *Config, v []string) { c.Egress.Groups = v }),
		"allow":         list(egress.ParseRule, func(c *Config, v []egress.Rule) { c.Egress.Allow = v }),
		"allow_also":    under("egress.allow", adding(egress.ParseRule, func(c *Config, v []egress.Rule) { c.Egress.Allow = append(slices.Clip(c.Egress.Allow), v...) })),
		"deny":          adding(egress.ParseRule, func(c *Config, v []egress.Rule) { c.Egress.Deny = append(c.Egress.Deny, v...) }),
		"allow_inward":  pairs(egress.ParseInward, normalRule, (*Config).putInward),
		"pin":           pairs(egress.ParsePin, normalRule, (*Config).putPin),
		"screen":        scalar(oneOf("screen", screens...), func(c *Config, v egress.Screen) { c.Egress.Screen = v }),
		"credentials":   readCredentials(p),
		"close_on_deny": scalar(boolean, func(c *Config, v bool) { c.Egress.CloseOnDeny = v }),
		"log":           scalar(oneOf("word", "all", "denied", "none"), func(c *Config, v string) { c.Egress.Log = v }),
		"bounds":        section(boundKeys()),
	}
}

func boundKeys() fields {
	return fields{
		"connections": scalar(positive, func(c *Config, v int) { c.Egress.Bounds.Connections = v }),
		"head":        scalar(headSize, func(c *Config, v int) { c.Egress.Bounds.Head = v }),
		"fields":      scalar(positive, func(c *Config, v int) { c.Egress.Bounds.Fields = v }),
		"head_time":   scalar(timeout, func(c *Config, v time.Duration) { c.Egress.Bounds.HeadTime = v }),
		"dial":        scalar(timeout, func(c *Config, v time.Duration) { c.Egress.Bounds.Dial = v }),
		"idle":        scalar(timeout, func(c *Config, v time.Duration) { c.Egress.Bounds.Idle = v }),
	}
}

// headSize keeps the bound in reach of memory: each connection can hold that much.
func headSize(s string) (int, error) {
	v, err := sandbox.ParseSize(s)
	if err != nil {
		return 0, err
	}
	if v < 1<<10 || v > 1<<24 {
		return 0, fmt.Errorf("must be from 1KiB to 16MiB, not %s", quote(s))
	}
	return int(v), nil
}

func installKeys(p paths) fields {
	return fields{
		"approve": scalar(oneOf("word", "ask", "never"), func(c *Config, v string) { c.Install.Approve = v }),
		"prefer":  scalar(oneOf("word", "additive", "newest"), func(c *Config, v string) { c.Install.Prefer = v }),
		"source":  scalar(boolean, func(c *Config, v bool) { c.Install.Source = v }),
		"min_age": scalar(age, func(c *Config, v time.Duration) { c.Install.MinAge = v }),
		"index":   scalar(index, func(c *Config, v IndexURL) { c.Install.Index = v }),
		"uv":      scalar(p.tool, func(c *Config, v string) { c.Install.UV = v }),
	}
}
