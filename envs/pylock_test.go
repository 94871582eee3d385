package envs

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const lockText = `# comment
lock-version = "1.0"
created-by = "uv"
requires-python = ">=3.11.2"

[[packages]]
name = "Big_One"
version = "2.4.6"
marker = "python_full_version >= '3.10'"
wheels = [
    { url = "http://gate/files/0/big_one-2.4.6-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", upload-time = 2026-05-18T23:33:29Z, size = 169, hashes = { sha256 = "` + digest + `" } },
    { url = "http://gate/files/1/big_one-2.4.6-cp311-cp311-manylinux_2_28_x86_64.whl", size = 170, hashes = { sha256 = "` + digest + `" } },
    { url = "file:///stub/big_one-2.4.6-999999999-cp311-cp311-manylinux_2_36_x86_64.whl", hashes = { sha256 = "` + digest + `" } },
]

[[packages]]
name = "here"
version = "1.5"
archive = { path = "/stubs/here-1.5-py3-none-any.whl", hashes = { sha256 = "` + digest + `" } }

[[packages]]
name = "src"
version = "1"
sdist = { url = "http://gate/files/2/src-1.tar.gz", hashes = { sha256 = "` + digest + `" } }
`

func TestALockFileIsRead(t *testing.T) {
	list, err := parsePylock(lockText, "http://gate")
	require.NoError(t, err)
	require.Len(t, list, 3)
	assert.Equal(t, "big-one", list[0].name)
	require.Len(t, list[0].wheels, 2, "what is not at the index is no file to fetch")
	assert.EqualValues(t, 169, list[0].wheels[0].size)
	assert.Equal(t, "2026-05-18T23:33:29Z", list[0].wheels[0].uploaded)
	best, ok := bestWheel(list[0].wheels)
	assert.True(t, ok)
	assert.Equal(t, "big_one-2.4.6-cp311-cp311-manylinux_2_28_x86_64.whl", best.filename)
	assert.True(t, list[1].local)
	assert.False(t, list[2].local)
	assert.Equal(t, "src-1.tar.gz", list[2].sdist.filename)
}

func TestALockFileThatIsNone(t *testing.T) {
	for text, words := range map[string]string{
		"":                       "version",
		"lock-version = \"2.0\"": "version",
		"lock-version = \"1.0\"\n[[packages]]\nname = \"../x\"\n":                                         "names no package",
		"lock-version = \"1.0\"\n[[packages]]\nname = \"x\"\n":                                            "has no file",
		"lock-version = \"1.0\"\n[[packages]]\nname = \"x\"\nvcs = { url = \"http://gate/files/0/x\" }\n": "has no file",
		"a = [1, 2":         "line 1",
		"a = { b = 1":       "line 1",
		"a = \"x":           "line 1",
		"a = 1 b = 2":       "line 1",
		"a = 1\na = 2":      "twice",
		"[a":                "line 1",
		"\n\n= 1":           "line 3",
		"a = 1\n[[a]]":      "no array",
		"a = 1\n[a.b]\nc=1": "no table",
	} {
		_, err := parsePylock(text, "http://gate")
		assert.ErrorContains(t, err, words, "%q", text)
	}
}

func TestTheBestWheel(t *testing.T) {
	for _, names := range [][]string{ // the first is the best
		{"a-1-cp311-cp311-manylinux_2_17_x86_64.whl", "a-1-cp311-abi3-manylinux_2_34_x86_64.whl", "a-1-cp39-abi3-manylinux_2_34_x86_64.whl", "a-1-py3-none-any.whl", "a-1-py2.py3-none-any.whl"},
		{"a-1-cp39-abi3-manylinux_2_28_x86_64.whl", "a-1-cp39-abi3-manylinux2014_x86_64.manylinux_2_17_x86_64.whl", "a-1-cp39-abi3-manylinux1_x86_64.whl", "a-1-cp39-abi3-linux_x86_64.whl"},
		{"a-1-2-py3-none-any.whl", "a-1-1-py3-none-any.whl", "a-1-py3-none-any.whl"},
		{"a-1-cp311-cp311-macosx_11_0_arm64.whl", "a-1-cp311-cp311-macosx_10_9_universal2.whl"},
	} {
		for i := range names {
			var files []lockedFile
			for _, n := range append(names[i:len(names):len(names)], names[:i]...) {
				files = append(files, lockedFile{filename: n})
			}
			best, ok := bestWheel(files)
			assert.True(t, ok)
			assert.Equal(t, names[0], best.filename)
		}
	}
	_, ok := bestWheel(nil)
	assert.False(t, ok)
}

func FuzzPylock(f *testing.F) {
	f.Add(lockText)
	f.Fuzz(func(t *testing.T, text string) {
		list, err := parsePylock(text, "http://gate")
		for _, l := range list {
			require.NoError(t, err)
			assert.Regexp(t, distName, l.name)
		}
	})
}
