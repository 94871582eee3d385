package envs

import (
	"bytes"
	"os"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The one test that needs the package index which this machine's pip is set up for.
func TestTheRealKernelComesFromTheRealIndex(t *testing.T) {
	s := newStore(t)
	var err error
	s.Index, err = FindIndex(IndexSources{Goos: runtime.GOOS, Getenv: os.Getenv, Home: os.Getenv("HOME")})
	require.NoError(t, err)
	e, err := s.Create(t.Context(), CreateOptions{Name: "real", Python: systemPython})
	require.NoError(t, err)
	list, _, err := e.Packages()
	require.NoError(t, err)
	assert.Subset(t, names(list), []string{"ipykernel", "ipython", "jupyter-client", "pyzmq", "tornado"})

	var out bytes.Buffer
	tool := Tool{
		Argv: []string{e.python(e.Current()), "-c", "import ipykernel.kernelapp, zmq; print(ipykernel.__file__)"}, Dir: "/tmp",
		ReadOnly: []Bind{{e.Tree(), e.Current()}}, Stdout: &out, Stderr: &out,
	}
	require.NoError(t, bubblewrap(t.Context(), tool), out.String())
	assert.Contains(t, out.String(), e.Current())
}
