package envs

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/restart"
)

func TestPlanAndApplyWithUV(t *testing.T) {
	x := newIndex(t)
	for _, v := range []string{"1.0", "2.0"} {
		x.put(wheel(t, "num", v, nil, nil))
	}
	x.put(wheel(t, "move", "1.0", []string{"num>=2"}, nil))
	x.put(wheel(t, "leaf", "1.0", nil, map[string]string{
		"leaf/__init__.py": "def main(): print('leaf')\n", "leaf-1.0.dist-info/entry_points.txt": "[console_scripts]\nleaf-tool = leaf:main\n",
		"leaf-1.0.data/data/share/leaf/data.txt": "data", "leaf-1.0.data/scripts/leaf-script": "#!python\nimport leaf\nleaf.main()\n",
	}))
	s := newStore(t)
	s.UV, s.Index = realUV(t), IndexSettings{URL: x.simple()}
	e := library(t, s, "a")
	do := func(r Request) *Result {
		p, err := s.Prepare(t.Context(), "a", r)
		require.NoError(t, err)
		got, err := s.Apply(t.Context(), p)
		require.NoError(t, err)
		assert.Equal(t, p.Additive, got.Additive)
		return got
	}
	r := do(Request{Add: []string{"num==1.0", "leaf"}})
	assert.True(t, r.InPlace)
	all := everything(t, e.Tree())
	assert.Equal(t, "data", all["share/leaf/data.txt"])
	for _, program := range []string{"bin/leaf-tool", "bin/leaf-script"} {
		assert.True(t, strings.HasPrefix(all[program], "#!"+e.python(e.Current())+"\n"), "%s: %q", program, all[program])
	}
	var said tail
	said.max = 1 << 10
	require.NoError(t, bubblewrap(t.Context(), Tool{Argv: []string{filepath.Join(e.Current(), "bin", "leaf-tool")}, Dir: "/", ReadOnly: []Bind{{e.Tree(), e.Current()}}, Stdout: &said}))
	assert.Equal(t, "leaf\n", said.String())
	assert.NoFileExists(t, filepath.Join(e.Tree(), ".lock"))

	r = do(Request{Add: []string{"move"}})
	assert.False(t, r.InPlace)
	assert.Equal(t, 2, r.Generation)
	assert.Equal(t, []restart.Change{{Name: "move", To: "1.0", Class: restart.Added, ToOwner: OwnerEnv}, {Name: "num", From: "1.0", To: "2.0", Class: restart.Changed, ToOwner: OwnerEnv}}, bare4(r.Changes))

	r = do(Request{Remove: []string{"leaf"}})
	assert.NoFileExists(t, filepath.Join(r.Environment.Tree(), "bin", "leaf-tool"))
	assert.NoDirExists(t, filepath.Join(r.Environment.Tree(), "share", "leaf"))
	h, err := r.Environment.History()
	require.NoError(t, err)
	assert.Len(t, h, 3)
}

