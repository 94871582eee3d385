package egress

import "errors"

// errNoLonger ends what the rules have come to deny.
var errNoLonger = errors.New("the rules no longer allow it")

// Review judges everything that is open by the rules as they are now, the
// address that it goes to included, ends what they no longer allow and says how
// much that was. Without it a change of the rules holds for what is opened
// later. Rules that cannot be read end nothing: what is open was allowed by
// rules that could be.
func (p *Proxy) Review() int {
	rules, err := p.rules()
	if err != nil {
		return 0
	}
	p.reviews.Add(1) // before anything is looked at: what cannot be judged yet sees it
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

// reviewed is what a review would do that came while t was judged or dialled,
// when there was nothing yet to be looked at; nil when nothing.
func (p *Proxy) reviewed(t *trip) *refusal {
	if p.reviews.Load() == t.reviews {
		return nil
	}
	rules, err := p.rules()
	if err != nil || rules.stillAllow(t) {
		return nil
	}
	if d := rules.Decide(t.target); d.Verdict != Allow {
		return refused(t.target, d)
	}
	return t.fail(502, CodeStopped, "the rules changed while "+t.target.Host()+" was connected to")
}

// stillAllow judges the target, and the address that was chosen for it.
func (r *Rules) stillAllow(t *trip) bool {
	d := r.Decide(t.target)
	if d.Verdict != Allow {
		return false
	}
	at := t.arrived()
	switch {
	case !at.IsValid():
		return true
	case d.Pin.IsValid():
		return d.Pin == at
	}
	_, ok := r.screen(t.target, at.Addr())
	return ok
}
