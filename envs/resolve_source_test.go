package envs

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sourceOf makes an sdist.
func sourceOf(t testing.TB, name, version string, files map[string]string) (string, []byte) {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for path, text := range files {
		require.NoError(t, w.WriteHeader(&tar.Header{Name: name + "-" + version + "/" + path, Mode: 0o644, Size: int64(len(text))}))
		_, err := w.Write([]byte(text))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	require.NoError(t, z.Close())
	return name + "-" + version + ".tar.gz", b.Bytes()
}

// ownBackend is a package that brings the code that builds it: it leaves a file wherever it can, and tells in its metadata that it ran.
func ownBackend(t testing.TB, folders ...string) (string, []byte) {
	return sourceOf(t, "klsource", "1.0", map[string]string{
		"PKG-INFO":       "Metadata-Version: 2.1\nName: klsource\nVersion: 1.0\n",
		"pyproject.toml": "[build-system]\nrequires = []\nbuild-backend = 'backend'\nbackend-path = ['.']\n[project]\nname = 'klsource'\ndynamic = ['version', 'dependencies']\n",
		"backend.py": fmt.Sprintf(`import os
def prepare_metadata_for_build_wheel(to, config=None):
    for folder in %s:
        try:
            open(os.path.join(folder, 'canary'), 'w').close()
        except OSError:
            pass
    info = 'klsource-1.0.dist-info'
    os.mkdir(os.path.join(to, info))
    with open(os.path.join(to, info, 'METADATA'), 'w') as f:
        f.write('Metadata-Version: 2.1\nName: klsource\nVersion: 1.0\nRequires-Dist: klleaf\n')
    return info
def build_wheel(to, config=None, metadata=None):
    raise SystemExit('not asked for')
`, pyList(folders)),
	})
}

func pyList(texts []string) string {
	s := "["
	for _, t := range texts {
		s += fmt.Sprintf("%q, ", t)
	}
	return s + "]"
}

func TestSourceIsPlannedWhenAllowedAndReachesNothing(t *testing.T) {
	p := newDesk(t)
	cache, err := p.uvCache()
	require.NoError(t, err)
	folders := []string{cache, filepath.Dir(cache), p.Work, p.base, p.env.Dir(), p.env.site(), p.env.Current()}
	p.index.put(ownBackend(t, folders...))
	_, err = p.ask(Request{Add: []string{"klsource"}})
	require.ErrorContains(t, err, "klsource is published only as source code: there is no wheel")

	before := pathsBelow(t, cache)
	plan, err := p.ask(Request{Add: []string{"klsource"}, AllowSource: true})
	require.NoError(t, err)
	require.Len(t, plan.Files, 2)
	assert.Equal(t, "klleaf", plan.Files[0].Name, "its code ran: nothing else says that it needs this")
	assert.False(t, plan.Files[0].Source)
	assert.True(t, plan.Files[1].Source)
	assert.Equal(t, "klsource-1.0.tar.gz", plan.Files[1].Filename)
	assert.Nil(t, plan.Files[1].Requires)
	for _, f := range folders {
		assert.NoFileExists(t, filepath.Join(f, "canary"))
	}
	assert.Equal(t, before, pathsBelow(t, cache), "what source code may have written is not kept")
}

func pathsBelow(t *testing.T, dir string) (list []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(p string, _ fs.DirEntry, err error) error {
		list = append(list, p)
		return err
	}))
	return list
}

func TestWhatABuildNeedsIsNamed(t *testing.T) {
	p := newDesk(t)
	p.index.put(sourceOf(t, "klsource", "1.0", map[string]string{
		"PKG-INFO": "Metadata-Version: 2.1\nName: klsource\nVersion: 1.0\n", "setup.py": "from setuptools import setup\nsetup(name='klsource', version='1.0')\n",
	}))
	_, err := p.ask(Request{Add: []string{"klsource"}, AllowSource: true})
	var re *ResolveError
	require.ErrorAs(t, err, &re)
	assert.ErrorContains(t, err, "setuptools")
	assert.NotContains(t, err.Error(), "\n")
}
