package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/kernel-launch/kernel-launch/sandbox"
)

// Setting is one value of a configuration, for a person who asks what holds.
type Setting struct {
	Key   string
	Words []string // as they stand in a file; none for an empty list
	From  []Origin // oldest first; none: it is built in
}

// String says the value in one line.
func (s Setting) String() string {
	if len(s.Words) == 0 {
		return "none"
	}
	return strings.Join(s.Words, ", ")
}

// Settings are what a kernel gets by the configuration, in the order of the file's sections. The values of variables and credentials are not in it.
func (c *Config) Settings() []Setting {
	b, l, e, i := c.Sandbox, c.Sandbox.Limits, c.Egress, c.Install
	all := []Setting{
		setting("sandbox.backend", b.Backend), setting("sandbox.network", b.Network), settings("sandbox.read", b.Read), settings("sandbox.write", b.Write), settings("sandbox.hide", b.Hide),
		setting("sandbox.project", b.Project), setting("sandbox.links", b.Links), settings("sandbox.islands", b.Islands),
		settings("sandbox.env.pass", b.Env.Pass), settings("sandbox.env.set", slices.Sorted(maps.Keys(b.Env.Set))), setting("sandbox.gpu", b.GPU),
		settings("sandbox.forward", b.Forward), settings("sandbox.publish", b.Publish),
		setting("sandbox.limits.memory", l.Memory), setting("sandbox.limits.processes", l.Processes), setting("sandbox.limits.cpus", l.CPUs),
		setting("sandbox.limits.tmp", l.Tmp), setting("sandbox.limits.shm", l.Shm), setting("sandbox.limits.best_effort", l.BestEffort), setting("sandbox.debug", b.Debug),
		settings("egress.groups", e.Groups), settings("egress.allow", e.Allow), settings("egress.deny", e.Deny), settings("egress.allow_inward", e.Inward), settings("egress.pin", e.Pins),
		setting("egress.screen", e.Screen), settings("egress.credentials", e.Credentials), setting("egress.close_on_deny", e.CloseOnDeny), setting("egress.log", e.Log),
		setting("egress.bounds.connections", e.Bounds.Connections), setting("egress.bounds.head", sandbox.Size(e.Bounds.Head)), setting("egress.bounds.fields", e.Bounds.Fields),
		setting("egress.bounds.head_time", e.Bounds.HeadTime), setting("egress.bounds.dial", e.Bounds.Dial), setting("egress.bounds.idle", e.Bounds.Idle),
		setting("install.approve", i.Approve), setting("install.prefer", i.Prefer), setting("install.source", i.Source), setting("install.min_age", i.MinAge),
		setting("install.index", i.Index), setting("install.uv", i.UV),
		setting("restart.when", c.Restart.When),
	}
	for n := range all {
		all[n].From = slices.Clone(c.origins[all[n].Key])
	}
	return all
}

func setting(key string, v any) Setting { return Setting{Key: key, Words: []string{word(v)}} }

func settings[T any](key string, all []T) Setting {
	s := Setting{Key: key}
	for _, v := range all {
		s.Words = append(s.Words, word(v))
	}
	return s
}
