package envs

import (
	"archive/zip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestVersionsOfStubs(t *testing.T) {
	for version, want := range map[string]string{
		"1.0": "1.0", "1.0-1": "1.0.post1", "1.0-debian": "1.0+debian", "2004d": "2004+d", "unknown": "0+unknown", "4.0.2+dfsg": "4.0.2+dfsg", "1.6.3+git20221103.a2a3328": "1.6.3+git20221103.a2a3328",
		"": "0", "1.2.3~rc1": "1.2.3+rc1", "v2.0-x_y!": "2.0+x.y", "…": "0", "1.0 beta/2": "1.0+beta.2",
	} {
		assert.Equal(t, want, stubVersion(version), "%q", version)
		_, ok := parsePyVersion(stubVersion(version))
		assert.True(t, ok)
	}
}

func seen(t *testing.T, dir string) scenery {
	t.Helper()
	list, _, err := readPath([]folder{{dir, OwnerEnv}}, Interpreter{Version: "3.11.2"})
	require.NoError(t, err)
	return scenery{packages: readVisibles(list), env: Interpreter{Version: "3.11.2", Implementation: "cpython", Platform: "linux-x86_64"}.markers()}
}

func TestWhatAStubSays(t *testing.T) {
	d := t.TempDir()
	write(t, filepath.Join(d, "Big.One-1.0-debian.dist-info", "METADATA"), `Metadata-Version: 2.1
Name: Big.One
Version: 1.0-debian
Requires-Python: >=3.99
Provides-Extra: More
Requires-Dist: small>=1
Requires-Dist: small>=9
Requires-Dist: gone
Requires-Dist: far @ https://x.test/far.whl
Requires-Dist: not a requirement
Requires-Dist: gone ; extra == 'more'
Requires-Dist: small ; python_version < '3'

Requires-Dist: body
`)
	write(t, filepath.Join(d, "small-1.5-py3.11.egg-info", "PKG-INFO"), "Name: small\nVersion: 1.5\n")
	write(t, filepath.Join(d, "small-1.5-py3.11.egg-info", "requires.txt"), "big-one\n\n[x:python_version>'3']\ngone>=2\n\n[:sys_platform=='win32']\nwindows\n")
	v := seen(t, d)
	assert.Equal(t, "Metadata-Version: 2.1\nName: big-one\nVersion: 1.0+debian\nProvides-Extra: more\nRequires-Dist: small>=1\nRequires-Dist: gone ; extra == 'more'\n", v.stubOf("big-one").metadata)
	assert.Equal(t, "Metadata-Version: 2.1\nName: small\nVersion: 1.5\nProvides-Extra: x\nRequires-Dist: big-one\nRequires-Dist: gone>=2 ; python_version > '3' and extra == 'x'\n", v.stubOf("small").metadata)
	assert.Equal(t, []string{"big-one"}, v.dependants(map[string]bool{"small": true}))
}

func TestAStubIsAWheelAndAlwaysTheSame(t *testing.T) {
	d := t.TempDir()
	s := stub{"a-b", "1.0", "a_b-1.0", "Name: a-b\n"}
	x, y := filepath.Join(d, "x"), filepath.Join(d, "y")
	require.NoError(t, s.write(x))
	require.NoError(t, s.write(y))
	one, err := os.ReadFile(x)
	require.NoError(t, err)
	two, err := os.ReadFile(y)
	require.NoError(t, err)
	assert.Equal(t, one, two)
	z, err := zip.OpenReader(x)
	require.NoError(t, err)
	defer z.Close()
	f, err := z.Open("a_b-1.0.dist-info/METADATA")
	require.NoError(t, err)
	text, err := io.ReadAll(f)
	require.NoError(t, err)
	assert.Equal(t, s.metadata, string(text))
	assert.Error(t, s.write(x), "nothing is written over")
}

