package launcher

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/kernel-launch/kernel-launch/internal/link"
	"github.com/kernel-launch/kernel-launch/internal/plain"
)

// watch looks for edits of the configuration until lifetime ends, and lets the openings follow them.
func (k *Kernel) watch(lifetime context.Context, r *rules) {
	r.follow = func() { k.follow(lifetime, r.holds) }
	go r.watch(lifetime)
}

// follow brings the openings to what the configuration asks for now. What it no longer asks for is closed even where the new ones cannot be: taking
// away must not depend on anything. What has not changed is not touched. holds says afterwards whether what was read is what the rules were read from:
// a file in the middle of being written asks for nothing.
func (k *Kernel) follow(lifetime context.Context, holds func() bool) {
	k.busy.Lock()
	defer k.busy.Unlock()
	l, life, ok := k.ports.here.attached(lifetime.Done())
	if !ok || life != lifetime || k.over() { // what a restart puts in its place is planned by the edit
		return
	}
	plan := k.planCopy()
	cfg, err := plan.spec.config(plan.host)
	if !holds() || err != nil { // edited again; the next look tells it
		return
	}
	k.tellClips(plan, cfg)
	k.ports.more(lifetime, l, k.change(plan, portsOf(cfg)))
	k.adopt(plan)
}

// more opens ports beside those that are open. One that cannot be had keeps the others from nothing.
func (p *ports) more(lifetime context.Context, l link.Link, fresh []Port) {
	ctx, cancel := context.WithTimeout(lifetime, controlWork)
	defer cancel()
	for _, port := range fresh {
		switch fault := p.add(ctx, lifetime, l, port); {
		case fault == nil:
			p.say("%s %s is open now: the configuration has changed", port.Way, port)
		case lifetime.Err() == nil:
			p.lack(port, fault)
		}
	}
}

// change makes plan one with the openings of asked, besides those that were closed by hand. It closes what is gone, and returns what is to be opened.
func (k *Kernel) change(plan *Plan, asked []Port) (fresh []Port) {
	plan.spec.shut = slices.DeleteFunc(slices.Clone(plan.spec.shut), func(p Port) bool { return !slices.Contains(asked, p) })
	asked = without(asked, plan.spec.shut)
	gone := without(slices.Clone(plan.Ports), asked)
	fresh = without(asked, plan.Ports)
	k.ports.drop(func(o *opening) bool { return slices.Contains(gone, o.Port) })
	for _, port := range gone {
		k.ports.say("%s %s is closed: the configuration has changed", port.Way, port)
	}
	plan.Ports = append(without(plan.Ports, gone), fresh...)
	if err := errors.Join(plan.checkPorts()...); err != nil {
		k.ports.say("what the configuration opens besides cannot be: %v", err)
		plan.Ports = without(plan.Ports, fresh)
		return nil
	}
	return fresh
}

// tellClips tells, once, what the machine's policy does not let be opened.
func (k *Kernel) tellClips(plan *Plan, cfg *Config) {
	plan.Notices = slices.Clone(plan.Notices)
	for _, clip := range cfg.Clips() {
		text := clip.String()
		ports := strings.HasPrefix(clip.Key, "sandbox.forward") || strings.HasPrefix(clip.Key, "sandbox.publish")
		if ports && !slices.Contains(plan.Notices, text) {
			k.say(plain.Line(text, 2000))
			plan.Notices = append(plan.Notices, text)
		}
	}
}
