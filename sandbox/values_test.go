package sandbox

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSize(t *testing.T) {
	for text, want := range map[string]Size{
		"0": 0, "1": 1, "1023": 1023, "64KiB": 64 << 10, "512MiB": 512 << 20, "1GiB": 1 << 30, "2TiB": 2 << 40, "1536MiB": 1536 << 20,
	} {
		got, err := ParseSize(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got)
		assert.Equal(t, text, got.String())
	}
	for _, bad := range []string{"", "lots", "1GB", "1 GiB", "-1", "+1", "1.5GiB", "GiB", "1gib", "0x10", "1_000", "9223372036854775808", "8388608TiB", " 1", "１GiB"} {
		_, err := ParseSize(bad)
		var e *SizeError
		require.ErrorAs(t, err, &e, bad)
		assert.Equal(t, bad, e.Value)
		assert.Contains(t, err.Error(), bad)
	}
	assert.Equal(t, "9223372036854775807", Size(math.MaxInt64).String())
}

func FuzzSize(f *testing.F) {
	f.Add("1GiB")
	f.Add("18014398509481984KiB")
	f.Fuzz(func(t *testing.T, s string) {
		n, err := ParseSize(s)
		if err != nil {
			return
		}
		again, err := ParseSize(n.String())
		if err != nil || again != n || n < 0 {
			t.Fatalf("%q reads as %d, prints as %q, reads as %d, %v", s, int64(n), n, int64(again), err)
		}
	})
}

func TestSizeInText(t *testing.T) {
	var l Limits
	require.NoError(t, json.Unmarshal([]byte(`{"tmp":"2GiB"}`), &l))
	assert.Equal(t, Size(2<<30), l.Tmp)
	require.Error(t, json.Unmarshal([]byte(`{"tmp":"2GB"}`), &l))
	data, err := json.Marshal(Mount{Kind: MountTmpfs, Target: "/tmp", Size: 64 << 20})
	require.NoError(t, err)
	assert.Contains(t, string(data), `"size":"64MiB"`)
}

func TestNetwork(t *testing.T) {
	for _, n := range []Network{NetworkNone, NetworkAllowlist, NetworkHost} {
		got, err := ParseNetwork(string(n))
		require.NoError(t, err)
		assert.Equal(t, n, got)
	}
	for _, bad := range []string{"", "Host", "hosts", "allow", "deny", "full", " none", "none\n"} {
		_, err := ParseNetwork(bad)
		var e *NetworkError
		require.ErrorAs(t, err, &e)
		assert.Equal(t, bad, e.Value)
	}
	assert.Equal(t, NetworkNone.String(), Network("").String(), "the zero value is the strict one")
}

func TestPolicyIsASentence(t *testing.T) {
	assert.Equal(t, "works in a private folder that is thrown away; no network", Policy{}.String())
	p := Policy{
		Network: NetworkHost, Folder: "/w", Read: []string{"/a", "/b"}, Write: []string{"/c"}, Hide: []string{"/a/x"}, Islands: []string{"/w/env"},
		Limits: Limits{Memory: 2 << 30, Processes: 64, CPUs: 1.5, Tmp: 1 << 20, Shm: 1 << 20},
	}
	assert.Equal(t, "works in /w; the host's network, unfiltered; reads /a, /b; writes /c; hides /a/x; keeps read-only /w/env; "+
		"at most 2GiB of memory, 64 processes, 1.5 CPUs, 1MiB in /tmp, 1MiB of shared memory", p.String())
}

func TestMountsAreSentences(t *testing.T) {
	for want, m := range map[string]Mount{
		"/a is the host's, read-only: why":                      {Kind: MountReadOnly, Source: "/a", Target: "/a"},
		"/b is the host's /a, read-write: why":                  {Kind: MountReadWrite, Source: "/a", Target: "/b"},
		"/t is empty and private, at most 1MiB, mode 1777: why": {Kind: MountTmpfs, Target: "/t", Size: 1 << 20, Mode: 0o1777},
		"/l is a link to usr/bin: why":                          {Kind: MountLink, Source: "usr/bin", Target: "/l"},
		"/f is written for the sandbox, 3 bytes: why":           {Kind: MountFile, Target: "/f", Data: []byte("abc")},
		"/m cannot be opened: why":                              {Kind: MountMask, Target: "/m"},
		"/dev/g is the host's device: why":                      {Kind: MountDevice, Source: "/dev/g", Target: "/dev/g"},
		"/w/.git stays read-only in the writable folder: why":   {Kind: MountReadOnly, Source: "/w/.git", Target: "/w/.git", Island: true},
		"/ becomes read-only: why":                              {Kind: MountSeal, Target: "/"},
		`"/e\x1b[1m" cannot be opened: why`:                     {Kind: MountMask, Target: "/e\x1b[1m"},
	} {
		m.Why = "why"
		assert.Equal(t, want, m.String())
	}
	assert.Equal(t, "text (do this)", Guarantee{Text: "text", Remedy: "do this"}.String())
}

func TestSystemListIsSound(t *testing.T) {
	for _, list := range [][]systemPath{rootPaths, storePaths, etcPaths, procMasked, procRootMasked} {
		for _, p := range list {
			assert.NotEmpty(t, p.Why, p.Pattern)
			assert.True(t, filepath.IsAbs(p.Pattern))
			assert.NotContains(t, []string{"/etc", "/etc/ssl", "/etc/ssl/private", "/run", "/var"}, p.Pattern)
		}
	}
}