func TestAnIndexThatNowServesOtherBytesIsNotBelieved(t *testing.T) {
	x := newIndex(t)
	x.put(wheel(t, "leaf", "1.0", nil, nil))
	s := newStore(t)
	s.UV, s.Index = realUV(t), IndexSettings{URL: x.simple()}
	e := library(t, s, "a")
	p, err := s.Prepare(t.Context(), "a", Request{Add: []string{"leaf"}})
	require.NoError(t, err)
	x.put(wheel(t, "leaf", "1.0", nil, map[string]string{"leaf/__init__.py": "evil\n"}))
	require.NoError(t, os.RemoveAll(filepath.Join(s.Work, "uv")))
	_, err = s.Apply(t.Context(), p)
	var ie *InstallError
	require.ErrorAs(t, err, &ie)
	assert.ErrorContains(t, err, "ash")
	assert.NoDirExists(t, filepath.Join(e.Tree(), siteRel, "leaf"))
	left, err := os.ReadDir(filepath.Join(s.Work, "stage"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

// create takes the way of every install: planned, checked by hash, without pip.
func TestCreateWithUV(t *testing.T) {
	x := kernelIndex(t)
	s := newStore(t)
	s.UV, s.Index = realUV(t), IndexSettings{URL: x.simple()}
	e, err := s.Create(t.Context(), CreateOptions{Name: "a", Python: systemPython, Isolated: true})
	require.NoError(t, err)
	require.Len(t, e.Owned, 2)
	assert.Equal(t, "ipykernel", e.Owned[0].Name)
	assert.Len(t, e.Owned[0].SHA256, 64)
	assert.Equal(t, []string{"ipykernel"}, e.Requested)
	bytecodeIsValid(t, e)
	h, err := e.History()
	require.NoError(t, err)
	require.Len(t, h, 1)
	assert.Len(t, h[0].Changes, 2)
	snap, err := e.Snapshot()
	require.NoError(t, err)
	require.NoError(t, e.verify(snap))
}

const tinyBackend = `
import base64, hashlib, os, zipfile

def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    HARM
    info = "src-1.0.dist-info/"
    files = {"src.py": b"X = 1\n", info + "METADATA": b"Metadata-Version: 2.1\nName: src\nVersion: 1.0\n", info + "WHEEL": b"Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    record = "".join("%s,sha256=%s,%d\n" % (k, base64.urlsafe_b64encode(hashlib.sha256(v).digest()).rstrip(b"=").decode(), len(v)) for k, v in files.items())
    files[info + "RECORD"] = (record + info + "RECORD,,\n").encode()
    name = "src-1.0-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w") as z:
        for k, v in files.items():
            z.writestr(k, v)
    return name
`

func builtSource(t testing.TB, harm string) []byte {
	t.Helper()
	var b bytes.Buffer
	g := gzip.NewWriter(&b)
	w := tar.NewWriter(g)
	for name, text := range map[string]string{
		"PKG-INFO": "Metadata-Version: 2.1\nName: src\nVersion: 1.0\n", "backend.py": strings.Replace(tinyBackend, "HARM", harm, 1),
		"pyproject.toml": "[build-system]\nrequires = []\nbuild-backend = \"backend\"\nbackend-path = [\".\"]\n[project]\nname = \"src\"\nversion = \"1.0\"\n",
	} {
		require.NoError(t, w.WriteHeader(&tar.Header{Name: "src-1.0/" + name, Mode: 0o644, Size: int64(len(text))}))
		_, err := w.Write([]byte(text))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	require.NoError(t, g.Close())
	return b.Bytes()
}

// What has to be built runs code. It can write to its own stage alone, and what it plants there does not get in.
func TestASourcePackage(t *testing.T) {
	for what, c := range map[string]struct{ harm, refused string }{
		"an honest one":                   {"pass", ""},
		"one that writes into the cache":  {`open(os.environ["KL_CACHE"] + "/evil", "w")`, "No such file"},
		"one that plants in its stage":    {`open(os.path.realpath("CURRENT/lib/python3.11/site-packages") + "/evil.pth", "w").write("import os\n")`, "evil.pth"},
		"one that takes the interpreter":  {`os.unlink("CURRENT/bin/python3"); os.symlink("/tmp/x", "CURRENT/bin/python3")`, "bin/python3"},
		"one that reaches into the store": {`open("STORE/evil", "w")`, "Read-only file system"},
	} {
		t.Run(what, func(t *testing.T) {
			x := newIndex(t)
			s := newStore(t)
			s.UV, s.Index = realUV(t), IndexSettings{URL: x.simple()}
			e := library(t, s, "a")
			cache, err := s.uvCache()
			require.NoError(t, err)
			harm := strings.NewReplacer("CURRENT", e.Current(), "STORE", s.Root, `os.environ["KL_CACHE"]`, `"`+cache+`"`).Replace(c.harm)
			x.put("src-1.0.tar.gz", builtSource(t, harm))
			_, err = s.Prepare(t.Context(), "a", Request{Add: []string{"src"}})
			require.Error(t, err, "nothing is built that was not asked to be")
			p, err := s.Prepare(t.Context(), "a", Request{Add: []string{"src"}, AllowSource: true})
			require.NoError(t, err)
			before := everything(t, e.Tree())
			_, err = s.Apply(t.Context(), p)
			assert.NoFileExists(t, filepath.Join(cache, "evil"))
			assert.NoFileExists(t, filepath.Join(s.Root, "evil"))
			// A store below /tmp: the sandbox's own /tmp has a folder of that name, and what is written there is thrown away.
			thrownAway := strings.Contains(harm, s.Root+"/evil") && strings.HasPrefix(s.Root, "/tmp/")
			if c.refused == "" || thrownAway {
				require.NoError(t, err)
				assert.FileExists(t, filepath.Join(e.Tree(), siteRel, "src.py"))
				return
			}
			require.ErrorContains(t, err, c.refused)
			assert.Equal(t, before, everything(t, e.Tree()))
		})
	}
}
