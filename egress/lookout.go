package egress

import (
	"sync"
	"time"
)

// lookEvery is how often a proxy looks for dials that take long. One is noticed
// between one and two of these after it began.
const lookEvery = 10 * time.Millisecond

// lookout begins the watches of what takes long. One timer serves all of a
// proxy: a timer of its own for each dial, most of which are over at once, wakes
// a thread of the system every time. The zero value is ready.
type lookout struct {
	mu    sync.Mutex
	timer *time.Timer // nil: not set
	young map[*earlyWatch]struct{}
	old   map[*earlyWatch]struct{} // there at the last look already
	used  bool                     // since then
}

func (l *lookout) add(w *earlyWatch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.young == nil {
		l.young, l.old = map[*earlyWatch]struct{}{}, map[*earlyWatch]struct{}{}
	}
	l.young[w] = struct{}{}
	l.used = true
	if l.timer == nil {
		l.timer = time.AfterFunc(lookEvery, l.look)
	}
}

// remove is false when the watch has begun.
func (l *lookout) remove(w *earlyWatch) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, young := l.young[w]
	_, old := l.old[w]
	delete(l.young, w)
	delete(l.old, w)
	return young || old
}

// look sets the timer again for as long as anything dials.
func (l *lookout) look() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for w := range l.old {
		go w.read()
	}
	clear(l.old)
	l.young, l.old = l.old, l.young
	if len(l.old) == 0 && !l.used {
		l.timer = nil
		return
	}
	l.used = false
	l.timer.Reset(lookEvery)
}
