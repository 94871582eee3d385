package jupyter

import "sync"

// maxQueued bounds what one request may leave unread, in bytes. Beyond it the client stops reading, and the kernel's own bounds apply.
const maxQueued = 64 << 20

// queue hands messages from the readers to the one who waits for a request's answers.
type queue struct {
	mu    sync.Mutex
	items []Message
	bytes int

	filled chan struct{} // holds a token after a push
	freed  chan struct{} // holds a token after a pop
	done   chan struct{} // closed when nobody reads any more
}

func newQueue() *queue {
	return &queue{filled: make(chan struct{}, 1), freed: make(chan struct{}, 1), done: make(chan struct{})}
}

// push waits for room, or until the reader or the client is gone. A single message always fits.
func (q *queue) push(m Message, closed <-chan struct{}) {
	for !q.tryPush(m) {
		select {
		case <-q.freed:
		case <-q.done:
			return
		case <-closed:
			return
		}
	}
}

func (q *queue) tryPush(m Message) bool {
	size := len(m.Content) + len(m.Metadata)
	for _, b := range m.Buffers {
		size += len(b)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.items) > 0 && q.bytes+size > maxQueued {
		return false
	}
	q.items = append(q.items, m)
	q.bytes += size
	signal(q.filled)
	return true
}

// popAll takes everything that is there.
func (q *queue) popAll() []Message {
	q.mu.Lock()
	defer q.mu.Unlock()
	items := q.items
	q.items, q.bytes = nil, 0
	signal(q.freed)
	return items
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
