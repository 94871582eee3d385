package kernelspec

import (
	"encoding/json"
	"image/png"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func options(t testing.TB, root string) InstallOptions {
	t.Helper()
	launcher, err := filepath.Abs("kernel-launch")
	require.NoError(t, err)
	o := ForEnvironment(launcher, "Default", "python", "3.12.4")
	o.Root = root
	return o
}

func TestInstall(t *testing.T) {
	root := filepath.Join(t.TempDir(), "share", "jupyter")
	o := options(t, root)
	dir, err := Install(o)
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(root, "kernels", "kernel-launch-default"), dir)

	data, err := os.ReadFile(filepath.Join(dir, "kernel.json"))
	require.NoError(t, err)
	launcher, err := json.Marshal(o.Argv[0])
	require.NoError(t, err)
	assert.JSONEq(t, `{"argv": [`+string(launcher)+`, "--env", "Default", "-f", "{connection_file}"],
		"display_name": "Python 3 · Default (confined)", "language": "python",
		"metadata": {"debugger": true, "kernel-launch": {"environment": "Default"}}}`, string(data))

	logo, err := os.Open(filepath.Join(dir, "logo-64x64.png"))
	require.NoError(t, err)
	defer logo.Close()
	c, err := png.DecodeConfig(logo)
	require.NoError(t, err)
	assert.Equal(t, 64, c.Width)
	assert.FileExists(t, filepath.Join(dir, "logo-svg.svg"))

	s, err := Read(dir)
	require.NoError(t, err)
	assert.Empty(t, s.Warnings)
	assert.True(t, s.Owned())
	assert.Equal(t, "Default", s.Environment())
	assert.Equal(t, []string{"kernels"}, entries(t, root), "nothing is left beside it")
}

func entries(t testing.TB, dir string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

func TestInstallAgainReplacesOurs(t *testing.T) {
	o := options(t, t.TempDir())
	dir, err := Install(o)
	require.NoError(t, err)
	o.DisplayName = "other"
	again, err := Install(o)
	require.NoError(t, err)
	assert.Equal(t, dir, again)
	s, err := Read(dir)
	require.NoError(t, err)
	assert.Equal(t, "other", s.DisplayName)
}

func TestForR(t *testing.T) {
	o := ForEnvironment("/l", "lab", "r", "4.2.2")
	assert.Equal(t, "R · lab (confined)", o.DisplayName)
	assert.Equal(t, "R", o.Language)
	assert.Equal(t, "kernel-launch-lab", o.Name)
	assert.Empty(t, o.Metadata)
}

func TestAnothersSpecIsLeftAlone(t *testing.T) {
	root := t.TempDir()
	theirs := writeSpec(t, root, "Python3", "theirs")
	require.NoError(t, os.WriteFile(filepath.Join(theirs, "keep"), nil, 0o644))
	o := options(t, root)
	o.Name = "python3"
	_, err := Install(o)
	var foreign *ForeignError
	require.ErrorAs(t, err, &foreign)
	assert.Equal(t, theirs, foreign.Path)
	assert.ErrorContains(t, err, theirs)
	assert.FileExists(t, filepath.Join(theirs, "keep"))

	require.ErrorAs(t, Remove(theirs), &foreign)
	assert.FileExists(t, filepath.Join(theirs, "keep"))

	o.Replace = true
	dir, err := Install(o)
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(root, "kernels", "python3"), dir)
	assert.Equal(t, []string{"python3"}, entries(t, filepath.Join(root, "kernels")))
	assert.Equal(t, []string{"kernel.json", "logo-64x64.png", "logo-svg.svg"}, entries(t, dir))
	assert.Equal(t, []string{"kernels"}, entries(t, root))
}

func TestALinkIsNotWrittenThrough(t *testing.T) {
	root := t.TempDir()
	o := options(t, root)
	real, err := Install(o)
	require.NoError(t, err)
	link := filepath.Join(root, "kernels", "link")
	require.NoError(t, os.Symlink(real, link))
	o.Name = "link"
	_, err = Install(o)
	var foreign *ForeignError
	require.ErrorAs(t, err, &foreign)
	require.ErrorAs(t, Remove(link), &foreign)
	assert.FileExists(t, filepath.Join(real, "kernel.json"))
}

