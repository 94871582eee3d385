package config

import (
	"slices"

	"github.com/kernel-launch/kernel-launch/egress"
)

// Rules returns what the proxy decides by: the hosts of the groups, then those of allow. The caller must not change them once they are in use.
func (c *Config) Rules() *egress.Rules {
	r := &egress.Rules{
		Deny:   slices.Clone(c.Egress.Deny),
		Pins:   slices.Clone(c.Egress.Pins),
		Inward: slices.Clone(c.Egress.Inward),
		Screen: c.Egress.Screen,
	}
	for _, name := range c.Egress.Groups {
		rules, _ := egress.Group(name) // checked when it was read
		r.Allow = append(r.Allow, rules...)
	}
	r.Allow = append(r.Allow, c.Egress.Allow...)
	return r
}

// putPin replaces what a lower layer pinned for the same rule.
func (c *Config) putPin(rule string, p egress.Pin) {
	c.Egress.Pins = put(c.Egress.Pins, c.places("pin "+rule, len(c.Egress.Pins)), p)
}

func (c *Config) putInward(host string, i egress.Inward) {
	c.Egress.Inward = put(c.Egress.Inward, c.places("inward "+host, len(c.Egress.Inward)), i)
}

// places returns where the entry of that name stands, next when there is none yet.
func (c *Config) places(name string, next int) int {
	if at, ok := c.placed[name]; ok {
		return at
	}
	c.placed[name] = next
	return next
}

func put[T any](all []T, at int, v T) []T {
	if at == len(all) {
		return append(all, v)
	}
	all[at] = v
	return all
}
