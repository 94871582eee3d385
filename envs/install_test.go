package envs

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheBundledWheelServesWherePipIsNotInstalled(t *testing.T) {
	x := kernelIndex(t)
	s := newStore(t)
	s.Index = IndexSettings{URL: x.simple()}
	base := fakeBase(t) // its site-packages hold nothing
	var argv []string
	run := s.Exec
	s.Exec = func(ctx context.Context, tool Tool) error {
		if argv == nil { // the compiler comes later
			argv = tool.Argv
		}
		return run(ctx, tool)
	}
	e, err := s.Create(t.Context(), CreateOptions{Name: "a", Python: filepath.Join(base, "bin", "python3")})
	require.NoError(t, err)
	assert.Contains(t, argv[2], ".whl")
	assert.Equal(t, []Owned{{Name: "ipykernel", Version: "7.0"}, {Name: "jupyter-client", Version: "8.1"}}, e.Owned)
}

func TestWithoutAnyPipTheErrorSaysWhereItLooked(t *testing.T) {
	d := t.TempDir()
	_, err := findPip(Interpreter{Path: "/p", Stdlib: d, SitePackages: []string{filepath.Join(d, "site")}})
	if wheels, globErr := filepath.Glob(debianWheels + "/pip-*.whl"); globErr == nil && len(wheels) > 0 {
		require.NoError(t, err, "the distribution has one")
		return
	}
	var ie *InstallerError
	require.ErrorAs(t, err, &ie)
	assert.Len(t, ie.Looked, 3)
}

// What the interpreter has is taken, not fetched again: the index is not even asked for the file.
func TestWhatIsInheritedIsNotBroughtIn(t *testing.T) {
	x := newIndex(t)
	x.put(wheel(t, "ipykernel", "7.0", []string{"jupyter_client", "pip"}, map[string]string{"ipykernel/__init__.py": ""}))
	x.put(wheel(t, "jupyter_client", "8.1", nil, nil))
	x.put(wheel(t, "pip", "99", nil, nil))
	s := newStore(t)
	s.Index = IndexSettings{URL: x.simple()}
	e, err := s.Create(t.Context(), CreateOptions{Name: "a", Python: systemPython})
	require.NoError(t, err)
	assert.Equal(t, []Owned{{Name: "ipykernel", Version: "7.0"}, {Name: "jupyter-client", Version: "8.1"}}, e.Owned)
	e, err = s.Create(t.Context(), CreateOptions{Name: "b", Python: systemPython, Isolated: true})
	require.NoError(t, err)
	assert.Contains(t, e.Owned, Owned{Name: "pip", Version: "99"}, "the control: an isolated one has to fetch it")
}

func TestWhyAnInstallFailed(t *testing.T) {
	for what, c := range map[string]struct {
		index func(*fakeIndex)
		words []string
	}{
		"the index wants a login": {func(x *fakeIndex) {
			x.Answer = func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(401); return true }
		}, []string{"401 Unauthorized", "/ipykernel/"}},
		"only source":     {func(x *fakeIndex) { x.put("ipykernel-7.0.tar.gz", []byte("x")) }, []string{"No sources permitted for ipykernel"}},
		"only for others": {func(x *fakeIndex) { x.put("ipykernel-7.0-cp27-cp27m-win32.whl", []byte("x")) }, []string{"none of the wheel's tags"}},
		"a part is missing": {func(x *fakeIndex) {
			x.put(wheel(t, "ipykernel", "7.0", []string{"jupyter_client"}, map[string]string{"ipykernel/__init__.py": ""}))
		}, []string{"jupyter-client/: 404"}},
		"a file that a wheel may not bring": {func(x *fakeIndex) {
			x.put(wheel(t, "ipykernel", "7.0", nil, map[string]string{"ipykernel/__init__.py": "", "ipykernel-7.0.data/data/pyvenv.cfg": "home = /tmp\n"}))
		}, []string{"pyvenv.cfg", "no place at the top"}},
		"it does not come with its parts": {func(x *fakeIndex) {
			x.put(wheel(t, "ipykernel", "7.0", nil, map[string]string{"ipykernel/__init__.py": ""}))
		}, []string{"still not there"}},
	} {
		t.Run(what, func(t *testing.T) {
			x := newIndex(t)
			c.index(x)
			s := newStore(t)
			s.Index = IndexSettings{URL: x.simple()}
			_, err := s.Create(t.Context(), CreateOptions{Name: "a", Python: systemPython, Isolated: true})
			var nk *NoKernelError
			require.ErrorAs(t, err, &nk)
			for _, w := range c.words {
				assert.Contains(t, err.Error(), w)
			}
			assert.NotContains(t, err.Error(), "\n")
			left, readErr := os.ReadDir(filepath.Join(s.Root, Python))
			require.NoError(t, readErr)
			assert.Empty(t, left)
		})
	}
}

