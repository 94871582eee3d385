package config

import (
	"slices"
	"strings"
	"time"

	"github.com/kernel-launch/kernel-launch/egress"
)

// egress lowers how the proxy decides, and how much it does for one kernel.
func (k *clipper) egress() {
	always(k, "egress.deny", func(c *Config) *[]egress.Rule { return &c.Egress.Deny })
	several(k, "egress.allow_inward", func(c *Config) *[]egress.Inward { return &c.Egress.Inward }, func(top []egress.Inward, v egress.Inward) bool {
		return slices.ContainsFunc(top, v.Within)
	})
	several(k, "egress.pin", func(c *Config) *[]egress.Pin { return &c.Egress.Pins }, among)
	several(k, "egress.credentials", func(c *Config) *[]Credential { return &c.Egress.Credentials }, func(top []Credential, v Credential) bool {
		return slices.ContainsFunc(top, func(t Credential) bool { return strings.EqualFold(t.Host, v.Host) })
	})
	single(k, "egress.screen", func(c *Config) *egress.Screen { return &c.Egress.Screen }, func(top, v egress.Screen) bool { return top == screens[0] || v == top })
	single(k, "egress.close_on_deny", func(c *Config) *bool { return &c.Egress.CloseOnDeny }, func(top, v bool) bool { return v || !top })
	k.audit()
	k.bounds()
}

func (k *clipper) audit() {
	amounts := []string{"none", "denied", "all"}
	single(k, "egress.log", func(c *Config) *string { return &c.Egress.Log }, func(top, v string) bool { return slices.Index(amounts, v) >= slices.Index(amounts, top) })
}

func (k *clipper) bounds() {
	single(k, "egress.bounds.connections", func(c *Config) *int { return &c.Egress.Bounds.Connections }, atMost)
	single(k, "egress.bounds.head", func(c *Config) *int { return &c.Egress.Bounds.Head }, atMost)
	single(k, "egress.bounds.fields", func(c *Config) *int { return &c.Egress.Bounds.Fields }, atMost)
	single(k, "egress.bounds.head_time", func(c *Config) *time.Duration { return &c.Egress.Bounds.HeadTime }, atMost)
	single(k, "egress.bounds.dial", func(c *Config) *time.Duration { return &c.Egress.Bounds.Dial }, atMost)
	single(k, "egress.bounds.idle", func(c *Config) *time.Duration { return &c.Egress.Bounds.Idle }, atMost)
}

// hosts lowers the allowlist to what the ceiling's groups and rules name together.
func (k *clipper) hosts() {
	at, ok := k.top.origin("egress.allow")
	if !ok {
		at, ok = k.top.origin("egress.groups")
	}
	if !ok {
		return
	}
	top := k.top.bound
	e := &k.c.Egress
	var left []egress.Rule
	e.Groups = slices.DeleteFunc(slices.Clone(e.Groups), func(name string) bool {
		rules, _ := egress.Group(name) // checked when it was read
		kept := narrowAll(rules, top.Rules().Allow)
		if slices.Equal(kept, rules) {
			return false
		}
		left = append(left, kept...)
		k.note("egress.groups", name, words(kept), mostHosts(top), at)
		return true
	})
	for _, rule := range e.Allow {
		kept := narrow(rule, top.Rules().Allow)
		if !slices.Equal(kept, []egress.Rule{rule}) {
			k.note("egress.allow", rule.String(), words(kept), mostHosts(top), at)
		}
		left = append(left, kept...)
	}
	e.Allow = left
}

// mostHosts says the ceiling's allowlist the way it was written.
func mostHosts(top *Config) string {
	all := slices.Clone(top.Egress.Groups)
	for _, r := range top.Egress.Allow {
		all = append(all, r.String())
	}
	return words(all)
}

func narrowAll(rules, top []egress.Rule) (kept []egress.Rule) {
	for _, r := range rules {
		kept = append(kept, narrow(r, top)...)
	}
	return kept
}

// narrow is what of one rule lies within the ceiling's. A rule that lies within one of them stays as it is.
func narrow(rule egress.Rule, top []egress.Rule) (kept []egress.Rule) {
	for _, t := range top {
		both, ok := rule.Narrow(t)
		if ok && both == rule {
			return []egress.Rule{rule}
		}
		if ok && !slices.Contains(kept, both) {
			kept = append(kept, both)
		}
	}
	return kept
}
