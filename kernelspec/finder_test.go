package kernelspec

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func writeSpec(t testing.TB, root, name, display string) string {
	t.Helper()
	dir := filepath.Join(root, "kernels", name)
	require.NoError(t, os.MkdirAll(dir, 0o755))
	text := `{"argv": ["x", "{connection_file}"], "display_name": "` + display + `", "language": "x"}`
	require.NoError(t, os.WriteFile(filepath.Join(dir, "kernel.json"), []byte(text), 0o644))
	return dir
}

func TestSearchOrder(t *testing.T) {
	system := []string{"/usr/local/share/jupyter/kernels", "/usr/share/jupyter/kernels"}
	for name, c := range map[string]struct {
		goos   string
		env    map[string]string
		prefix string
		want   []string
	}{
		"linux": {"linux", map[string]string{"HOME": "/home/u"}, "", append(
			[]string{"/home/u/.local/share/jupyter/kernels"}, append(system, "/home/u/.ipython/kernels")...)},
		"everything": {"linux", map[string]string{
			"HOME": "/home/u", "JUPYTER_PATH": "/a/::/b", "JUPYTER_DATA_DIR": "/data", "IPYTHONDIR": "/ipy",
		}, "/opt/py", append([]string{
			"/a/kernels", "/b/kernels", "/data/kernels", "/home/u/.local/share/jupyter/kernels", "/opt/py/share/jupyter/kernels",
		}, append(system, "/ipy/kernels")...)},
		"prefix first": {"linux", map[string]string{"HOME": "/home/u", "JUPYTER_PREFER_ENV_PATH": "1"}, "/opt/py", append([]string{
			"/opt/py/share/jupyter/kernels", "/home/u/.local/share/jupyter/kernels",
		}, append(system, "/home/u/.ipython/kernels")...)},
		"prefix last": {"linux", map[string]string{"HOME": "/home/u", "JUPYTER_PREFER_ENV_PATH": "off", "XDG_DATA_HOME": "/x", "PYTHONNOUSERSITE": "1"}, "/usr", append([]string{
			"/x/jupyter/kernels",
		}, append(system, "/home/u/.ipython/kernels")...)},
		"conda of another user": {"linux", map[string]string{
			"HOME": "/home/u", "CONDA_PREFIX": "/no/such/conda", "CONDA_DEFAULT_ENV": "ml",
		}, "", append([]string{
			"/home/u/.local/share/jupyter/kernels", "/no/such/conda/share/jupyter/kernels",
		}, append(system, "/home/u/.ipython/kernels")...)},
		"darwin": {"darwin", map[string]string{"HOME": "/Users/u", "PYTHONNOUSERSITE": "1"}, "", append(
			[]string{"/Users/u/Library/Jupyter/kernels"}, append(system, "/Users/u/.ipython/kernels")...)},
		"darwin, platform": {"darwin", map[string]string{"HOME": "/Users/u", "PYTHONNOUSERSITE": "1", "JUPYTER_PLATFORM_DIRS": "1"}, "", []string{
			"/Users/u/Library/Application Support/Jupyter/kernels", "/Library/Application Support/Jupyter/kernels", "/Users/u/.ipython/kernels",
		}},
		"linux, platform": {"linux", map[string]string{
			"HOME": "/home/u", "PYTHONNOUSERSITE": "1", "JUPYTER_PLATFORM_DIRS": "1", "XDG_DATA_DIRS": "/s:/t",
		}, "", []string{
			"/home/u/.local/share/jupyter/kernels", "/s/jupyter/kernels", "/t/jupyter/kernels", "/home/u/.ipython/kernels",
		}},
		"windows": {"windows", map[string]string{
			"USERPROFILE": `C:\Users\u`, "APPDATA": `C:\Users\u\AppData\Roaming`, "PROGRAMDATA": `C:\ProgramData`, "JUPYTER_PATH": `D:\a;D:\b`,
		}, `C:\py`, []string{
			`D:\a\kernels`, `D:\b\kernels`, `C:\Users\u\AppData\Roaming\jupyter\kernels`, `C:\Users\u\AppData\Roaming\Python\share\jupyter\kernels`,
			`C:\py\share\jupyter\kernels`, `C:\Users\u\.ipython\kernels`,
		}},
		"windows, program data": {"windows", map[string]string{
			"USERPROFILE": `C:\Users\u`, "PROGRAMDATA": `C:\ProgramData`, "JUPYTER_USE_PROGRAMDATA": "yes",
		}, "", []string{`C:\Users\u\.jupyter\data\kernels`, `C:\ProgramData\jupyter\kernels`, `C:\Users\u\.ipython\kernels`}},
		"no home": {"linux", nil, "", system},
	} {
		f := Finder{Goos: c.goos, Getenv: func(k string) string { return c.env[k] }, Prefix: c.prefix}
		assert.Equal(t, c.want, f.Dirs(), name)
	}
}

func TestAVirtualEnvironmentComesFirst(t *testing.T) {
	venv := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(venv, "pyvenv.cfg"), nil, 0o644))
	f := finder(map[string]string{"HOME": "/home/u", "VIRTUAL_ENV": venv})
	assert.Equal(t, []string{venv + "/share/jupyter/kernels", "/home/u/.local/share/jupyter/kernels"}, f.Dirs()[:2])
}