func TestNamesThatStayOut(t *testing.T) {
	d := t.TempDir()
	write(t, filepath.Join(d, "good-1.dist-info", "METADATA"), "Name: good\nVersion: 1\n")
	write(t, filepath.Join(d, "bad name-1.dist-info", "METADATA"), "Name: bad name\nVersion: 1\n")
	write(t, filepath.Join(d, "evil-1.dist-info", "METADATA"), "Name: evil\\n @ file:///x\nVersion: 1\n")
	require.NoError(t, os.Mkdir(filepath.Join(d, "empty-1.dist-info"), 0o755))
	assert.Equal(t, []string{"good"}, seen(t, d).names())
}

func TestWhatWasCompiledAgainstNumpy(t *testing.T) {
	d := t.TempDir()
	write(t, filepath.Join(d, "numpy-1.24.2.dist-info", "METADATA"), "Name: numpy\nVersion: 1.24.2\n")
	for name, content := range map[string]string{"uses": "\x7fELF numpy.core.multiarray _ARRAY_API", "plain": "\x7fELF"} {
		write(t, filepath.Join(d, name+"-1.dist-info", "METADATA"), "Name: "+name+"\nVersion: 1\n")
		write(t, filepath.Join(d, name+"-1.dist-info", "RECORD"), name+"/ext.so,,\n../outside.so,,\n")
		write(t, filepath.Join(d, name, "ext.so"), content)
	}
	write(t, filepath.Join(d, "egg-1.egg-info", "PKG-INFO"), "Name: egg\nVersion: 1\n")
	write(t, filepath.Join(d, "egg-1.egg-info", "top_level.txt"), "eggmod\n../x\n")
	write(t, filepath.Join(d, "eggmod", "deep", "ext.so"), "_ARRAY_API")
	v := seen(t, d)
	assert.Equal(t, []string{"egg", "uses"}, compiledAgainst1(v.packages, []string{".so"}))

	s := &Store{Cache: private(t)}
	in := Interpreter{ExtensionSuffixes: []string{".so"}}
	v.compiled = s.compiledNames(v.packages, in)
	assert.Contains(t, v.stubOf("uses").metadata, "Requires-Dist: numpy<2\n")
	assert.NotContains(t, v.stubOf("plain").metadata, "numpy")
	require.NoError(t, os.RemoveAll(filepath.Join(d, "eggmod")))
	assert.Equal(t, v.compiled, s.compiledNames(v.packages, in), "it is kept")
	write(t, filepath.Join(d, "numpy-2.0.dist-info", "METADATA"), "Name: numpy\nVersion: 2.0\n")
	require.NoError(t, os.RemoveAll(filepath.Join(d, "numpy-1.24.2.dist-info")))
	assert.Empty(t, s.compiledNames(seen(t, d).packages, in), "the others cannot have been compiled against another major version and work")
}

func TestBestTags(t *testing.T) {
	at := func(platform, version, flags string, glibc int) string {
		return Interpreter{Implementation: "cpython", Platform: platform, Version: version, ABIFlags: flags}.bestTag(glibc)
	}
	assert.Equal(t, "cp311-cp311-manylinux_2_36_x86_64", at("linux-x86_64", "3.11.2", "", 36))
	assert.Equal(t, "cp313-cp313t-manylinux_2_17_aarch64", at("linux-aarch64", "3.13.0", "t", 17))
	assert.Equal(t, "cp311-cp311-win_amd64", at("win-amd64", "3.11.2", "", 0))
	assert.True(t, strings.HasPrefix(at("linux-x86_64", "3.11.2", "", 0), "cp311-cp311-musllinux_1_1_x86_64."))
	assert.True(t, strings.HasPrefix(at("macosx-11.0-arm64", "3.11.2", "", 0), "cp311-cp311-macosx_11_0_arm64."))
	assert.Equal(t, anyTag, Interpreter{Implementation: "pypy", Platform: "linux-x86_64"}.bestTag(36))
	assert.Equal(t, 36, symbolMinor([]byte("\x00GLIBC_2.2.5\x00GLIBC_2.36\x00GLIBC_2.4\x00")))
	assert.Equal(t, 0, symbolMinor([]byte("musl")))
}
