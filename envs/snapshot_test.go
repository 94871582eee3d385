package envs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/restart"
)

func dist(t testing.TB, site, name, version, record string, headers ...string) {
	t.Helper()
	info := filepath.Join(site, name+"-"+version+".dist-info")
	write(t, filepath.Join(info, "METADATA"), "Metadata-Version: 2.1\nName: "+name+"\nVersion: "+version+"\n"+strings.Join(append(headers, ""), "\n")+"\nbody\nRequires-Dist: not-this\n")
	write(t, filepath.Join(info, "RECORD"), record)
}

func packages(s restart.Snapshot) map[string]restart.Package {
	all := map[string]restart.Package{}
	for _, p := range s.Packages {
		all[p.Name] = p
	}
	return all
}

func TestASnapshotSaysWhatAKernelCouldImport(t *testing.T) {
	s := newStore(t)
	e := library(t, s, "a")
	base := t.TempDir()
	e.Mode, e.Interpreter.SitePackages = Inherit, []string{base}
	require.NoError(t, writeManifest(e))
	site := e.site()
	dist(t, site, "Num_py", "1.0", strings.Join([]string{
		"numpy/__init__.py,sha256=a,1", "numpy/core/x.py,sha256=b,2", "numpy.libs/lib.so,sha256=c,3", "_fast.cpython-311-x86_64-linux-gnu.so,sha256=d,4", "_stable.abi3.so,sha256=d,4",
		"../../../bin/f2py,sha256=e,5", "numpy/__pycache__/__init__.cpython-311.pyc,,", "Num_py-1.0.dist-info/RECORD,,", "Num_py-1.0.dist-info/METADATA,sha256=f,6", `"odd,name.py",sha256=0,7`,
	}, "\n")+"\n", "Requires-Dist: six>=1", "requires-dist: extra ; extra == 'x'")
	dist(t, site, "google-one", "1", "google/one/__init__.py,,\ngoogle/deep/er/mod.py,,\ngoogle/data/x.txt,,\n")
	dist(t, site, "hook", "2", "hook.py,,\nhook.pth,,\n")
	write(t, filepath.Join(site, "hook.pth"), "import hook\n")
	write(t, filepath.Join(site, "left", "over.py"), "")
	write(t, filepath.Join(site, "single.py"), "")
	write(t, filepath.Join(site, "data", "x.txt"), "")
	dist(t, base, "num-py", "0.9", "numpy/__init__.py,,\n")
	write(t, filepath.Join(base, "six-1.16.0.egg-info"), "Name: six\nVersion: 1.16.0\n")
	write(t, filepath.Join(base, "six.py"), "")
	write(t, filepath.Join(base, "bs4.egg-info", "PKG-INFO"), "Name: bs4\nVersion: 4\n")
	write(t, filepath.Join(base, "bs4.egg-info", "top_level.txt"), "bs4\nbs4/builder\n")

	got, err := e.Snapshot()
	require.NoError(t, err)
	current := filepath.Join(e.Current(), siteRel)
	assert.Equal(t, "cpython 3.11.2 "+systemPython, got.Interpreter)
	assert.Equal(t, []string{current, base}, got.Path)
	assert.Equal(t, []string{"left", "single"}, got.Orphans)
	require.Len(t, got.Hooks, 1)
	assert.Equal(t, restart.Hook{Name: "hook.pth", Path: filepath.Join(current, "hook.pth"), SHA256: got.Hooks[0].SHA256, Owner: "hook"}, got.Hooks[0])
	all := packages(got)
	num := all["num-py"]
	assert.Equal(t, "1.0", num.Version)
	assert.Equal(t, OwnerEnv, num.Owner)
	assert.Equal(t, current, num.Folder)
	assert.Equal(t, []string{"_fast", "_stable", "numpy"}, num.Modules)
	assert.Equal(t, []string{"six>=1", "extra ; extra == 'x'"}, num.Requires)
	assert.ElementsMatch(t, []string{"numpy/__init__.py", "numpy/core/x.py", "numpy.libs/lib.so", "_fast.cpython-311-x86_64-linux-gnu.so", "_stable.abi3.so", "odd,name.py"}, num.Files)
	assert.True(t, all["hook"].Hooks)
	assert.Equal(t, []string{"google/deep/er/mod", "google/one"}, all["google-one"].Modules)
	assert.Equal(t, []string{"google", "google/deep", "google/deep/er"}, all["google-one"].Namespaces)
	assert.Equal(t, []string{"six"}, all["six"].Modules)
	assert.Equal(t, OwnerBase, all["six"].Owner)
	assert.Nil(t, all["six"].Files)
	assert.Equal(t, []string{"bs4", "bs4/builder"}, all["bs4"].Modules)
}