func TestFirstHitWinsAndNamesAreFolded(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	writeSpec(t, one, "Ir", "first")
	writeSpec(t, two, "ir", "second")
	writeSpec(t, two, "other", "other")
	f := finder(map[string]string{"JUPYTER_PATH": one + ":" + two})
	s, err := f.Find("IR")
	require.NoError(t, err)
	assert.Equal(t, "first", s.DisplayName)
	assert.Equal(t, "ir", s.Name)
	specs, problems := f.List()
	names := map[string]string{}
	for _, s := range specs {
		if strings.HasPrefix(s.Dir, one) || strings.HasPrefix(s.Dir, two) {
			names[s.Name] = s.DisplayName
		}
	}
	assert.Equal(t, map[string]string{"ir": "first", "other": "other"}, names)
	for _, p := range problems {
		assert.NotContains(t, p.File, one)
	}
}

func TestAFaultySpecIsNotPassedOver(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	file := filepath.Join(writeSpec(t, one, "k", "x"), "kernel.json")
	require.NoError(t, os.WriteFile(file, []byte("{\n \"argv\": 7\n}"), 0o644))
	writeSpec(t, two, "k", "the one that Jupyter does not take")
	_, err := finder(map[string]string{"JUPYTER_PATH": one + ":" + two}).Find("k")
	var p Problem
	require.ErrorAs(t, err, &p)
	assert.EqualError(t, err, file+":2: argv must be a list of strings")
}

func TestNames(t *testing.T) {
	for _, bad := range []string{"", ".", "..", "a/b", "../x", "a b", "ü", "a\n", "\u212a", strings.Repeat("x", 201)} {
		_, err := CheckName(bad)
		var name *NameError
		assert.ErrorAs(t, err, &name, "%q", bad) // the Kelvin sign folds to k
	}
	got, err := CheckName("Python3.12_x-y")
	require.NoError(t, err)
	assert.Equal(t, "python3.12_x-y", got)
	_, err = finder(nil).Find("../etc")
	var name *NameError
	assert.ErrorAs(t, err, &name)
	_, err = finder(map[string]string{"JUPYTER_PATH": t.TempDir()}).Find("none-such")
	var missing *NotFoundError
	require.ErrorAs(t, err, &missing)
	assert.Equal(t, "none-such", missing.Name)
}

func TestNamesAreMadeOfFewCharacters(t *testing.T) {
	form := regexp.MustCompile(`\A[A-Za-z0-9._-]+\z`)
	accepted := 0
	for c := range 256 {
		b := string([]byte{byte(c)})
		for _, s := range []string{"", b, "a" + b, b + "a", "a" + b + "a", string(rune(c))} {
			assert.Equal(t, form.MatchString(s), validName(s), "%q", s)
			if validName(s) {
				accepted++
			}
		}
	}
	assert.Equal(t, 65*5, accepted)
}

func TestTwoFoldersWithOneName(t *testing.T) {
	root := t.TempDir()
	writeSpec(t, root, "K", "upper")
	lower := writeSpec(t, root, "k", "lower")
	found, problems := specsIn(filepath.Join(root, "kernels"))
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		return // one folder there
	}
	assert.Equal(t, map[string]string{"k": lower}, found)
	require.Len(t, problems, 1)
	assert.Contains(t, problems[0].Error(), "without case")
}

func TestStrayThings(t *testing.T) {
	root := t.TempDir()
	kernels := filepath.Join(root, "kernels")
	require.NoError(t, os.MkdirAll(filepath.Join(kernels, "empty"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(kernels, "file"), nil, 0o644))
	require.NoError(t, os.MkdirAll(filepath.Join(kernels, "folder", "kernel.json"), 0o755))
	writeSpec(t, root, "with space", "x")
	writeSpec(t, root, "good", "x")
	specs, problems := finder(map[string]string{"JUPYTER_PATH": root + ":" + filepath.Join(kernels, "file")}).List()
	var names, said []string
	for _, s := range specs {
		if strings.HasPrefix(s.Dir, root) {
			names = append(names, s.Name)
		}
	}
	for _, p := range problems {
		if strings.HasPrefix(p.File, root) {
			said = append(said, p.Error())
		}
	}
	assert.Equal(t, []string{"good"}, names)
	require.Len(t, said, 2, said)
	assert.Contains(t, said[0], `"with space"`)
	assert.Contains(t, said[1], "is not a regular file")
}

func TestAHugeFileIsNotRead(t *testing.T) {
	dir := writeSpec(t, t.TempDir(), "k", "x")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "kernel.json"), make([]byte, MaxFile+1), 0o644))
	_, err := Read(dir)
	assert.ErrorContains(t, err, "is larger than 1048576 bytes")
}

func TestExpandUsersHome(t *testing.T) {
	s := &Spec{Dir: "/k", Argv: []string{"~", "~/", "~ada/x", "~eve/x", "{connection_file}", "{word}", "~{word}"}}
	v := Values{
		ConnectionFile: "~/c.json", Home: "/home/u/", More: map[string]string{"word": "{prefix}"},
		HomeOf: func(user string) (string, bool) { return "/home/ada", user == "ada" },
	}
	assert.Equal(t, []string{"/home/u/", "/home/u/", "/home/ada/x", "~eve/x", "/home/u/c.json", "{prefix}", "~{prefix}"}, Expand(s, v))
	assert.Equal(t, "~/x", Expand(&Spec{Argv: []string{"~/x"}}, Values{})[0])
}

func TestExpandEnv(t *testing.T) {
	s := &Spec{Env: map[string]string{"A": "$X-${X}-$$X-${Y}-$1-${}-$", "B": "${X"}}
	got := ExpandEnv(s, func(name string) (string, bool) { return "${Y}", name == "X" })
	assert.Equal(t, map[string]string{"A": "${Y}-${Y}-$X-${Y}-$1-${}-$", "B": "${X"}, got)
}
