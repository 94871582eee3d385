package egress

import (
	"net/netip"
	"slices"
	"time"
)

// What is written of one and the same thing, before the rest of a minute is
// summed up in one line: a kernel that floods the log must not be able to
// rotate what it did before out of it.
const (
	foldAfterDenied  = 3
	foldAfterAllowed = 60
	foldTime         = time.Minute
	foldKeys         = 256 // beyond them, one line for all hosts of a rule
)

// A kernel that goes on for an hour fills more than its share all the same, by
// hosts and ports that are always new. Then every line is the first of its kind
// in ten minutes, or a sum.
const (
	shares     = 60 // of all the files; one is what a kernel may take in an hour
	shareTime  = time.Hour
	thriftTime = 10 * time.Minute
	thriftKeys = 64
)

// ownLine is how many bytes that left make a line of their own, whatever else
// is summed up: that much is worth looking for.
const ownLine = 1 << 20

// budget counts what one kernel has written in the present hour.
type budget struct {
	now, since time.Time // by the events, whose order is not that of their times
	spent      int64
}

func (b *budget) spend(n int) { b.spent += int64(n) }

func (b *budget) pass(at time.Time) {
	if at.After(b.now) {
		b.now = at
	}
	if b.now.Sub(b.since) >= shareTime {
		b.since, b.spent = b.now, 0
	}
}

// thrifty is true once the kernel has taken its share.
func (a *Audit) thrifty() bool { return a.budget.spent > a.share() }

func (a *Audit) share() int64 { return max(a.maxSize()*int64(a.keep()+1)/shares, 1) }

// ownLine doubles with every share that has been taken: to a host that is near,
// a flood of such can be sent as well.
func (a *Audit) ownLine() int64 { return ownLine << min(a.budget.spent/a.share(), 20) }

// most is how many of one kind are written in one window.
func (a *Audit) most(v Verdict) int {
	switch {
	case a.thrifty():
		return 1
	case v == Allow:
		return foldAfterAllowed
	}
	return foldAfterDenied
}

func (a *Audit) window() time.Duration {
	if a.thrifty() {
		return thriftTime
	}
	return foldTime
}

// keys is how many kinds are told apart before hosts are not.
func (a *Audit) keys() int {
	if a.thrifty() {
		return thriftKeys
	}
	return foldKeys
}

type foldKey struct {
	host    string
	port    uint16
	verdict Verdict
	code    string
	rule    string // where hosts are not told apart
}

// fold counts one thing within one window of time.
type fold struct {
	until time.Time
	seen  int
	sum   *Entry // nil until something is summed up
}

type folds map[foldKey]*fold

// fold finds the window that an entry falls into, and closes one that is over.
func (a *Audit) fold(e Entry) *fold {
	now := a.budget.now
	key := foldKey{host: e.Host, port: e.Port, verdict: e.Verdict, code: e.Code}
	if f := a.open(key, now); f != nil {
		return f
	}
	most := a.keys()
	if len(a.folds) >= most && now.Sub(a.settled) >= time.Second {
		a.settleOld(now)
	}
	for _, wider := range []foldKey{{verdict: e.Verdict, code: e.Code, rule: e.Rule}, {verdict: e.Verdict}} {
		if len(a.folds) < most || key.host == "" && len(a.folds) < 2*most {
			break
		}
		key = wider
		if f := a.open(key, now); f != nil {
			return f
		}
	}
	if a.folds == nil {
		a.folds = folds{}
	}
	f := &fold{until: now.Add(a.window())}
	a.folds[key] = f
	return f
}

// open is the present window of key, nil when there is none.
func (a *Audit) open(key foldKey, now time.Time) *fold {
	f := a.folds[key]
	if f != nil && !now.Before(f.until) {
		a.settle(f)
		delete(a.folds, key)
		return nil
	}
	return f
}

func (a *Audit) settle(f *fold) {
	if f.sum != nil {
		a.write(*f.sum)
		f.sum = nil
	}
}

func (a *Audit) settleOld(now time.Time) {
	a.settled = now
	for key := range a.folds {
		a.open(key, now)
	}
}

func (a *Audit) settleAll() {
	for _, f := range a.folds {
		a.settle(f)
	}
	clear(a.folds)
}

// add sums an entry up. What differs between the summed ones is left out.
func (f *fold) add(e Entry) {
	until := e.Time
	if f.sum == nil {
		f.sum = &e
	} else {
		f.sum.merge(e)
		if f.sum.Until.After(until) {
			until = *f.sum.Until
		}
	}
	f.sum.Repeated++
	f.sum.Until = &until
}

func (e *Entry) merge(o Entry) {
	if e.Host != o.Host || e.Port != o.Port {
		e.Host, e.Port = "", 0
	}
	agree(&e.Method, o.Method)
	agree(&e.Code, o.Code)
	agree(&e.Rule, o.Rule)
	agree(&e.Via, o.Via)
	agree(&e.End, o.End)
	agree(&e.DNS, o.DNS)
	agree(&e.Dial, o.Dial)
	if !slices.Equal(e.Addresses, o.Addresses) {
		e.Addresses = nil
	}
	e.Sent, e.Received = e.Sent+o.Sent, e.Received+o.Received
}

func agree[T comparable](have *T, other T) {
	if *have != other {
		var none T
		*have = none
	}
}

// addressesMost is how many addresses a line has: whoever runs the name servers
// of a name can answer with thousands, and a line that is too long is read by
// nobody.
const addressesMost = 32

// someAddresses prefers those that explain a refusal.
func someAddresses(all []netip.Addr) []netip.Addr {
	if len(all) <= addressesMost {
		return all
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b netip.Addr) int { return publicLast(a) - publicLast(b) })
	return all[:addressesMost]
}

func publicLast(a netip.Addr) int {
	if Classify(a) == ClassPublic {
		return 1
	}
	return 0
}
