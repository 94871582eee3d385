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
	folds   folds
	settled time.Time // when all of these were looked at
	budget  budget
	flush   *time.Timer
	failed  bool
	closed  bool
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
	a.budget.pass(entry.Time)
	if e.Sent >= a.ownLine() {
		a.write(entry)
		return
	}
	f := a.fold(entry)
	if f.seen++; f.seen <= a.most(entry.Verdict) {
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
		Verdict: e.Verdict, Code: e.Code, Rule: e.Rule, Addresses: someAddresses(e.Addresses), Via: e.Via, DNS: ms(e.DNS), Dial: ms(e.Dial),
		Sent: e.Sent, Received: e.Received, End: e.End,
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
	now := time.Now()
	if now.Before(a.budget.now) { // the clock was set back: no window would be over until it is there again
		a.settleAll()
		a.budget.now, a.budget.since = now, now
	}
	a.settleOld(now)
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
		a.budget.spend(len(line) + 1)
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
	a.settleAll()
	a.closed = true
	if a.flush != nil {
		a.flush.Stop()
	}
	return a.file.close()
}
