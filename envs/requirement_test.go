package envs

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWhatCanBeAskedFor(t *testing.T) {
	for text, want := range map[string]string{
		"numpy":                             "numpy",
		"  Foo.Bar_baz ":                    "foo-bar-baz",
		"requests[socks, Security]>=2,<3":   "requests[security,socks]>=2,<3",
		"klleaf == 1.0":                     "klleaf==1.0",
		"a (>=1.0)":                         "a>=1.0",
		"a~=1.4.2":                          "a~=1.4.2",
		"a==1.*":                            "a==1.*",
		"a===whatever-1":                    "a===whatever-1",
		`a; python_version<"3.9"`:           "a ; python_version < '3.9'",
		"a>1;(os_name=='nt' or extra=='b')": "a>1 ; os_name == 'nt' or extra == 'b'",
		"a ; os_name == 'nt' and (sys_platform in 'x y' or 'z' not in platform_machine)": "a ; os_name == 'nt' and (sys_platform in 'x y' or 'z' not in platform_machine)",
	} {
		r, err := parseAsked(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, r.String())
		again, err := parseAsked(r.String())
		require.NoError(t, err, text)
		assert.Equal(t, want, again.String())
	}
}

func TestWhatCannotBeAskedFor(t *testing.T) {
	for text, words := range map[string]string{
		"": "empty", " \t": "empty", "--index-url=http://x": "options", "-e .": "options", "-rfile": "options", "../x": "paths", "./x": "paths", ".": "paths",
		"/etc/x": "paths", `C:\x`: "paths", "~/x": "paths", "x.whl": "files", "x-1-py3-none-any.whl": "files", "x-1.0.tar.gz": "files", "x.zip": "files",
		"git+https://x/y": "repositories", "git@host:x": "repositories", "hg+http://x": "repositories", "https://x/y.whl": "URLs", "x @ https://y": "URLs", "x@1": "URLs", "file:///x": "URLs",
		"klleaf; rm -rf /": "marker", "a ; 'x' == 'y'": "marker", "a ; os_name": "marker", "a ; os_name == 'nt": "marker", "a ; ": "marker", "a ; (os_name == 'nt'": "marker",
		"a b==": "specifier", "a==": "specifier", "a>=1.*": "specifier", "a~=1": "specifier", "a>=1+local": "specifier", "a=1": "specifier", "a>=1 <2": "specifier", "a,b": "specifier",
		"a\nb": "control", "a\x00": "control", "a\x1b[31m": "control", "a\xff": "UTF-8", "*": "no package name", "$(id)": "no package name", "a[b": "specifier", "a[*]": "extras",
		"`id`": "no package name", "ａ": "no package name",
	} {
		err := CheckRequirements([]string{text})
		var re *RequirementError
		require.ErrorAs(t, err, &re, "%q", text)
		assert.Equal(t, text, re.Text)
		assert.Contains(t, re.Reason, words, "%q", text)
		assert.NotContains(t, err.Error(), "\n")
	}
}

func TestAllFaultsAtOnce(t *testing.T) {
	err := CheckRequirements([]string{"numpy", "https://x/y.whl", "../x", ""})
	joined, ok := err.(interface{ Unwrap() []error })
	require.True(t, ok)
	assert.Len(t, joined.Unwrap(), 3)
	assert.ErrorContains(t, err, "y.whl")
	assert.NoError(t, CheckRequirements([]string{"numpy"}))
	assert.False(t, errors.Is(err, errNoSandbox))
}

// Each is the order of the specification's own examples.
func TestVersionsInOrder(t *testing.T) {
	list := []string{
		"1.0.dev456", "1.0a1.dev1", "1.0a1", "1.0a2.dev456", "1.0a12.dev456", "1.0a12", "1.0b1.dev456", "1.0b2", "1.0b2.post345.dev456", "1.0b2.post345", "1.0rc1.dev456", "1.0rc1", "1.0",
		"1.0+abc.5", "1.0+abc.7", "1.0+5", "1.0.post456.dev34", "1.0.post456", "1.0.15", "1.1.dev1", "20261101123456789012345678901234567890", "1!0.1",
	}
	for i, a := range list {
		v, ok := parsePyVersion(a)
		require.True(t, ok, a)
		for j, b := range list {
			w, ok := parsePyVersion(b)
			require.True(t, ok, b)
			want := 0
			if i < j {
				want = -1
			} else if i > j {
				want = 1
			}
			assert.Equal(t, want, v.compare(w), "%s, %s", a, b)
		}
	}
	for a, b := range map[string]string{"1.0": "1", "v1.0": "1.0.0", "1.0-1": "1.0.post1", "1.0ALPHA1": "1.0a1", "1.0.c3": "1.0rc3", "01.02": "1.2", "1.0+UBUNTU-1": "1.0+ubuntu.1", "1.0-r4": "1.0.post4", "1.dev": "1.dev0"} {
		assert.True(t, equalVersions(a, b), "%s, %s", a, b)
	}
	assert.False(t, equalVersions("1.0", "1.0+x"))
	assert.False(t, equalVersions("unknown", "1"))
}

