package envs

import (
	"archive/zip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// one reads a site folder and returns its packages by name.
func one(t *testing.T, dir string, more ...folder) map[string]Package {
	t.Helper()
	list, _, err := readPath(append([]folder{{dir, OwnerEnv}}, more...), Interpreter{Version: "3.11.2"})
	require.NoError(t, err)
	byName := map[string]Package{}
	for _, p := range list {
		byName[p.Name] = p
	}
	require.Len(t, byName, len(list))
	return byName
}

func TestEachShapeOfADistribution(t *testing.T) {
	for _, c := range []struct{ what, file, content, name, version, broken string }{
		{"dist-info", "Foo_Bar-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: Foo.Bar\nVersion: 1.0\n\nVersion: 9\n", "foo-bar", "1.0", ""},
		{"egg-info folder", "lz4-4.0.2+dfsg-py3.11.egg-info/PKG-INFO", "Name: lz4\nVersion: 4.0.2+dfsg\n", "lz4", "4.0.2+dfsg", ""},
		{"egg-info file", "six-1.16.0-py3.11.egg-info", "Name: six\nVersion: 1.16.0\n", "six", "1.16.0", ""},
		{"egg-info without version in its name", "cryptography.egg-info/PKG-INFO", "Name: cryptography\nVersion: 38.0.4\n", "cryptography", "38.0.4", ""},
		{"CRLF and a BOM", "a-1.dist-info/METADATA", "\ufeffName: a\r\nVersion: 1\r\n\r\nbody", "a", "1", ""},
		{"keys in other letters", "a-1.dist-info/METADATA", "NAME: a\nvErSiOn: 1\n", "a", "1", ""},
		{"Latin-1", "a-1.dist-info/METADATA", "Author: J\xfcrgen\nName: a\nVersion: 1\n", "a", "1", ""},
		{"Latin-1 in the version", "a-1.dist-info/METADATA", "Name: a\nVersion: 1\xfc\n", "a", `1\xfc`, ""},
		{"a continuation line", "a-1.dist-info/METADATA", "Name: a\nSummary: x\n Version: 7\nVersion: 1\n", "a", "1", ""},
		{"the first of two", "a-1.dist-info/METADATA", "Name: a\nVersion: 1\nVersion: 2\n", "a", "1", ""},
		{"a long header", "a-1.dist-info/METADATA", "Name: a\nLicense: " + strings.Repeat("x", 9000) + "\nVersion: 1\n", "a", "1", ""},
		{"an empty folder", "a_b-1.2.dist-info/", "", "a-b", "1.2", "no metadata"},
		{"no name", "a-1.dist-info/METADATA", "Version: 1\n", "a", "1", "names no distribution"},
		{"a name that is none", "a-1.dist-info/METADATA", "Name: -x-\nVersion: 1\n", "a", "1", "names no distribution"},
		{"no version", "a-1.dist-info/METADATA", "Name: a\n", "a", "1", "no version"},
		{"an empty file", "a-1.dist-info/METADATA", "", "a", "1", "names no distribution"},
		{"a folder in the place of METADATA", "a-1.dist-info/METADATA/x", "", "a", "1", "cannot be read"},
		{"an egg", "a-1-py3.11.egg/EGG-INFO/PKG-INFO", "Name: a\nVersion: 1\n", "", "", ""},
		{"an interrupted uninstall", "~umpy-1.0.dist-info/METADATA", "Name: numpy\nVersion: 1.0\n", "", "", ""},
		{"an egg-link", "a.egg-link", "/src/a\n.", "", "", ""},
		{"a name that is all suffix", ".dist-info/METADATA", "Name: a\nVersion: 1\n", "", "", ""},
	} {
		t.Run(c.what, func(t *testing.T) {
			dir := t.TempDir()
			if strings.HasSuffix(c.file, "/") {
				require.NoError(t, os.MkdirAll(filepath.Join(dir, c.file), 0o755))
			} else {
				write(t, filepath.Join(dir, c.file), c.content)
			}
			got := one(t, dir)
			if c.name == "" {
				assert.Empty(t, got)
				return
			}
			p, ok := got[c.name]
			require.True(t, ok, "%v", got)
			assert.Equal(t, c.version, p.Version)
			assert.Equal(t, OwnerEnv, p.Owner)
			if c.broken == "" {
				assert.Empty(t, p.Broken)
			} else {
				assert.Contains(t, p.Broken, c.broken)
			}
		})
	}
}

func TestTheFirstFolderWins(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	write(t, filepath.Join(first, "A_b-2.dist-info", "METADATA"), "Name: A_b\nVersion: 2\n")
	write(t, filepath.Join(second, "a.b-1.dist-info", "METADATA"), "Name: a.b\nVersion: 1\n")
	write(t, filepath.Join(second, "c-1.dist-info", "METADATA"), "Name: c\nVersion: 1\n")
	got := one(t, first, folder{second, OwnerBase}, folder{second + "/", OwnerEnv})
	assert.Equal(t, "2", got["a-b"].Version)
	assert.Equal(t, OwnerEnv, got["a-b"].Owner)
	assert.False(t, got["a-b"].Ambiguous)
	assert.Equal(t, OwnerBase, got["c"].Owner)
}

func TestTwoDescriptionsInOneFolder(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "cryptography-38.0.4.dist-info", "METADATA"), "Name: cryptography\nVersion: 38.0.4\n")
	write(t, filepath.Join(dir, "cryptography.egg-info", "PKG-INFO"), "Name: cryptography\nVersion: 37\n")
	write(t, filepath.Join(dir, "x-2.dist-info", "METADATA"), "Name: x\nVersion: 2\n")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "x-3.dist-info"), 0o755))
	got := one(t, dir)
	assert.Equal(t, "38.0.4", got["cryptography"].Version)
	assert.True(t, got["cryptography"].Ambiguous)
	assert.Equal(t, "2", got["x"].Version, "what can be read goes before what is broken")
}

