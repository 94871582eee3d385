package envs

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWhatASandboxMustShow(t *testing.T) {
	d := t.TempDir()
	prefix := filepath.Join(d, "opt", "py")
	write(t, filepath.Join(prefix, "bin", "python3.12"), "")
	link := filepath.Join(d, "bin", "python3.12")
	require.NoError(t, os.MkdirAll(filepath.Dir(link), 0o755))
	require.NoError(t, os.Symlink(filepath.Join(prefix, "bin", "python3.12"), link))
	i := Interpreter{Path: link, Prefix: prefix, Stdlib: prefix + "/lib/python3.12", SitePackages: []string{prefix + "/lib/python3.12/site-packages", filepath.Join(d, "site"), filepath.Join(d, "none")}}
	require.NoError(t, os.Mkdir(filepath.Join(d, "site"), 0o755))
	assert.Equal(t, []string{prefix, link, filepath.Join(d, "site")}, i.Shown())
	assert.False(t, below("/usr-x", []string{"/usr"}))
	assert.True(t, below("/usr/..x", []string{"/usr"}))
}

func TestWhatAKernelIsStartedWith(t *testing.T) {
	p := &Environment{Name: "a", Language: Python, Mode: Inherit, Generation: 2, dir: "/d"}
	assert.Equal(t, []string{"/d/current/bin/python", "-m", "ipykernel_launcher", "-f", "{connection_file}"}, p.Kernel())
	assert.Equal(t, "/d/current/bin", p.Bin())
	assert.Equal(t, "/d/gen/2", p.Tree())
	assert.Equal(t, "/d/current", p.Variables()["VIRTUAL_ENV"])
	r := &Environment{Name: "a", Language: R, Mode: Isolated, Generation: 1, dir: "/d", Interpreter: Interpreter{Path: "/usr/bin/R"}}
	assert.Equal(t, "/usr/bin/R", r.Kernel()[0])
	assert.Contains(t, r.Variables()["R_LIBS_SITE"], "/d/current/")
	r.Mode = Inherit
	assert.NotContains(t, r.Variables(), "R_LIBS_SITE")
}