func TestWhichVersionsWillDo(t *testing.T) {
	for spec, c := range map[string]struct{ yes, no []string }{
		"==1.0":        {[]string{"1.0", "1", "1.0.0", "1.0+local"}, []string{"1.0.1", "1.0rc1", "1.0.post1"}},
		"==1.0+a":      {[]string{"1.0+a"}, []string{"1.0", "1.0+b"}},
		"==1.1.*":      {[]string{"1.1", "1.1.9", "1.1a1", "1.1.post1", "1.1+x"}, []string{"1.2", "1", "1.11"}},
		"!=1.1.*":      {[]string{"1.2"}, []string{"1.1.3"}},
		"!=1":          {[]string{"1.1"}, []string{"1.0", "1.0+x"}},
		">=1.0":        {[]string{"1.0", "1.0+x", "2", "2rc1"}, []string{"1.0rc1", "0.9"}},
		"<=1.0":        {[]string{"1.0", "1.0+x", "1.0rc1"}, []string{"1.0.1", "1.0.post1"}},
		"<2":           {[]string{"1.9", "1.9rc1"}, []string{"2", "2rc1", "2.dev1"}},
		"<2rc1":        {[]string{"2b1"}, []string{"2rc1", "2"}},
		">1.7":         {[]string{"1.7.1", "1.8"}, []string{"1.7", "1.7.post1", "1.7.0.post3", "1.7+x"}},
		">1.7.post2":   {[]string{"1.7.post3"}, []string{"1.7.post2", "1.7"}},
		"~=2.2":        {[]string{"2.2", "2.9"}, []string{"3.0", "2.1", "3.0a1"}},
		"~=1.4.5":      {[]string{"1.4.5", "1.4.9"}, []string{"1.5", "1.4.4"}},
		"~=2.2.post3":  {[]string{"2.3"}, []string{"2.2", "3"}},
		"===1.0-x":     {[]string{"1.0-x", "1.0-X"}, []string{"1.0"}},
		">=1,<2,!=1.5": {[]string{"1.4"}, []string{"1.5", "2"}},
	} {
		list, err := parseSpecifiers(spec)
		require.NoError(t, err, spec)
		for _, v := range c.yes {
			assert.True(t, list.allow(v), "%s: %s", spec, v)
		}
		for _, v := range c.no {
			assert.False(t, list.allow(v), "%s: %s", spec, v)
		}
	}
}

func TestMarkers(t *testing.T) {
	env := Interpreter{Version: "3.11.2", Implementation: "cpython", Platform: "linux-x86_64"}.markers()
	for text, want := range map[string]bool{
		"python_version >= '3.9'": true, "python_version < '3.9'": false, "python_full_version == '3.11.2'": true, "'3.10' <= python_version": true, "'3.12' < python_version": false,
		"sys_platform == 'linux'": true, "platform_system == 'Windows'": false, "os_name == 'posix' and platform_machine == 'x86_64'": true,
		"implementation_name == 'pypy' or platform_python_implementation == 'CPython'": true, "extra == 'x'": false, "'lin' in sys_platform": true, "'lin' not in sys_platform": false,
		"platform_release == 'any'":     true, // it is not known
		"python_version in '3.10 3.11'": true, "python_version == '3.*'": true,
	} {
		m, err := parseMarker(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, m.holds(env, ""), text)
	}
	m, err := parseMarker("extra == 'Foo_Bar'")
	require.NoError(t, err)
	assert.True(t, m.holds(env, "foo-bar"))
	for platform, want := range map[string][4]string{
		"win-amd64": {"nt", "win32", "Windows", "AMD64"}, "win32": {"nt", "win32", "Windows", "x86"}, "macosx-11.0-arm64": {"posix", "darwin", "Darwin", "arm64"}, "linux-aarch64": {"posix", "linux", "Linux", "aarch64"},
	} {
		a, b, c, d := systemOf(platform)
		assert.Equal(t, want, [4]string{a, b, c, d})
	}
}

func FuzzRequirement(f *testing.F) {
	for _, s := range []string{"a[b]>=1,<2 ; python_version < '3'", "klleaf; rm -rf /", "a ~= 1.2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := parseAsked(text)
		if err != nil {
			return
		}
		again, err := parseAsked(r.String())
		require.NoError(t, err, "%q from %q", r.String(), text)
		assert.Equal(t, r.String(), again.String())
	})
}
