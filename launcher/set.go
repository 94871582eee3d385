package launcher

import "sync"

// set remembers at most max words, so that what a kernel chooses cannot fill this process.
type set struct {
	mu    sync.Mutex
	max   int
	words map[string]struct{}
}

func newSet(max int) *set { return &set{max: max, words: map[string]struct{}{}} }

// add reports whether word is new and was kept.
func (s *set) add(word string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.words[word]; ok || len(s.words) >= s.max {
		return false
	}
	s.words[word] = struct{}{}
	return true
}
