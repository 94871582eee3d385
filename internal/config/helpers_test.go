package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// world is a machine's file, a user's file and a home, all of them this test's own.
type world struct {
	t    testing.TB
	base string
	s    Sources
}

func newWorld(t testing.TB) *world {
	base := t.TempDir()
	w := &world{t: t, base: base, s: Sources{
		Machine: filepath.Join(base, "etc", "config.yaml"),
		User:    filepath.Join(base, "home", ".config", "config.yaml"),
		Home:    filepath.Join(base, "home"),
		Folder:  filepath.Join(base, "home", "work", "study"),
	}}
	for _, dir := range []string{filepath.Dir(w.s.Machine), filepath.Dir(w.s.User), w.s.Folder} {
		require.NoError(t, os.MkdirAll(dir, 0o755))
	}
	return w
}

func (w *world) machine(text string) *world { return w.write(w.s.Machine, text) }
func (w *world) user(text string) *world    { return w.write(w.s.User, text) }

func (w *world) write(file, text string) *world {
	require.NoError(w.t, os.WriteFile(file, []byte(text), 0o600))
	return w
}

func (w *world) load() *Config {
	w.t.Helper()
	c, err := Load(w.s)
	require.NoError(w.t, err)
	return c
}

func (w *world) fails() error {
	w.t.Helper()
	c, err := Load(w.s)
	require.Error(w.t, err)
	require.Nil(w.t, c, "with a fault there is no configuration")
	return err
}
