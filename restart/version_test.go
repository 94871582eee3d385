package restart

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestVersionsAreEqual(t *testing.T) {
	for _, pair := range [][2]string{
		{"1.0", "1.0.0"},
		{"1", "1.0.0.0"},
		{"0", "0.0"},
		{"v1.0", "1.0"},
		{" 1.0\n", "1.0"},
		{"0!1.0", "1.0"},
		{"01!1.0", "1!1"},
		{"1.00", "1"},
		{"1.02", "1.2"},
		{"2.0rc1", "2.0.0-RC.1"},
		{"2.0c1", "2.0preview_1"},
		{"2.0pre1", "2.0rc1"},
		{"1.0a", "1.0alpha0"},
		{"1.0b2", "1.0.beta-2"},
		{"1.0-1", "1.0.post1"},
		{"1.0r4", "1.0rev4"},
		{"1.0.post", "1.0post0"},
		{"1.0dev", "1.0.dev0"},
		{"1.0a1.post2.dev3", "1.0-alpha-1-r2-dev3"},
		{"1.0+ubuntu-1", "1.0+ubuntu.1"},
		{"1.0+abc_01", "1.0+ABC.1"},
		{"1.99999999999999999999999", "1.099999999999999999999999"},
		{"unknown", "unknown"},
	} {
		assert.True(t, sameVersion(Python, pair[0], pair[1]), "%q %q", pair[0], pair[1])
		assert.True(t, sameVersion(Python, pair[1], pair[0]), "%q %q", pair[1], pair[0])
	}
}

func TestVersionsDiffer(t *testing.T) {
	for _, pair := range [][2]string{
		{"1.0", "1.1"},
		{"1.0", "10"},
		{"1!1.0", "1.0"},
		{"1.0", "1.0rc1"},
		{"1.0a1", "1.0b1"},
		{"1.0", "1.0.post0"},
		{"1.0.post1", "1.0.dev1"},
		{"1.0rc1", "1.0rc1.dev0"},
		{"2.3.0", "2.3.0+cu121"},
		{"1.0+a.b", "1.0+ab"},
		{"1.0+1.0", "1.0+1"},
		{"2004d", "2004e"},
		{"unknown", "Unknown"},
		{"1.0", ""},
		{"1.0\u212a", "1.0k"},
		{"1.0ſt", "1.0st"},
		{"1.0-1-1", "1.0.post1"},
	} {
		assert.False(t, sameVersion(Python, pair[0], pair[1]), "%q %q", pair[0], pair[1])
		assert.False(t, sameVersion(Python, pair[1], pair[0]), "%q %q", pair[1], pair[0])
	}
}

func TestVersionsOfRAreText(t *testing.T) {
	assert.False(t, sameVersion(R, "1.0", "1.0.0"))
	assert.False(t, sameVersion(R, "1.0-1", "1.0.1"))
	assert.True(t, sameVersion(R, "1.0-1", "1.0-1"))
}

func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"numpy": "numpy", "Jinja2": "jinja2", "importlib_resources": "importlib-resources", "backports.tarfile": "backports-tarfile",
		"a-_.b": "a-b", "a--b": "a-b", "": "", "_x_": "-x-",
	} {
		assert.Equal(t, want, normalName(Python, name))
	}
	assert.Equal(t, "data.table", normalName(R, "data.table"))
	assert.Equal(t, "R6", normalName(R, "R6"))
}

func TestRequiredNames(t *testing.T) {
	for requirement, want := range map[string]string{
		"typing_extensions>=4.6":                "typing-extensions",
		"requests[socks] (>=2) ; os_name=='nt'": "requests",
		"pysocks; extra == 'socks'":             "",
		" six ":                                 "six",
		"x @ https://example.test/x.whl":        "x",
		"":                                      "",
	} {
		assert.Equal(t, want, requiredName(Python, requirement), requirement)
	}
	assert.Equal(t, "repr", requiredName(R, "repr (>= 0.4.99)"))
}

// FuzzVersion holds canonical to what makes it a normal form: it is one of its own spellings, and no spelling that means the same changes it.
func FuzzVersion(f *testing.F) {
	for _, seed := range []string{"1.0", "v1!2.0.0RC1.post2-dev+L_0a.01", "1.0-1", "2004d", "", "1.0c", "1+0", "00!00.00a00", "\u212a1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		form, ok := canonical(text)
		if !ok {
			assert.Empty(t, form)
			return
		}
		again, ok := canonical(form)
		assert.True(t, ok, form)
		assert.Equal(t, form, again)
		for _, spelling := range []string{" " + text, strings.ToUpper(text), "v" + strings.TrimLeft(strings.TrimSpace(text), "vV"), strings.ReplaceAll(text, "_", "-")} {
			other, ok := canonical(spelling)
			assert.True(t, ok, spelling)
			assert.Equal(t, form, other, spelling)
		}
	})
}
