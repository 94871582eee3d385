package egress

import "errors"

// errNoLonger ends what the rules have come to deny.
var errNoLonger = errors.New("the rules no longer allow it")

// Review judges everything that is open by the rules as they are now, the
// address that it goes to included, ends what they no longer allow and says how
// much that was. Without it a change of
// the rules holds for what is opened later. Rules that cannot be read end
// nothing: what is open was allowed by rules that could be.
func (p *Proxy) Review() int {
	rules, err := p.rules()
	if err != nil {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	ended := 0
	for c := range p.clients {
		if t := c.allowed.Load(); t != nil && !rules.stillAllow(t) {
			c.stop(errNoLonger)
			ended++
		}
	}
	return ended
}

// stillAllow judges the target, and the address that was chosen for it.
func (r *Rules) stillAllow(t *trip) bool {
	d := r.Decide(t.target)
	if d.Verdict != Allow {
		return false
	}
	t.mu.Lock()
	at := t.at
	t.mu.Unlock()
	switch {
	case !at.IsValid():
		return true
	case d.Pin.IsValid():
		return d.Pin == at
	}
	_, ok := r.screen(t.target, at.Addr())
	return ok
}
