package egress

import (
	"encoding/json"
	"net/netip"
	"sync"
	"time"
)

// Entry is one line of the audit log: an Event, with times in UTC and
// durations in milliseconds.
type Entry struct {
	Time        time.Time    `json:"time"`
	Kernel      string       `json:"kernel"`
	Environment string       `json:"environment"`
	Method      string       `json:"method"`
	Host        string       `json:"host"`
	Port        uint16       `json:"port"`
	Verdict     Verdict      `json:"verdict"`
	Code        string       `json:"code"`
	Rule        string       `json:"rule,omitempty"`
	Addresses   []netip.Addr `json:"addresses,omitempty"`
	Via         string       `json:"via,omitempty"` // the proxy in front; which address was dialled was its choice
	DNS         float64      `json:"dns_ms,omitempty"`
	Dial        float64      `json:"dial_ms,omitempty"`
	Sent        int64        `json:"sent"`     // bytes from the kernel to the host
	Received    int64        `json:"received"` // bytes from the host to the kernel
	End         string       `json:"end"`
	Repeated    int          `json:"repeated,omitempty"` // so many more of the same are summed up in this line
	Until       *time.Time   `json:"until,omitempty"`    // when the last of them was
}

// What is written of one and the same thing, before the rest of a minute is
// summed up in one line: a kernel that floods the log must not be able to
// rotate what it did before out of it.
const (
	foldAfterDenied  = 3
	foldAfterAllowed = 60
	foldTime         = time.Minute
	foldKeys         = 256 // beyond them, one line for all others
)

// Audit writes one JSON line for every tunnel and request. Several processes
// may write to one file. Fields are set before the first Record.
type Audit struct {
	Path        string // of the file, which is made for its owner alone; its folder exists
	Kernel      string // who it is about, in every line
	Environment string
	Denied      bool        // leave out what was allowed
	MaxSize     int64       // bytes after which the file is rotated; zero is 10 MiB
	Keep        int         // how many older files stay; zero is 5
	Failed      func(error) // told when a line could not be written, once until one could

	mu      sync.Mutex
	file    logFile
	folds   map[foldKey]*fold
	flush   *time.Timer
	settled time.Time // when all folds were looked at
	failed  bool
	closed  bool
}

type foldKey struct {
	host    string
	port    uint16
	verdict Verdict
	code    string
}

// fold counts one thing within one window of time.
type fold struct {
	since time.Time
	seen  int
	sum   *Entry // nil until something is summed up
}

// Record writes an event. It may be called by several goroutines; it waits for
// the disk and for nothing else.
func (a *Audit) Record(e Event) {
	if a.Denied && e.Verdict == Allow {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return
	}
	entry := a.entry(e)
	f := a.fold(e, entry.Time)
	f.seen++
	limit := foldAfterDenied
	if e.Verdict == Allow {
		limit = foldAfterAllowed
	}
	if f.seen <= limit {
		a.write(entry)
		return
	}
	f.add(entry)
	if a.flush == nil {
		a.flush = time.AfterFunc(foldTime, a.expire)
	}
}

func (a *Audit) entry(e Event) Entry {
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	return Entry{
		Time: e.Time.UTC(), Kernel: a.Kernel, Environment: a.Environment, Method: clip(e.Method, maxName), Host: clip(e.Host, maxName), Port: e.Port,
		Verdict: e.Verdict, Code: e.Code, Rule: e.Rule, Addresses: e.Addresses, Via: e.Via, DNS: ms(e.DNS), Dial: ms(e.Dial),
		Sent: e.Sent, Received: e.Received, End: e.End,
	}
}

// fold finds the window that an event falls into, and closes one that is over.
func (a *Audit) fold(e Event, now time.Time) *fold {
	key := foldKey{e.Host, e.Port, e.Verdict, e.Code}
	f := a.folds[key]
	if f != nil && now.Sub(f.since) < foldTime {
		return f
	}
	if f != nil {
		a.settle(f)
		delete(a.folds, key)
	}
	if len(a.folds) >= foldKeys && now.Sub(a.settled) >= time.Second { // all of them are looked at
		a.settleOld(now)
	}
	if len(a.folds) >= foldKeys {
		key = foldKey{verdict: e.Verdict}
		if f := a.folds[key]; f != nil {
			return f
		}
	}
	if a.folds == nil {
		a.folds = map[foldKey]*fold{}
	}
	f = &fold{since: now}
	a.folds[key] = f
	return f
}

// add sums an entry up. What differs between the summed ones is left out.
func (f *fold) add(e Entry) {
	if f.sum == nil {
		f.sum = &e
		f.sum.Repeated = 0
	} else {
		s := f.sum
		s.Sent, s.Received = s.Sent+e.Sent, s.Received+e.Received
		if s.Host != e.Host || s.Port != e.Port {
			s.Host, s.Port, s.Code, s.Rule, s.Addresses = "", 0, "", "", nil
		}
	}
	f.sum.Repeated++
	until := e.Time
	f.sum.Until = &until
}

func (a *Audit) settle(f *fold) {
	if f.sum != nil {
		a.write(*f.sum)
		f.sum = nil
	}
}

func (a *Audit) settleOld(now time.Time) {
	a.settled = now
	for key, f := range a.folds {
		if now.Sub(f.since) >= foldTime {
			a.settle(f)
			delete(a.folds, key)
		}
	}
}

// expire writes what was summed up in windows that are over.
func (a *Audit) expire() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.flush = nil
	if a.closed {
		return
	}
	a.settleOld(time.Now())
	for _, f := range a.folds {
		if f.sum != nil {
			a.flush = time.AfterFunc(foldTime, a.expire)
			return
		}
	}
}

func (a *Audit) write(e Entry) {
	line, err := json.Marshal(e)
	if err == nil {
		err = a.file.append(a.Path, a.maxSize(), a.keep(), append(line, '\n'))
	}
	if err != nil && !a.failed && a.Failed != nil {
		a.Failed(err)
	}
	a.failed = err != nil
}

func (a *Audit) maxSize() int64 {
	if a.MaxSize == 0 {
		return 10 << 20
	}
	return a.MaxSize
}

func (a *Audit) keep() int {
	if a.Keep == 0 {
		return 5
	}
	return a.Keep
}

// Close writes what was summed up. What is recorded afterwards is dropped.
func (a *Audit) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil
	}
	for _, f := range a.folds {
		a.settle(f)
	}
	a.closed = true
	if a.flush != nil {
		a.flush.Stop()
	}
	return a.file.close()
}
