// Package cases drives the tables of testdata/cases: inputs that people really met, each with the outcome that it must have. A new case is a new row.
package cases

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Runners run a row of a package's own type, by its input.kind.
type Runners[T any] map[string]func(*testing.T, T)

// Run gives each row of a file to the runner of its kind. A kind without a runner fails, and a runner without a row.
func Run[T any](t *testing.T, file string, runners Runners[T]) {
	t.Helper()
	require.Empty(t, run(t, runners, file), "kinds without a runner")
}

// RunSome is Run for files whose other kinds are run in other packages.
func RunSome[T any](t *testing.T, runners Runners[T], files ...string) {
	t.Helper()
	run(t, runners, files...)
}

func run[T any](t *testing.T, runners Runners[T], files ...string) (others []string) {
	t.Helper()
	ran := map[string]bool{}
	for _, file := range files {
		for _, raw := range Rows[json.RawMessage](t, file) {
			head := As[struct {
				ID    string
				Input struct{ Kind string }
			}](t, raw)
			kind := head.Input.Kind
			if runners[kind] == nil {
				others = append(others, head.ID+" "+kind)
				continue
			}
			ran[kind] = true
			t.Run(head.ID, func(t *testing.T) { runners[kind](t, As[T](t, raw)) })
		}
	}
	for kind := range runners {
		require.True(t, ran[kind], "no row is of kind %q", kind)
	}
	return others
}

// Rows are the rows of a file of testdata/cases.
func Rows[T any](t testing.TB, file string) (rows []T) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root(t), "testdata", "cases", file))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &rows), file)
	require.NotEmpty(t, rows, file)
	return rows
}

// As reads what depends on a row's kind; nothing is the zero value.
func As[T any](t testing.TB, raw json.RawMessage) (v T) {
	t.Helper()
	if len(raw) > 0 {
		require.NoError(t, json.Unmarshal(raw, &v), string(raw))
	}
	return v
}

// root is the module's folder: a test runs in that of its package.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		require.NotEqual(t, dir, filepath.Dir(dir), "no go.mod above the test's folder")
		dir = filepath.Dir(dir)
	}
}