func fingerprintOf(record string) string {
	var r factReader
	var f distFacts
	r.record(&f, "x-1.dist-info", []byte(record))
	return f.fingerprint
}

func TestFingerprintsAreTheSameWhoeverInstalled(t *testing.T) {
	pip := "a/__init__.py,sha256=x,1\na-1.dist-info/INSTALLER,sha256=p,4\na-1.dist-info/METADATA,sha256=m,9\na-1.dist-info/RECORD,,\na-1.dist-info/REQUESTED,sha256=r,0\na/__pycache__/__init__.cpython-311.pyc,,\n../../../bin/a,sha256=q,2\n"
	uv := "a-1.dist-info/METADATA,sha256=m,9\r\na-1.dist-info/INSTALLER,sha256=u,2\r\na/__init__.py,sha256=x,1\r\na-1.dist-info/direct_url.json,sha256=d,7\r\na-1.dist-info/uv_cache.json,sha256=c,7\r\n"
	rebuilt := strings.Replace(pip, "sha256=x", "sha256=y", 1)
	assert.Equal(t, fingerprintOf(pip), fingerprintOf(uv))
	assert.NotEqual(t, fingerprintOf(pip), fingerprintOf(rebuilt))
	vendored := strings.Replace(pip, "a/__init__.py", "a/_vendor/b-1.dist-info/RECORD", 1)
	assert.NotEqual(t, fingerprintOf(vendored), fingerprintOf(strings.Replace(vendored, "sha256=x", "sha256=z", 1)), "a vendored description is content")
}

func TestWithoutARecordTheFilesTimesCount(t *testing.T) {
	s := newStore(t)
	e := library(t, s, "a")
	base := t.TempDir()
	e.Mode, e.Interpreter.SitePackages = Inherit, []string{base}
	write(t, filepath.Join(base, "six-1.16.0.egg-info"), "Name: six\nVersion: 1.16.0\n")
	write(t, filepath.Join(base, "six.py"), "old")
	require.NoError(t, os.Chtimes(filepath.Join(base, "six.py"), modTime, modTime))
	before, err := e.Snapshot()
	require.NoError(t, err)
	write(t, filepath.Join(base, "six.py"), "new")
	after, err := e.Snapshot()
	require.NoError(t, err)
	assert.NotEqual(t, before.Packages[0].Fingerprint, after.Packages[0].Fingerprint)
	changes := restart.Diff(before, after)
	require.Len(t, changes, 1)
	assert.Equal(t, restart.Changed, changes[0].Class)
}

func TestAGenerationLooksTheSameFromInside(t *testing.T) {
	s := newStore(t)
	e := library(t, s, "a")
	install(t, s, e, true, parcelOf(t, "num", "1", nil, nil), parcelOf(t, "hook", "1", nil, map[string]string{"hook.py": "", "hook.pth": "import os\nsub\n", "sub/in_sub.py": ""}))
	before, err := e.Snapshot()
	require.NoError(t, err)
	next, err := e.newGeneration(nil)
	require.NoError(t, err)
	after, err := next.Snapshot()
	require.NoError(t, err)
	assert.Equal(t, before, after)
	assert.Empty(t, restart.Diff(before, after))
	assert.Contains(t, before.Path, filepath.Join(e.Current(), siteRel, "sub"))
	other, err := next.SnapshotOf(e.Tree())
	require.NoError(t, err)
	assert.Equal(t, before, other)
}

func TestTheFoldersOfPthFilesChangeThePath(t *testing.T) {
	s := newStore(t)
	e := library(t, s, "a")
	r := install(t, s, e, true, parcelOf(t, "adds", "1", nil, map[string]string{"adds.pth": "adds_more\nadds_nothing\n", "adds_more/inside.py": ""}))
	assert.Contains(t, r.After.Path, filepath.Join(e.Current(), siteRel, "adds_more"))
	assert.NotContains(t, r.After.Path, filepath.Join(e.Current(), siteRel, "adds_nothing"), "Python leaves out what is not there")
}

