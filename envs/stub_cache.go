package envs

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/kernel-launch/kernel-launch/internal/dirs"
)

// compiledCache keeps the one answer that takes a look at megabytes.
type compiledCache struct {
	Schema int      `json:"schema"`
	Key    string   `json:"key"`
	Names  []string `json:"names"`
}

// compiledNames is compiledAgainst1, kept while nothing that is visible changes.
func (s *Store) compiledNames(packages map[string]visible, in Interpreter) map[string]bool {
	if s.Cache == "" || dirs.MakePrivate(s.Cache) != nil { // others could have written it
		return setOf(compiledAgainst1(packages, in.ExtensionSuffixes))
	}
	key, file := compiledKey(packages), filepath.Join(s.Cache, "compiled.json")
	var kept compiledCache
	if data := readSome(file); data != nil && json.Unmarshal(data, &kept) == nil && kept.Schema == 1 && kept.Key == key {
		return setOf(kept.Names)
	}
	found := compiledAgainst1(packages, in.ExtensionSuffixes)
	if data, err := json.Marshal(compiledCache{1, key, found}); err == nil {
		_ = dirs.WriteVolatile(file, data, 0o600) // what is not kept is looked for again
	}
	return setOf(found)
}

// compiledKey changes when a distribution comes, goes or is written anew.
func compiledKey(packages map[string]visible) string {
	sum := sha256.New()
	for _, name := range (scenery{packages: packages}).names() {
		p := packages[name]
		var stamp int64
		if fi, err := os.Stat(p.Info); err == nil {
			stamp = fi.ModTime().UnixNano()
		}
		fmt.Fprintf(sum, "%q %q %q %d\n", name, p.Version, p.Info, stamp)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

func setOf(names []string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}
