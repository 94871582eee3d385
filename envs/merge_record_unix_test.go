//go:build unix

package envs

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each of these was let through by at least one installer.
func TestWhatStopsAMergeBeforeAnythingMoves(t *testing.T) {
	good := parcelOf(t, "good", "1.0", nil, nil)
	plant := func(rel, text string) func(*testing.T, string) {
		return func(t *testing.T, out string) {
			require.NoError(t, os.RemoveAll(filepath.Join(out, rel)))
			write(t, filepath.Join(out, rel), text)
		}
	}
	link := func(rel, target string) func(*testing.T, string) {
		return func(t *testing.T, out string) {
			require.NoError(t, os.RemoveAll(filepath.Join(out, rel)))
			require.NoError(t, os.Symlink(target, filepath.Join(out, rel)))
		}
	}
	record := func(line string) func(*testing.T, string) {
		return func(t *testing.T, out string) {
			f, err := os.OpenFile(filepath.Join(out, siteRel, "good-1.0.dist-info", "RECORD"), os.O_APPEND|os.O_WRONLY, 0)
			require.NoError(t, err)
			defer f.Close()
			_, err = f.WriteString(line + "\n")
			require.NoError(t, err)
		}
	}
	for what, c := range map[string]struct {
		harm  func(t *testing.T, out string)
		words []string
	}{
		"another interpreter":           {plant("bin/python", "#!/bin/sh\n"), []string{"bin/python", "was changed"}},
		"a link to another interpreter": {link("bin/python3", "/tmp/x"), []string{"bin/python3", "was changed"}},
		"one interpreter more":          {plant("bin/python3.99", "x"), []string{"bin/python3.99", "program of the environment"}},
		"a pip":                         {plant("bin/pip3", "x"), []string{"bin/pip3", "program of the environment"}},
		"an activate script":            {plant("bin/activate_this.py", "x"), []string{"activate_this.py", "program of the environment"}},
		"another pyvenv.cfg":            {plant("pyvenv.cfg", "home = /tmp\n"), []string{"pyvenv.cfg", "was changed"}},
		"lib64 as a folder": {func(t *testing.T, out string) {
			require.NoError(t, os.Remove(filepath.Join(out, "lib64")))
			write(t, filepath.Join(out, "lib64", "x.so"), "x")
		}, []string{"lib64", "was changed"}},
		"lib64 gone":                {func(t *testing.T, out string) { require.NoError(t, os.Remove(filepath.Join(out, "lib64"))) }, []string{"lib64", "was removed"}},
		"a folder of its own":       {plant("opt/x", "x"), []string{"opt", "lies outside"}},
		"a file at the top":         {plant("x", "x"), []string{"no place at the top"}},
		"another Python's packages": {plant("lib/python3.9/site-packages/x.py", "x"), []string{"python3.9", "lies outside"}},
		"a link to a file":          {link(siteRel+"/l.py", "/etc/passwd"), []string{"neither a regular file"}},
		"a link to a folder":        {link(siteRel+"/d", "/etc"), []string{"neither a regular file"}},
		"a FIFO": {func(t *testing.T, out string) {
			require.NoError(t, syscall.Mkfifo(filepath.Join(out, siteRel, "p"), 0o600))
		}, []string{"neither a regular file"}},
		"a line's end in a name":          {plant(siteRel+"/a\nb.py", "x"), []string{"control characters"}},
		"a file that nobody vouches for":  {plant(siteRel+"/sitecustomize.py", "x"), []string{"sitecustomize.py", "no RECORD names it"}},
		"a program that nobody has":       {plant("bin/tool", "x"), []string{"bin/tool", "no RECORD names it"}},
		"other content":                   {plant(siteRel+"/good/__init__.py", "VERSION = '6.6'\n"), []string{"good/__init__.py", "another hash"}},
		"a longer file":                   {plant(siteRel+"/good/__init__.py", "VERSION = '1.0'  # and more\n"), []string{"good/__init__.py", "bytes"}},
		"a line without a file":           {record("good/gone.py,sha256=AAAA,1"), []string{"good/gone.py", "has no file"}},
		"a line that leads out":           {record("../../../../outside.py,sha256=AAAA,1"), []string{"outside.py", "leads outside"}},
		"an absolute line":                {record("/etc/passwd,sha256=AAAA,1"), []string{"/etc/passwd", "leads outside"}},
		"a line for the interpreter":      {record("../../../bin/python,,"), []string{"bin/python", "has no file"}},
		"a hash that nobody should trust": {record("good/__init__.py,md5=AAAA,"), []string{"md5", "cannot be compared"}},
		"no RECORD": {func(t *testing.T, out string) {
			require.NoError(t, os.Remove(filepath.Join(out, siteRel, "good-1.0.dist-info", "RECORD")))
		}, []string{"RECORD", "cannot be read"}},
		"no METADATA": {func(t *testing.T, out string) {
			require.NoError(t, os.Remove(filepath.Join(out, siteRel, "good-1.0.dist-info", "METADATA")))
		}, []string{"no metadata"}},
		"another version": {plant(siteRel+"/good-1.0.dist-info/METADATA", "Name: good\nVersion: 2.0\n"), []string{"the plan has version 1.0"}},
		"another name":    {plant(siteRel+"/good-1.0.dist-info/METADATA", "Name: evil\nVersion: 1.0\n"), []string{"describes \"evil\"", "good", "was not staged"}},
		"a package more":  {func(t *testing.T, out string) { unpack(t, out, parcelOf(t, "more", "3", nil, nil)) }, []string{"more 3 is not in the plan"}},
		"a package less":  {func(t *testing.T, out string) { require.NoError(t, os.RemoveAll(filepath.Join(out, siteRel))) }, []string{"good", "was not staged"}},
		"two packages with one file": {func(t *testing.T, out string) {
			unpack(t, out, parcelOf(t, "also", "1", nil, map[string]string{"good/__init__.py": "VERSION = 'also'\n"}))
		}, []string{"good-1.0.dist-info/RECORD", "good/__init__.py", "is not in the plan"}},
	} {
		t.Run(what, func(t *testing.T) {
			s := newStore(t)
			e := library(t, s, "a")
			install(t, s, e, true, parcelOf(t, "there", "1", nil, nil))
			before := everything(t, e.dir)
			_, err := deliver(t.Context(), t, s, e, planFor(t, e, true, nil, good), func(out string) { c.harm(t, out) }, good)
			var me *MergeError
			require.ErrorAs(t, err, &me)
			for _, w := range c.words {
				assert.ErrorContains(t, err, w)
			}
			assert.Equal(t, before, everything(t, e.dir), "nothing moved")
		})
	}
}

