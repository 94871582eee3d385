package restart

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func loaded(names ...string) []Module {
	out := []Module{{Name: "__main__"}, {Name: "sys"}}
	for _, name := range names {
		name, file, _ := strings.Cut(name, "=")
		out = append(out, Module{Name: name, File: file})
	}
	return out
}

func TestJudge(t *testing.T) {
	no, yes := false, true
	numpy := Diff(viewOf(mine("numpy", "1.24.2", "numpy")), viewOf(mine("numpy", "2.0.1", "numpy")))
	pandas := Diff(viewOf(), viewOf(mine("pandas", "2.3.3", "pandas")))
	both := Diff(viewOf(mine("numpy", "1.24.2", "numpy")), viewOf(mine("numpy", "2.0.1", "numpy"), mine("pandas", "2.3.3", "pandas")))
	editable := Diff(viewOf(), viewOf(with(mine("mylib", "0.1", "mylib"), hooked)))
	tornado := Diff(viewOf(mine("tornado", "6.4", "tornado")), viewOf(mine("tornado", "6.5", "tornado")))
	unknown := Diff(viewOf(with(mine("x", "1"), func(p *Package) { p.Modules = nil })), viewOf(mine("x", "2")))
	meta := Diff(viewOf(mine("meta", "1")), viewOf(mine("meta", "2")))
	path := Diff(viewOf(), onPath(viewOf(), "/lab", envFolder, baseFolder))
	shadow := Diff(viewOf(system("six", "1.16.0", "six")), viewOf(system("six", "1.16.0", "six"), mine("demo", "1", "six")))
	moved := Diff(viewOf(system("six", "1.16.0", "six")), viewOf(mine("six", "1.16.0", "six")))
	spread := Diff(viewOf(with(system("lazr-uri", "1", "lazr/uri"), namespaces("lazr"))), viewOf(with(mine("lazr-uri", "1", "lazr/uri"), namespaces("lazr"))))
	there := Changes{{Name: "six", To: "1.16.0", Class: AlreadyThere}}

	for _, c := range []struct {
		name    string
		kernel  Kernel
		own     Changes
		sees    bool
		verdict Verdict
		says    []string
		free    bool
	}{
		{"nothing", Kernel{}, nil, false, Keep, []string{"nothing that this kernel imports from has changed"}, false},
		{"there already", Kernel{Executed: &no}, there, false, Keep, []string{"nothing that this kernel imports from has changed"}, false},
		{"new and seen", Kernel{}, pandas, true, Keep, []string{"pandas 2.3.3 is new and can be imported now"}, false},
		{"new and not seen", Kernel{Generation: 3}, pandas, false, RestartToUse, []string{"pandas 2.3.3 is new, but this kernel runs generation 3, which does not have it"}, false},
		{"new and not seen, generation not known", Kernel{}, pandas, false, RestartToUse, []string{"pandas 2.3.3 is new, but this kernel runs an older generation, which does not have it"}, false},
		{"new at start", Kernel{}, editable, true, RestartToUse, []string{"mylib 0.1 is new and can be imported after a restart"}, false},
		{"new at start, nothing run", Kernel{Executed: &no}, editable, true, RestartToUse, []string{"mylib 0.1 is new and can be imported after a restart", "it has run nothing yet, so that a restart costs nothing"}, true},
		{"changed, not known", Kernel{}, numpy, false, Required, []string{"numpy 1.24.2 → 2.0.1", "what this kernel has loaded is not known"}, false},
		{"changed, no modules is no answer", Kernel{Loaded: []Module{}}, numpy, false, Required, []string{"numpy 1.24.2 → 2.0.1", "what this kernel has loaded is not known"}, false},
		{"changed, nothing run", Kernel{Executed: &no}, numpy, false, Required, []string{"numpy 1.24.2 → 2.0.1", "it has run nothing yet, so that a restart costs nothing"}, true},
		{"changed, nothing run, and it says so of other modules", Kernel{Executed: &no, Loaded: loaded("os")}, numpy, false, Required, []string{"numpy 1.24.2 → 2.0.1", "it has run nothing yet, so that a restart costs nothing"}, true},
		{"changed and loaded", Kernel{Executed: &yes, Loaded: loaded("numpy", "numpy.b", "numpy.a", "numpy.c")}, numpy, false, Required, []string{"numpy 1.24.2 → 2.0.1, and this kernel has loaded numpy, numpy.a, numpy.b and 1 more"}, false},
		{"changed and not loaded", Kernel{Loaded: loaded("os", "numpyro")}, numpy, false, Keep, []string{"numpy 1.24.2 → 2.0.1, of which this kernel has loaded nothing and whose 1.24.2 it goes on with until it restarts"}, false},
		{"changed and not loaded beside something new", Kernel{Generation: 2, Loaded: loaded("os")}, both, false, RestartToUse, []string{
			"numpy 1.24.2 → 2.0.1, of which this kernel has loaded nothing and whose 1.24.2 it goes on with until it restarts",
			"pandas 2.3.3 is new, but this kernel runs generation 2, which does not have it",
		}, false},
		{"the kernel's own", Kernel{Loaded: loaded("tornado")}, tornado, false, Recommended, []string{"tornado 6.4 → 6.5, which the kernel itself runs on, and this kernel has loaded tornado"}, false},
		{"the kernel's own, not known", Kernel{}, tornado, false, Required, []string{"tornado 6.4 → 6.5", "what this kernel has loaded is not known"}, false},
		{"the kernel's own beside another's", Kernel{Loaded: loaded("tornado", "numpy")}, append(tornado[:1:1], numpy...), false, Required, []string{
			"tornado 6.4 → 6.5, which the kernel itself runs on, and this kernel has loaded tornado", "numpy 1.24.2 → 2.0.1, and this kernel has loaded numpy",
		}, false},
		{"modules of the package not known", Kernel{Loaded: loaded("os")}, unknown, false, Required, []string{"x 1 → 2, and whether this kernel has loaded it is not known"}, false},
		{"no modules", Kernel{Loaded: loaded("os")}, meta, true, Keep, []string{"meta 1 → 2, of which this kernel has loaded nothing"}, false},
		{"the environment", Kernel{Loaded: loaded("os")}, path, true, Required, []string{"modules are imported from other folders: /lab came"}, false},
		{"shadowed and loaded", Kernel{Loaded: loaded("six=" + baseFolder + "/six.py")}, shadow, true, Required, []string{"demo 1 is new (takes over six from six 1.16.0 (the system's)), and this kernel has loaded six"}, false},
		{"shadowed and not loaded", Kernel{Loaded: loaded("os")}, shadow, true, Keep, []string{"demo 1 is new (takes over six from six 1.16.0 (the system's)), of which this kernel has loaded nothing"}, false},
		{"shadowed, not loaded, not seen", Kernel{Generation: 2, Loaded: loaded("os")}, shadow, false, RestartToUse, []string{
			"demo 1 is new (takes over six from six 1.16.0 (the system's)), of which this kernel has loaded nothing; it runs generation 2, which does not have it",
		}, false},
		{"a loose module that went, not loaded", Kernel{Loaded: loaded("os")}, Diff(withOrphans(viewOf(), "notes"), viewOf()), false, Keep, []string{"notes is gone (a module that belonged to no package), of which this kernel has loaded nothing"}, false},
		{"relocated", Kernel{}, moved, true, Keep, []string{"six 1.16.0 is the same and now in the environment itself"}, false},
		{"relocated and loaded", Kernel{Loaded: loaded("six")}, moved, true, Keep, []string{"six 1.16.0 is the same and now in the environment itself"}, false},
		{"relocated namespace, not known", Kernel{}, spread, true, Recommended, []string{"lazr-uri 1 is the same and now in the environment itself, and this kernel may remember the former place of its namespace"}, false},
		{"relocated namespace, not loaded", Kernel{Loaded: loaded("os")}, spread, true, Keep, []string{"lazr-uri 1 is the same and now in the environment itself"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.kernel.ID = "k1"
			assert.Equal(t, Judgement{Kernel: "k1", Verdict: c.verdict, Reasons: c.says, Free: c.free}, Judge(c.kernel, c.own, c.sees))
		})
	}
}

