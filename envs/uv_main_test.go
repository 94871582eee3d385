package envs

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// uvFolder is where the uv of all tests stands: it is fetched once a run.
var uvFolder string

func TestMain(m *testing.M) {
	os.Exit(withUVFolder(m))
}

func withUVFolder(m *testing.M) int {
	dir, err := os.MkdirTemp("", "envs-uv-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	uvFolder = dir
	return m.Run()
}

func realIndex(t testing.TB) IndexSettings {
	t.Helper()
	i, err := FindIndex(IndexSources{Goos: runtime.GOOS, Getenv: os.Getenv, Home: os.Getenv("HOME")})
	require.NoError(t, err)
	return i
}

var bringOnce sync.Mutex

// realUV is the path of a uv that was brought in from the real index.
func realUV(t testing.TB) string {
	t.Helper()
	bringOnce.Lock()
	defer bringOnce.Unlock()
	s := &Store{Tools: uvFolder, Index: realIndex(t)}
	path, err := s.broughtUV(t.Context())
	require.NoError(t, err)
	return path
}
