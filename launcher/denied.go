package launcher

import (
	"slices"
	"sync"
	"time"

	"github.com/kernel-launch/kernel-launch/egress"
	"github.com/kernel-launch/kernel-launch/internal/plain"
)

// deniedMost is how many refusals a launcher remembers of a kernel. The audit log has them all.
const deniedMost = 64

// Denial is what a kernel was refused, however often.
type Denial struct {
	Host  string    `json:"host"`
	Port  uint16    `json:"port"`
	Code  string    `json:"code"`
	Rule  string    `json:"rule,omitempty"` // the one that refused
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
	Count int       `json:"count"`
	Allow string    `json:"allow,omitempty"` // the line that would allow it, where one would
}

// deniedRing holds the newest refusals; the zero value is empty.
type deniedRing struct {
	mu   sync.Mutex
	list []Denial // that of the latest refusal last
}

// add takes refusals of the policy. A request that names no host is no host that was refused.
func (d *deniedRing) add(e egress.Event) {
	if e.Verdict != egress.Deny || e.Host == "" {
		return
	}
	now := e.Time.UTC()
	n := Denial{Host: plain.Line(e.Host, 255), Port: e.Port, Code: e.Code, Rule: e.Rule, First: now}
	d.mu.Lock()
	defer d.mu.Unlock()
	same := func(o Denial) bool { return o.Host == n.Host && o.Port == n.Port && o.Code == n.Code }
	if at := slices.IndexFunc(d.list, same); at >= 0 {
		n.First, n.Count = d.list[at].First, d.list[at].Count
		d.list = slices.Delete(d.list, at, at+1)
	}
	n.Last = now
	n.Count++
	if len(d.list) == deniedMost {
		d.list = slices.Delete(d.list, 0, 1)
	}
	d.list = append(d.list, n)
}

// newest lists them, the latest refusal first, each with the line that would allow it now.
func (d *deniedRing) newest(allow func(egress.Event) string) []Denial {
	d.mu.Lock()
	list := slices.Clone(d.list)
	d.mu.Unlock()
	slices.Reverse(list)
	for i, n := range list {
		list[i].Allow = allow(egress.Event{Host: n.Host, Port: n.Port, Code: n.Code})
	}
	return list
}

// linesASecond is how many lines are worked out for the answers to a kernel. Each takes the configuration to be read, and a kernel can have itself
// refused thousands of times a second.
const linesASecond = 10

// sparing lets so many pass in a second; the zero value is ready.
type sparing struct {
	mu    sync.Mutex
	since time.Time
	n     int
}

func (s *sparing) passes(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.since) >= time.Second {
		s.since, s.n = now, 0
	}
	s.n++
	return s.n <= linesASecond
}

// answerLine is allowLine for the answer that the refused client gets.
func (k *Kernel) answerLine() func(egress.Event) string {
	var s sparing
	return func(e egress.Event) string {
		if !s.passes(e.Time) {
			return ""
		}
		return k.allowLine(e)
	}
}

// allowLine is the line that would let the kernel reach what was refused; empty when none would.
func (k *Kernel) allowLine(e egress.Event) string {
	line, _ := k.Plan().way(e)
	return line
}
