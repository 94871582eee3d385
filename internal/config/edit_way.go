package config

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/kernel-launch/kernel-launch/egress"
)

// Way finds the change that would let a kernel of s connect to a target: the narrowest scope in which allowing it helps, and the rule to allow. The
// error says why there is none: what Preview refused first, or nil when no rule of the user's file can help.
func Way(s Sources, t egress.Target) (Scope, egress.Rule, bool, error) {
	text := t.String()
	if t.Port == 443 || t.Port == 80 {
		text = strings.TrimSuffix(text, ":"+strconv.Itoa(int(t.Port)))
	}
	rule, err := egress.ParseRule(text)
	if err != nil {
		return Scope{}, rule, false, err
	}
	before, err := Load(s)
	if err != nil {
		return Scope{}, rule, false, err
	}
	if before.Rules().Decide(t).Verdict == egress.Allow {
		return Scope{}, rule, false, nil // whatever refuses it is no matter of rules
	}
	var first error
	for _, sc := range []Scope{{}, {Env: cmp.Or(s.Env, before.Env, "default")}, {Everywhere: true}} {
		e, err := Preview(s, Allow(sc, rule))
		if err == nil && e.opens(s, t) {
			return sc, rule, true, nil
		}
		if first == nil {
			first = err
		}
	}
	return Scope{}, rule, false, first
}

// opens says whether the change helps a kernel of s.
func (e *Edited) opens(s Sources, t egress.Target) bool {
	user, faults := read(s.User, e.text, paths{home: s.Home})
	if !e.Changed || len(faults) > 0 {
		return false
	}
	c, err := loadOver(s, user, nil)
	return err == nil && c.Rules().Decide(t).Verdict == egress.Allow
}
