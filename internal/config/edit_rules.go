package config

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/kernel-launch/kernel-launch/egress"
)

// Allow lets hosts through in a scope. A deny rule of the scope that is exactly one of them goes. What was allowed there before stays allowed: the
// rules go into allow where the scope has such a list of its own, else into allow_also, or for everywhere into a new allow that replaces nothing.
func Allow(sc Scope, rules ...egress.Rule) Change {
	return Change{scope: sc, apply: func(d *draft) error {
		d.withdraw(rules, "deny")
		d.enter(rules, d.allowKey(sc))
		return nil
	}, check: func(e *Edited) error { return e.holds(rules) }}
}

// Deny refuses hosts in a scope, whoever allows them. An allow rule of the scope that is exactly one of them goes.
func Deny(sc Scope, rules ...egress.Rule) Change {
	return Change{scope: sc, apply: func(d *draft) error {
		d.withdraw(rules, "allow", "allow_also")
		d.enter(rules, "deny")
		return nil
	}}
}

// allowKey is the list that new rules go into.
func (d *draft) allowKey(sc Scope) string {
	if d.peek("egress", "allow") != nil {
		return "allow"
	}
	machine := d.machine != nil && slices.ContainsFunc(d.machine.base, func(c change) bool { return c.key == "egress.allow" })
	if sc.Everywhere && !machine {
		return "allow"
	}
	return "allow_also"
}

// closed are the folders, environments and profiles that have an allow of their own.
func (d *draft) closed() (names []string) {
	for _, doc := range []*document{d.machine, d.user} {
		if doc == nil {
			continue
		}
		for _, s := range slices.Concat(doc.folders, doc.envs, doc.profiles) {
			if slices.ContainsFunc(s.layer, func(c change) bool { return c.key == "egress.allow" && !c.adds }) {
				names = append(names, s.name)
			}
		}
	}
	return names
}

// enter adds the rules that a list does not have yet.
func (d *draft) enter(rules []egress.Rule, key string) {
	for _, rule := range rules {
		list := d.peek("egress", key)
		if list == nil {
			d.put(d.within(d.place(), "egress", 0), key, 0, listNode(rule.String()))
			continue
		}
		if indexOf(list, rule) < 0 {
			list.Content = append(list.Content, scalarNode(rule.String()))
			d.changed = true
		}
	}
}

// withdraw takes the rules out of lists. One that only adds goes when it is empty; an empty allow still replaces others.
func (d *draft) withdraw(rules []egress.Rule, keys ...string) {
	for _, key := range keys {
		section := d.peek("egress")
		list := peek(section, key)
		if list == nil {
			continue
		}
		before := len(list.Content)
		for _, rule := range rules {
			for i := indexOf(list, rule); i >= 0; i = indexOf(list, rule) {
				d.drop(list, i)
			}
		}
		if len(list.Content) == 0 && before > 0 && key != "allow" {
			d.cut(section, key)
		}
	}
}

func indexOf(list *yaml.Node, rule egress.Rule) int {
	return slices.IndexFunc(list.Content, func(n *yaml.Node) bool {
		r, err := egress.ParseRule(n.Value)
		return err == nil && r == rule
	})
}

// ClippedError is a rule that the machine's ceiling takes away, whatever the user's file says.
type ClippedError struct{ Clips []Clip }

func (e *ClippedError) Error() string {
	var all []string
	for _, c := range e.Clips {
		all = append(all, fmt.Sprintf("%s would not be allowed: %s:%d allows %s", c.Asked, c.At.File, c.At.Line, c.Most))
	}
	return strings.Join(all, "\n")
}

// DeniedError is a rule that would stay without effect, since another one denies its host.
type DeniedError struct {
	Rule, By string
	At       []Origin // of the lists that deny
}

func (e *DeniedError) Error() string {
	var at []string
	for _, o := range e.At {
		at = append(at, o.String())
	}
	return fmt.Sprintf("%s would stay denied by the rule %s (%s)", e.Rule, e.By, strings.Join(at, ", "))
}

// holds says why one of the rules would not let its hosts through.
func (e *Edited) holds(rules []egress.Rule) error {
	clipped := &ClippedError{}
	for _, c := range e.After.Clips() {
		if c.Key == "egress.allow" && slices.ContainsFunc(rules, func(r egress.Rule) bool { return r.String() == c.Asked }) {
			clipped.Clips = append(clipped.Clips, c)
		}
	}
	if len(clipped.Clips) > 0 {
		return clipped
	}
	for _, rule := range rules {
		if by := deniedBy(e.After, rule); by != "" {
			return &DeniedError{Rule: rule.String(), By: by, At: e.After.Origins("egress.deny")}
		}
	}
	return nil
}

// deniedBy is the deny rule that leaves nothing of an allow rule.
func deniedBy(c *Config, rule egress.Rule) string {
	for _, deny := range c.Egress.Deny {
		if deny == rule {
			return deny.String()
		}
	}
	if t, err := egress.ParseHost(rule.String(), 443); err == nil {
		if v := c.Rules().Decide(t); v.Code == egress.CodeDenyRule {
			return v.Rule
		}
	}
	return ""
}