func TestOddTreesAreReadAsFarAsTheyCanBe(t *testing.T) {
	s := newStore(t)
	e := library(t, s, "a")
	site := e.site()
	for name, record := range map[string]string{
		"empty": "", "newlines": "\n\n\n", "quotes": "\"\n\"\",\",,,\"a", "nul": "a\x00b.py,,\n", "latin": "caf\xe9.py,,\n", "up": "../../../../../etc/passwd,,\n/etc/shadow,,\n", "slashes": "///,,\n//a.py,,\na//b.py,,\n",
		"deep": strings.Repeat("a/", 2000) + "x.py,,\n", "windows": `win\__init__.py,,` + "\n", "dots": "./x.py,,\n../y.py,,\n", "pycache": "__pycache__/x.pyc,,\n",
	} {
		dist(t, site, name, "1", record)
	}
	require.NoError(t, os.MkdirAll(filepath.Join(site, "recordisdir-1.dist-info", "RECORD"), 0o755))
	require.NoError(t, os.Symlink("/dev/zero", filepath.Join(site, "zero-1.dist-info")))
	require.NoError(t, os.Symlink("nowhere", filepath.Join(site, "dangling")))
	require.NoError(t, os.Symlink(".", filepath.Join(site, "loop")))
	got, err := e.Snapshot()
	require.NoError(t, err)
	all := packages(got)
	assert.Len(t, all, 13)
	assert.Equal(t, []string{"win"}, all["windows"].Modules)
	for _, p := range got.Packages {
		for _, m := range p.Modules {
			assert.NotContains(t, m, "..", p.Name)
		}
	}
	assert.NotEmpty(t, DigestOf(got))
}

func TestASnapshotOfR(t *testing.T) {
	s := newStore(t)
	e := planted(t, s, R, "r")
	write(t, filepath.Join(e.Tree(), "jsonlite", "DESCRIPTION"), "Package: jsonlite\nVersion: 2.0\nDepends: methods\nImports: a (>= 1),\n  b\nPackaged: 2026-01-01\nBuilt: R 4.2.2; ; 2026-01-01; unix\n")
	write(t, filepath.Join(e.Tree(), "jsonlite", "Meta", "package.rds"), "")
	got, err := e.Snapshot()
	require.NoError(t, err)
	require.Len(t, got.Packages, 1)
	p := got.Packages[0]
	assert.Equal(t, []string{"jsonlite"}, p.Modules)
	assert.Equal(t, []string{"methods", "a (>= 1)", "b"}, p.Requires)
	assert.Equal(t, e.Current(), p.Folder)
	write(t, filepath.Join(e.Tree(), "jsonlite", "DESCRIPTION"), "Package: jsonlite\nVersion: 2.0\nBuilt: R 4.2.2; ; 2026-02-02; unix\n")
	again, err := e.Snapshot()
	require.NoError(t, err)
	assert.NotEqual(t, p.Fingerprint, again.Packages[0].Fingerprint)
}

func FuzzRecord(f *testing.F) {
	f.Add("a/__init__.py,sha256=x,1\n\"b,c.py\",,\n")
	f.Add("\"\n\"\"\r\n,,,\n")
	f.Fuzz(func(t *testing.T, text string) {
		r := factReader{view: view{suffixes: moduleSuffixes(nil)}}
		var d distFacts
		r.record(&d, "x-1.dist-info", []byte(text))
		for _, m := range d.modules {
			if strings.HasPrefix(m, "/") || strings.Contains(m, "..") {
				t.Fatalf("module %q of %q", m, text)
			}
		}
	})
}

// The bar is 60 ms for 2,000 distributions on two cores.
func BenchmarkSnapshot2000(b *testing.B) {
	s := &Store{Root: filepath.Join(b.TempDir(), "envs")}
	e := library(b, s, "a")
	site := e.site()
	for i := range 2000 {
		var record strings.Builder
		fmt.Fprintf(&record, "pkg_%d-1.%d.dist-info/RECORD,,\npkg_%d/__init__.py,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0\n", i, i, i)
		for j := range 60 {
			fmt.Fprintf(&record, "pkg_%d/module_number_%02d.py,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,%d\n", i, j, j)
		}
		dist(b, site, fmt.Sprintf("pkg_%d", i), fmt.Sprintf("1.%d", i), record.String(), "Requires-Dist: numpy", "Requires-Dist: six>=1.5", "Description: "+strings.Repeat("text ", 1300))
		write(b, filepath.Join(site, fmt.Sprintf("pkg_%d", i), "__init__.py"), "")
	}
	for b.Loop() {
		got, err := e.Snapshot()
		if err != nil || len(got.Packages) != 2000 {
			b.Fatal(len(got.Packages), err)
		}
	}
}