func TestFoldersThatAPthFileAdds(t *testing.T) {
	dir, src := t.TempDir(), t.TempDir()
	write(t, filepath.Join(src, "edit.egg-info", "PKG-INFO"), "Name: edit\nVersion: 0.1\n")
	write(t, filepath.Join(dir, "easy-install.pth"), "# comment\n\n"+src+"\n./packed-1.egg\nsub-1.egg  \nno/such\n")
	write(t, filepath.Join(dir, "sub-1.egg", "EGG-INFO", "PKG-INFO"), "Name: sub\nVersion: 1\n")
	zipped(t, filepath.Join(dir, "packed-1.egg"), "EGG-INFO/PKG-INFO", "Name: packed\nVersion: 1\n")
	got := one(t, dir)
	assert.Equal(t, "0.1", got["edit"].Version)
	assert.Equal(t, src, got["edit"].Folder)
	assert.Equal(t, "1", got["packed"].Version)
	assert.Equal(t, "1", got["sub"].Version)
	assert.Len(t, got, 3)
}

func zipped(t *testing.T, path, name, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644)
	require.NoError(t, err)
	z := zip.NewWriter(f)
	w, err := z.Create(name)
	require.NoError(t, err)
	_, err = w.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	require.NoError(t, f.Close())
}

func TestHooks(t *testing.T) {
	dir, base := t.TempDir(), t.TempDir()
	write(t, filepath.Join(dir, "plain.pth"), "some/folder\nimportlib_metadata_is_a_folder\n")
	write(t, filepath.Join(dir, "worm.pth"), "some/folder\nimport os; os.system('x')\n")
	write(t, filepath.Join(dir, "tab.pth"), "import\tos\n")
	write(t, filepath.Join(dir, ".hidden.pth"), "import os\n")
	write(t, filepath.Join(dir, "entry.start"), "pkg:main\n")
	write(t, filepath.Join(base, "sitecustomize.py"), "")
	write(t, filepath.Join(base, "usercustomize", "__init__.py"), "")
	require.NoError(t, os.Symlink("/no/such/file", filepath.Join(dir, "sitecustomize.py")))
	sites := []folder{{dir, OwnerEnv}, {base, OwnerBase}}
	seen := func(version string) (list []string) {
		_, hooks, err := readPath(sites, Interpreter{Version: version})
		require.NoError(t, err)
		for _, h := range hooks {
			assert.Len(t, h.SHA256, 64, h.Path)
			list = append(list, h.Owner+" "+h.Kind+" "+h.Name)
		}
		return list
	}
	shown := []string{"env pth tab.pth", "env pth worm.pth", "env start entry.start", "base sitecustomize sitecustomize.py", "base usercustomize usercustomize/__init__.py"}
	assert.Equal(t, append([]string{"env pth .hidden.pth"}, shown...), seen("3.12.9"))
	assert.Equal(t, shown, seen("3.13.0"), "hidden files are skipped since 3.13")
}

