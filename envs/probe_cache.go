package envs

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"

	"github.com/kernel-launch/kernel-launch/internal/dirs"
)

const cacheMost = 8 << 20

// probeCache is interpreters.json. It can be deleted at any time; what is damaged in it is as good as absent.
type probeCache struct {
	Schema  int                    `json:"schema"`
	Entries map[string]cachedProbe `json:"entries"` // by absolute path
}

type cachedProbe struct {
	Identity string      `json:"identity"`
	Question string      `json:"question"` // digest of what was asked: another question, another answer
	Facts    Interpreter `json:"facts"`
}

func (s *Store) cacheFile() string { return filepath.Join(s.Cache, "interpreters.json") }

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

func (s *Store) readCache() probeCache {
	empty := probeCache{Schema: 1, Entries: map[string]cachedProbe{}}
	if s.Cache == "" || dirs.MakePrivate(s.Cache) != nil { // others could have written it
		return empty
	}
	f, err := os.Open(s.cacheFile())
	if err != nil {
		return empty
	}
	defer f.Close()
	var c probeCache
	if json.NewDecoder(io.LimitReader(f, cacheMost)).Decode(&c) != nil || c.Schema != 1 || c.Entries == nil {
		return empty
	}
	return c
}

// cached returns the facts of the program at path when it is still the file that was asked.
func (s *Store) cached(path, id, question, language string) (Interpreter, bool) {
	e, ok := s.readCache().Entries[path]
	if !ok || e.Identity != id || e.Question != digestOf(question) || len(e.Facts.check(language)) > 0 {
		return Interpreter{}, false
	}
	return e.Facts, true
}

// remember keeps an answer. A cache that cannot be written only costs the next probe.
func (s *Store) remember(path, id, question string, facts Interpreter) {
	if s.Cache == "" {
		return
	}
	c := s.readCache()
	c.Entries[path] = cachedProbe{id, digestOf(question), facts}
	for p := range c.Entries {
		if _, err := os.Stat(p); err != nil {
			delete(c.Entries, p)
		}
	}
	if data, err := json.MarshalIndent(c, "", " "); err == nil && dirs.MakePrivate(s.Cache) == nil {
		_ = dirs.WriteFile(s.cacheFile(), data, 0o600)
	}
}
