package envs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// counting is an interpreter that notes each start and then answers as the system's would, in its own name.
func counting(t *testing.T) (path string, starts func() int) {
	t.Helper()
	d := private(t)
	log := filepath.Join(d, "log")
	path = script(t, filepath.Join(d, "python3"), "echo x >>"+log+`
exec `+systemPython+` -I -S -B -c 'import sys
exec(sys.argv[1].replace("sys.stdout.write(", "facts.update(path=sys.argv[2]); sys.stdout.write("))' "$5" "$0"
`)
	return path, func() int {
		data, err := os.ReadFile(log)
		require.NoError(t, err)
		return len(data) / 2
	}
}

func TestAnInterpreterIsAskedOnce(t *testing.T) {
	s := newStore(t)
	path, starts := counting(t)
	first, err := s.FindPython(t.Context(), path)
	require.NoError(t, err)
	second, err := s.FindPython(t.Context(), path)
	require.NoError(t, err)
	assert.Equal(t, first, second)
	assert.Equal(t, 1, starts())
	fi, err := os.Stat(s.cacheFile())
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), fi.Mode().Perm())

	later := time.Now().Add(time.Minute)
	require.NoError(t, os.Chtimes(path, later, later))
	_, err = s.FindPython(t.Context(), path)
	require.NoError(t, err)
	assert.Equal(t, 2, starts(), "a changed file is asked again")
}

func TestADamagedCacheIsIgnored(t *testing.T) {
	s := newStore(t)
	path, starts := counting(t)
	_, err := s.FindPython(t.Context(), path)
	require.NoError(t, err)
	good, err := os.ReadFile(s.cacheFile())
	require.NoError(t, err)
	for i, text := range []string{"", "{", `{"schema": 9}`, `{"schema":1,"entries":null}`, string(good[:len(good)/2])} {
		require.NoError(t, os.WriteFile(s.cacheFile(), []byte(text), 0o600))
		_, err := s.FindPython(t.Context(), path)
		require.NoError(t, err)
		assert.Equal(t, i+2, starts(), "%q", text)
	}
	asked := starts()
	impossible := strings.Replace(string(good), `"prefix": "/usr"`, `"prefix": "usr"`, 1)
	require.NotEqual(t, string(good), impossible)
	require.NoError(t, os.WriteFile(s.cacheFile(), []byte(impossible), 0o600))
	facts, err := s.FindPython(t.Context(), path)
	require.NoError(t, err)
	assert.Equal(t, "/usr", facts.Prefix)
	assert.Equal(t, asked+1, starts())
}

func TestACacheThatOthersCanWriteIsNotBelieved(t *testing.T) {
	s := newStore(t)
	path, starts := counting(t)
	_, err := s.FindPython(t.Context(), path)
	require.NoError(t, err)
	require.NoError(t, os.Chmod(s.Cache, 0o777))
	_, err = s.FindPython(t.Context(), path)
	require.NoError(t, err)
	assert.Equal(t, 2, starts())
}

func TestWithoutACacheNothingIsKept(t *testing.T) {
	s := newStore(t)
	s.Cache = ""
	path, starts := counting(t)
	for range 2 {
		_, err := s.FindPython(t.Context(), path)
		require.NoError(t, err)
	}
	assert.Equal(t, 2, starts())
}