func TestLoadedModulesHaveOwners(t *testing.T) {
	six := place(&Package{Folder: baseFolder}, "six")
	google := place(&Package{Folder: envFolder}, "google/protobuf")
	editable := place(&Package{Folder: envFolder, Hooks: true}, "mylib")
	windows := place(&Package{Folder: `C:\e\Lib\site-packages`}, "six")
	for _, c := range []struct {
		name   string
		loaded Module
		top    Module
		want   bool
	}{
		{"by file", Module{"six", baseFolder + "/six.py"}, six, true},
		{"by name, made at run time", Module{"six.moves", ""}, six, true},
		{"another's name that begins alike", Module{"sixth", baseFolder + "/sixth.py"}, six, false},
		{"a file of the notebook's folder", Module{"six", "/home/me/work/six.py"}, six, false},
		{"the copy in the environment", Module{"six", envFolder + "/six.py"}, six, false},
		{"a file that is not absolute", Module{"six", "six.py"}, six, true},
		{"another name for its file", Module{"alias", baseFolder + "/six.py"}, six, true},
		{"a part of a namespace", Module{"google.protobuf.message", envFolder + "/google/protobuf/message.py"}, google, true},
		{"the same in a generation", Module{"google.protobuf", "/e/gen/3/lib/python3.11/site-packages/google/protobuf/__init__.py"}, google, true},
		{"another part of the namespace", Module{"google.cloud", envFolder + "/google/cloud/__init__.py"}, google, false},
		{"the namespace", Module{"google", ""}, google, false},
		{"editable, from anywhere", Module{"mylib.a", "/home/me/src/mylib/a.py"}, editable, true},
		{"mapped and replaced", Module{"", baseFolder + "/six/_speed.so (deleted)"}, six, true},
		{"mapped, of an editable one", Module{"", "/home/me/src/mylib/_speed.so"}, editable, true},
		{"mapped, another's", Module{"", "/usr/lib/libc.so.6"}, editable, false},
		{"Windows, in any case", Module{"six", `c:\E\lib\Site-Packages\six.py`}, windows, true},
		{"Windows, elsewhere", Module{"six", `C:\work\six.py`}, windows, false},
		{"twice in the path", Module{"", "/dist-packages/sixth/dist-packages/six/a.py"}, six, true},
	} {
		assert.Equal(t, c.want, c.loaded.belongs(c.top), c.name)
	}
}