func TestRemove(t *testing.T) {
	root := t.TempDir()
	dir, err := Install(options(t, root))
	require.NoError(t, err)
	require.NoError(t, Remove(dir))
	assert.NoDirExists(t, dir)
	assert.Equal(t, []string{"kernels"}, entries(t, root))
	assert.ErrorIs(t, Remove(dir), fs.ErrNotExist)
}

func TestASpecThatOnlyLooksOurs(t *testing.T) {
	root := t.TempDir()
	dir := writeSpec(t, root, "k", "x")
	for _, text := range []string{
		`{"argv": ["x"], "Metadata": {"kernel-launch": {}}}`, `{"metadata": {"Kernel-Launch": {}}}`, `{"metadata": []}`, `{"kernel-launch": {}}`, `{`, ``,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "kernel.json"), []byte(text), 0o644))
		var foreign *ForeignError
		require.ErrorAs(t, Remove(dir), &foreign, text)
	}
}

func TestOptionsFaultsComeAtOnce(t *testing.T) {
	_, err := Install(InstallOptions{Name: "a b", Root: "relative", Metadata: map[string]any{"kernel_provisioner": 1}})
	for _, what := range []string{"a b", "relative", "absolute path", "connection_file", "display name", "language", "kernel_provisioner"} {
		assert.ErrorContains(t, err, what)
	}
	o := options(t, t.TempDir())
	o.Argv = append(o.Argv, "a\tb")
	_, err = Install(o)
	assert.ErrorContains(t, err, "control character in argv[5]")
	assert.Empty(t, entries(t, o.Root), "nothing was written")
}

// What Jupyter itself finds. The data folder is reached by JUPYTER_DATA_DIR, as UserRoot has it.
func TestJupyterFindsIt(t *testing.T) {
	python := os.Getenv("KERNEL_LAUNCH_TEST_PYTHON")
	if python == "" {
		python = "../.tools/venv/bin/python"
	}
	_, err := os.Stat(python)
	require.NoError(t, err, "run make tools")
	home := t.TempDir()
	env := map[string]string{"HOME": home, "JUPYTER_DATA_DIR": filepath.Join(home, "data")}
	f := finder(env)
	o := options(t, f.UserRoot())
	dir, err := Install(o)
	require.NoError(t, err)

	script := `
import json
from jupyter_client.kernelspec import KernelSpecManager
m = KernelSpecManager()
s = m.get_kernel_spec("kernel-launch-default")
print(json.dumps({"dirs": m.kernel_dirs, "all": sorted(m.get_all_specs()), "argv": s.argv, "dir": s.resource_dir, "name": s.display_name,
  "metadata": s.metadata, "mode": s.interrupt_mode}))`
	cmd := exec.Command(python, "-c", script)
	env["JUPYTER_PREFER_ENV_PATH"], env["PYTHONNOUSERSITE"] = "0", "1"
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	out, err := cmd.Output()
	require.NoError(t, err)
	var found struct {
		Dirs, All, Argv []string
		Dir, Name, Mode string
		Metadata        map[string]any
	}
	require.NoError(t, json.Unmarshal(out, &found), string(out))
	assert.Equal(t, o.Argv, found.Argv)
	assert.Equal(t, dir, found.Dir)
	assert.Equal(t, "Python 3 · Default (confined)", found.Name)
	assert.Equal(t, "signal", found.Mode)
	assert.Equal(t, true, found.Metadata["debugger"])
	assert.Contains(t, found.All, "kernel-launch-default")

	prefix := exec.Command(python, "-c", "import sys; print(sys.prefix, end='')")
	where, err := prefix.Output()
	require.NoError(t, err)
	f.Prefix = string(where)
	assert.Equal(t, found.Dirs, f.Dirs(), "the same folders in the same order as Jupyter")
	s, err := f.Find("kernel-launch-default")
	require.NoError(t, err)
	assert.Equal(t, dir, s.Dir)
}

func TestTheZeroFinderIsForThisProcess(t *testing.T) {
	root := t.TempDir()
	t.Setenv("JUPYTER_PATH", root)
	dir, err := Install(options(t, root))
	require.NoError(t, err)
	s, err := Finder{}.Find("kernel-launch-default")
	require.NoError(t, err)
	assert.Equal(t, dir, s.Dir)
}