func TestTwoPackagesWithOneFileOfTheSameContentBothHaveIt(t *testing.T) {
	s := newStore(t)
	e := library(t, s, "a")
	space := func(more string) map[string]string {
		return map[string]string{"space/__init__.py": "__path__ = __import__('pkgutil').extend_path(__path__, __name__)\n", "space/" + more + ".py": ""}
	}
	r := install(t, s, e, true, parcelOf(t, "one", "1", nil, space("one")), parcelOf(t, "two", "1", nil, space("two")))
	assert.True(t, r.Additive)
	e, err := s.Get("a")
	require.NoError(t, err)
	install(t, s, e, true, parcelOf(t, "three", "1", nil, space("three")))
	assert.FileExists(t, filepath.Join(e.Tree(), siteRel, "space", "three.py"))
}

func TestBytecodeOfAWheelIsDropped(t *testing.T) {
	s := newStore(t)
	e := library(t, s, "a")
	p := parcelOf(t, "p", "1", nil, map[string]string{"p/__init__.py": "", "p/__pycache__/__init__.cpython-311.pyc": "evil", "p/beside.py": "", "p/beside.pyc": "evil", "p/sourceless.pyc": "the module itself"})
	install(t, s, e, true, p)
	all := everything(t, e.Tree())
	assert.NotContains(t, all, siteRel+"/p/__pycache__/__init__.cpython-311.pyc")
	assert.NotContains(t, all, siteRel+"/p/beside.pyc")
	assert.Contains(t, all, siteRel+"/p/sourceless.pyc")
}

func TestModesAndOrderOfAMerge(t *testing.T) {
	s := newStore(t)
	e := library(t, s, "a")
	low, top := parcelOf(t, "zlow", "1", nil, nil), parcelOf(t, "atop", "1", []string{"zlow"}, map[string]string{"atop/__init__.py": "", "atop.py": "", "shared/atop.py": ""})
	low2 := parcelOf(t, "zlow2", "1", nil, map[string]string{"shared/zlow2.py": ""})
	st, err := s.newStage()
	require.NoError(t, err)
	defer st.remove()
	frame, err := makeFrame(e, st.out())
	require.NoError(t, err)
	unpack(t, st.out(), top, low, low2)
	require.NoError(t, os.Chmod(filepath.Join(st.out(), siteRel, "atop.py"), 0o777|os.ModeSetuid))
	write(t, filepath.Join(st.out(), ".lock"), "")
	d, err := inspect(e, st.out(), frame, []Owned{{Name: "zlow", Version: "1"}, {Name: "zlow2", Version: "1.0"}, {Name: "atop", Version: "1"}})
	require.NoError(t, err)
	var order []string
	for _, m := range d.moves(e.Tree(), nil) {
		order = append(order, filepath.Base(filepath.Dir(m.To))+"/"+filepath.Base(m.To))
	}
	const site = "site-packages/"
	assert.Equal(t, []string{
		site + "zlow-1.dist-info", site + "zlow", site + "zlow2-1.dist-info", "shared/zlow2.py", site + "atop-1.dist-info", site + "atop.py", site + "atop", "shared/atop.py",
	}, order)
	fi, err := os.Stat(filepath.Join(st.out(), siteRel, "atop.py"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o755), fi.Mode())
}
