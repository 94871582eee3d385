// Package witness is how tests see programs that run beside them: what they write while they write it, and which of their processes are left.
package witness

import (
	"bytes"
	"sync"
)

// Output keeps what is written, and can be read meanwhile.
type Output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}