func TestTheStandardLibrarysSitecustomizeIsAHookOfEveryEnvironment(t *testing.T) {
	std := t.TempDir()
	write(t, filepath.Join(std, "sitecustomize.py"), "pass\n")
	_, hooks, err := readPath([]folder{{t.TempDir(), OwnerEnv}}, Interpreter{Version: "3.11.2", Stdlib: std})
	require.NoError(t, err)
	require.Len(t, hooks, 1)
	assert.Equal(t, filepath.Join(std, "sitecustomize.py"), hooks[0].Path)
	assert.Equal(t, OwnerBase, hooks[0].Owner)
}

func TestAFolderThatCannotBeReadHidesNoOther(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	write(t, file, "")
	write(t, filepath.Join(dir, "ok", "a-1.dist-info", "METADATA"), "Name: a\nVersion: 1\n")
	list, _, err := readPath([]folder{{file, OwnerEnv}, {filepath.Join(dir, "ok"), OwnerBase}, {filepath.Join(dir, "none"), OwnerBase}}, Interpreter{})
	require.ErrorContains(t, err, file)
	assert.Equal(t, []string{"a"}, names(list))
}

func TestNormalName(t *testing.T) {
	for in, want := range map[string]string{"Foo": "foo", "a__b-.c": "a-b-c", "six": "six", "PyYAML": "pyyaml", "zope.interface": "zope-interface", "x2": "x2"} {
		assert.Equal(t, want, normalName(in))
	}
}

func FuzzHeader(f *testing.F) {
	f.Add([]byte("Name: a\nVersion: 1\n\nbody"), 3)
	f.Add([]byte("\xef\xbb\xbfName:\r\n \t x\nVersion"), 1)
	f.Fuzz(func(t *testing.T, data []byte, cut int) {
		whole, _ := parseHeader(data, []string{"name", "version"}, true)
		if cut >= 0 && cut <= len(data) {
			part, done := parseHeader(data[:cut], []string{"name", "version"}, false)
			if done {
				for k, v := range part {
					assert.Equal(t, whole[k], v, "an answer that was final changed with more text")
				}
			}
		}
		for _, v := range whole {
			assert.NotContains(t, v, "\n")
		}
	})
}

// The bar is 60 ms for 2,000 distributions.
func BenchmarkPackages2000(b *testing.B) {
	dir := b.TempDir()
	for i := range 2000 {
		info := filepath.Join(dir, fmt.Sprintf("pkg_%d-1.%d.dist-info", i, i))
		write(b, filepath.Join(info, "METADATA"), fmt.Sprintf("Metadata-Version: 2.1\nName: pkg-%d\nVersion: 1.%d\n\n%s", i, i, strings.Repeat("text ", 1300)))
		write(b, filepath.Join(info, "RECORD"), "")
		write(b, filepath.Join(dir, fmt.Sprintf("pkg_%d", i), "__init__.py"), "")
	}
	for b.Loop() {
		list, _, err := readPath([]folder{{dir, OwnerEnv}}, Interpreter{Version: "3.11.2"})
		if err != nil || len(list) != 2000 {
			b.Fatal(len(list), err)
		}
	}
}