func TestObserve(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(base+"/real/sub", 0o755))
	require.NoError(t, os.Symlink(base+"/real", base+"/link"))
	require.NoError(t, os.WriteFile(base+"/real/file", nil, 0o600))
	t.Setenv("HOME", base+"/link")
	t.Setenv("PATH", "relative"+string(filepath.ListSeparator)+base+"/link/sub")
	f, err := Observe(Policy{Folder: base + "/link/sub", Read: []string{base + "/real/file", base + "/gone/x"}, Trees: []Tree{{base, base + "/link/tree"}}})
	require.NoError(t, err)
	assert.Equal(t, Entry{Kind: EntryFolder, Resolved: base + "/real/sub"}, f.Paths[base+"/link/sub"])
	assert.Equal(t, Entry{Kind: EntryFile, Resolved: base + "/real/file"}, f.Paths[base+"/real/file"])
	assert.Equal(t, Entry{Kind: EntryMissing, Resolved: base + "/gone/x"}, f.Paths[base+"/gone/x"])
	assert.Equal(t, base+"/real", f.Paths[base+"/link"].Resolved)
	assert.Contains(t, f.Homes, base+"/real")
	require.NoError(t, os.WriteFile(base+"/real/sub/one", nil, 0o600))
	require.NoError(t, os.WriteFile(base+"/real/sub/two", nil, 0o600))
	if os.Link(base+"/real/sub/two", base+"/elsewhere") == nil && runtime.GOOS != "windows" {
		assert.Equal(t, []string{"two"}, newLook().lint(base+"/real/sub", Entry{}).Linked)
	}
	assert.Equal(t, []string{base + "/real/sub"}, f.Search)
}

func TestBubblewrapIsNotTakenFromWhereAKernelWrites(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for _, d := range []string{"/fixed", "/nb/bin", "/tools"} {
		require.NoError(t, os.MkdirAll(base+d, 0o755))
		require.NoError(t, os.WriteFile(base+d+"/bwrap", nil, 0o755))
	}
	require.NoError(t, os.Mkdir(base+"/links", 0o755))
	require.NoError(t, os.Symlink(base+"/nb/bin/bwrap", base+"/links/bwrap"))
	search := strings.Join([]string{"nb/bin", ".", base + "/nb/bin", base + "/links", base + "/tools"}, string(filepath.ListSeparator))
	nb := []string{base + "/nb"}
	assert.Equal(t, base+"/fixed/bwrap", findBubblewrap([]string{base + "/fixed"}, search, nb))
	assert.Equal(t, base+"/tools/bwrap", findBubblewrap(nil, search, nb))
	assert.Equal(t, base+"/nb/bin/bwrap", findBubblewrap(nil, search, nil), "the control: it is there and would be found")
	require.NoError(t, os.Chmod(base+"/tools/bwrap", 0o644))
	assert.Empty(t, findBubblewrap(nil, search, nb))
}

func TestPlainName(t *testing.T) {
	for _, bad := range []string{"", "a:b", "a\nroot:x:0:0", "a b", "ä", strings.Repeat("x", 65), "#x"} {
		assert.Equal(t, "user", plainName(bad, "user"))
	}
	assert.Equal(t, "ada.l-1", plainName("ada.l-1", "user"))
}

func TestALookFindsWhatEachPathIs(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(base+"/real/sub/deep", 0o755))
	require.NoError(t, os.WriteFile(base+"/real/file", nil, 0o600))
	for name, to := range map[string]string{
		"link": base + "/real", "relative": "real/sub", "chain": "relative", "up": "real/sub/../file", "dangling": "gone/x", "loop": "loop",
		"real/sub/back": "../..", "tofile": "link/file",
	} {
		require.NoError(t, os.Symlink(to, base+"/"+name))
	}
	var paths []string
	for _, p := range []string{
		"", "/real", "/real/file", "/real/file/x", "/link", "/link/", "/link/sub/deep", "/link/file", "/relative/deep", "/chain/deep/..", "/chain/back/link/file",
		"/up", "/dangling", "/dangling/y", "/loop", "/loop/y", "/gone/a/b", "/link/gone", "/link/../real", "/tofile", "/tofile/z", "/chain", "/real/sub/back",
	} {
		paths = append(paths, base+p)
	}
	l := newLook()
	for range 2 { // what is remembered says the same
		for _, p := range append(paths, "/", "/etc", "/proc/self/exe") {
			want := Entry{Kind: EntryMissing, Resolved: resolve(p)}
			info, err := os.Stat(filepath.Clean(p))
			switch {
			case err == nil:
				want.Kind = kindOf(info.Mode())
				want.Link, _ = os.Readlink(filepath.Clean(p))
			case !os.IsNotExist(err):
				want.Fault = reason(err)
			}
			if err != nil {
				want.Link, _ = os.Readlink(filepath.Clean(p)) // one that leads nowhere is one all the same
			}
			assert.Equal(t, want, l.entry(p), p)
			assert.Equal(t, want.Resolved, l.resolve(p), p)
		}
	}
}

func TestPatternsNameWhatTheirFolderHolds(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"java-17", "java-21", "java", "javac-1", "R"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	at := func(name string) string { return dir + string(filepath.Separator) + name }
	got := newLook().expand([]string{at("java-*"), at("R"), at("gone"), at("none-*"), at("nowhere/x-*")})
	assert.ElementsMatch(t, []string{at("java-17"), at("java-21"), at("R"), at("gone")}, got)
}