func TestWithoutASandboxNothingIsInstalled(t *testing.T) {
	s := newStore(t)
	s.Exec = nil
	_, err := s.Create(t.Context(), CreateOptions{Name: "a", Python: systemPython, Isolated: true})
	var ie *InstallError
	require.ErrorAs(t, err, &ie)
	assert.ErrorIs(t, err, errNoSandbox)
}

func TestWhatASandboxIsAskedFor(t *testing.T) {
	s := newStore(t)
	stop := errors.New("stop")
	var tool Tool
	s.Exec = func(_ context.Context, got Tool) error { tool = got; return stop }
	s.Index = IndexSettings{URL: "https://index.test/simple", Credentials: Credentials{"ann", "hunter2"}}
	s.Gateway = ""
	_, err := s.Create(t.Context(), CreateOptions{Name: "a", Python: systemPython, Isolated: true})
	require.ErrorIs(t, err, stop)
	current := filepath.Join(s.Root, Python, "a", "current")
	assert.Equal(t, filepath.Join(current, "bin", "python"), tool.Argv[0])
	assert.Contains(t, tool.Argv, "http://127.0.0.1:3141/simple")
	assert.Contains(t, tool.ReadOnly, Bind{filepath.Join(s.Root, Python, "a", "gen", "1"), current})
	assert.Contains(t, tool.ReadOnly, Bind{"/usr", "/usr"})
	require.Len(t, tool.Writable, 1, "a tool can write to its stage alone")
	assert.Equal(t, filepath.Join(s.Work, "stage"), filepath.Dir(tool.Writable[0].Source))
	assert.NotContains(t, fmt.Sprintf("%#v", tool), "hunter2")
	assert.NoDirExists(t, tool.Writable[0].Source)
}

// A hook of a package must not run on the host: not when the environment is checked, read, listed or removed.
func TestNothingOfAnEnvironmentRunsOutside(t *testing.T) {
	s := newStore(t)
	canary := filepath.Join(private(t), "canary")
	x := kernelIndex(t)
	x.put(wheel(t, "jupyter_client", "8.2", nil, map[string]string{
		"jupyter_client/__init__.py": "", "hook.pth": "import os; os.path.isdir('" + filepath.Dir(canary) + "') and open('" + canary + "', 'w')\n",
	}))
	s.Index = IndexSettings{URL: x.simple()}
	e, err := s.Create(t.Context(), CreateOptions{Name: "a", Python: systemPython, Isolated: true})
	require.NoError(t, err)
	require.NoError(t, e.Check())
	_, hooks, err := e.Packages()
	require.NoError(t, err)
	assert.Equal(t, "hook.pth", hooks[0].Name)
	assert.Equal(t, OwnerEnv, hooks[0].Owner)
	assert.NoFileExists(t, canary)
	// The control: the same start, where the folder is visible, trips it.
	require.NoError(t, bubblewrap(t.Context(), Tool{
		Argv: []string{e.python(e.Current()), "-I", "-c", "pass"}, Dir: "/tmp", ReadOnly: []Bind{{e.Tree(), e.Current()}}, Writable: []Bind{{filepath.Dir(canary), filepath.Dir(canary)}},
	}))
	assert.FileExists(t, canary)
	require.NoError(t, os.Remove(canary))
	// Another environment on the base of this one's interpreter.
	_, err = s.FindPython(t.Context(), e.python(e.Current()))
	require.NoError(t, err)
	require.NoError(t, s.Remove(t.Context(), "a"))
	assert.NoFileExists(t, canary)
}
