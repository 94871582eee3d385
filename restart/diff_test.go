package restart

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	envFolder  = "/e/current/lib/python3.11/site-packages"
	baseFolder = "/usr/lib/python3/dist-packages"
)

// viewOf is what a kernel sees of these packages: python3.11, the environment's folder before the system's.
func viewOf(packages ...Package) Snapshot {
	slices.SortFunc(packages, func(a, b Package) int { return compareNames(a.Name, b.Name) })
	return Snapshot{Language: Python, Interpreter: "cpython 3.11.2 /usr/bin/python3.11", Path: []string{envFolder, baseFolder}, Packages: packages}
}

func compareNames(a, b string) int {
	if a < b {
		return -1
	}
	return 1
}

func mine(name, version string, modules ...string) Package {
	return Package{Name: name, Version: version, Folder: envFolder, Owner: OwnerEnv, Fingerprint: name + version, Modules: append([]string{}, modules...)}
}

func system(name, version string, modules ...string) Package {
	return Package{Name: name, Version: version, Folder: baseFolder, Owner: OwnerBase, Fingerprint: name + version, Modules: append([]string{}, modules...)}
}

func with(p Package, change func(*Package)) Package {
	change(&p)
	return p
}

func files(names ...string) func(*Package) { return func(p *Package) { p.Files = names } }

func namespaces(names ...string) func(*Package) { return func(p *Package) { p.Namespaces = names } }

func fingerprint(text string) func(*Package) { return func(p *Package) { p.Fingerprint = text } }

func hooked(p *Package) { p.Hooks = true }

func onPath(s Snapshot, path ...string) Snapshot { s.Path = path; return s }

func withHooks(s Snapshot, hooks ...Hook) Snapshot { s.Hooks = hooks; return s }

func withOrphans(s Snapshot, names ...string) Snapshot { s.Orphans = names; return s }

func TestDiff(t *testing.T) {
	six := system("six", "1.16.0", "six")
	for _, c := range []struct {
		name          string
		before, after Snapshot
		class         Class // "" is no change
		says          string
	}{
		{"nothing", viewOf(six), viewOf(six), "", ""},
		{"new", viewOf(six), viewOf(six, mine("pandas", "2.3.3", "pandas")), Added, "pandas 2.3.3 is new"},
		{"changed", viewOf(mine("numpy", "1.24.2", "numpy")), viewOf(mine("numpy", "2.0.1", "numpy")), Changed, "numpy 1.24.2 → 2.0.1"},
		{"same version spelled otherwise", viewOf(with(six, fingerprint(""))), viewOf(with(system("six", "1.16"), fingerprint(""))), "", ""},
		{"same version, other build", viewOf(mine("torch", "2.3.0")), viewOf(with(mine("torch", "2.3.0"), fingerprint("x"))), Changed, "torch 2.3.0 is now another build of the same version"},
		{"apt upgrade under its version", viewOf(six), viewOf(with(six, fingerprint("x"))), Changed, "six 1.16.0 is now another build of the same version"},
		{"covered", viewOf(six), viewOf(mine("six", "1.17.0", "six")), Changed, "six 1.16.0 (the system's) is now covered by 1.17.0"},
		{"covered by another build", viewOf(six), viewOf(with(mine("six", "1.16.0", "six"), fingerprint("x"))), Changed, "six 1.16.0 (the system's) is now covered by another build of 1.16.0"},
		{"covered by a build that is not known", viewOf(six), viewOf(with(mine("six", "1.16.0", "six"), fingerprint(""))), Changed, "six 1.16.0 (the system's) is now covered by another build of 1.16.0"},
		{"uncovered", viewOf(mine("six", "1.17.0", "six")), viewOf(six), Uncovered, "six 1.17.0 is gone and the system's 1.16.0 takes its place"},
		{"relocated", viewOf(six), viewOf(mine("six", "1.16.0", "six")), Relocated, "six 1.16.0 is the same and now in the environment itself"},
		{"relocated back", viewOf(mine("six", "1.16.0", "six")), viewOf(six), Relocated, "six 1.16.0 is the same and now the system's copy"},
		{"relocated within the system", viewOf(six), viewOf(with(six, func(p *Package) { p.Folder = "/usr/local/lib" })), Relocated, "six 1.16.0 is the same and now the system's copy"},
		{"found elsewhere within the environment", viewOf(mine("x", "1")), viewOf(with(mine("x", "1"), func(p *Package) { p.Folder = "/e/current/lib64" })), "", ""},
		{"no path known", onPath(viewOf()), onPath(viewOf(mine("x", "1", "x"))), Added, "x 1 is new"},
		{"no folder known", viewOf(), viewOf(Package{Name: "x", Version: "1"}), Added, "x 1 is new"},
		{"another language", Snapshot{Language: Python}, Snapshot{Language: R}, Environment, `the interpreter was "" (python) and is "" (r)`},
		{"removed", viewOf(six, mine("x", "1")), viewOf(six), Removed, "x 1 is gone"},
		{
			"editable through a hook", viewOf(), viewOf(with(mine("mylib", "0.1"), hooked)),
			AddedAtStart, "mylib 0.1 is new and can be imported after a restart",
		},
		{
			"in a folder that is new on the path", onPath(viewOf(), envFolder),
			onPath(viewOf(system("x", "1", "x")), envFolder, baseFolder), AddedAtStart, "x 1 is new and can be imported after a restart",
		},
		{
			"a module of the system's", viewOf(six), viewOf(six, mine("demo", "1", "demo", "six")),
			Shadowing, "demo 1 is new (takes over six from six 1.16.0 (the system's))",
		},
		{
			"the same module behind the environment's", viewOf(mine("a", "1", "m")), viewOf(mine("a", "1", "m"), system("b", "1", "m")),
			Added, "b 1 is new (m stays hidden behind a 1)",
		},
		{
			"a module without a package", withOrphans(viewOf(), "six"), viewOf(mine("six", "1.17.0", "six")),
			Shadowing, "six 1.17.0 is new (takes over six from a module that belonged to no package)",
		},
		{
			"a module without a package that stays", withOrphans(viewOf(), "six"), withOrphans(viewOf(mine("six", "1.17.0", "six")), "six"),
			Shadowing, "six 1.17.0 is new (takes over six from a module that belonged to no package)",
		},
		{
			"a file of a package beside it", viewOf(with(mine("a", "1", "ns"), files("ns/__init__.py", "ns/b.py"))),
			viewOf(with(mine("a", "1", "ns"), files("ns/__init__.py", "ns/b.py")), with(mine("b", "1", "ns/b"), files("ns/b.py"))),
			Clobber, "b 1 is new (has files of a 1)",
		},
		{
			"a part of a package beside it", viewOf(with(mine("a", "1", "ns"), files("ns/__init__.py"))),
			viewOf(with(mine("a", "1", "ns"), files("ns/__init__.py")), with(mine("b", "1", "ns/b"), files("ns/b.py"))),
			Added, "b 1 is new",
		},
		{
			"inherited behind a module without a package", withOrphans(viewOf(), "six"), withOrphans(viewOf(six), "six"),
			Added, "six 1.16.0 is new (six stays hidden behind a module that belongs to no package)",
		},
		{
			"the same files", viewOf(with(mine("opencv-python", "4.9", "cv2"), files("cv2/__init__.py"))),
			viewOf(with(mine("opencv-python", "4.9", "cv2"), files("cv2/__init__.py")), with(mine("opencv-python-headless", "4.9", "cv2"), files("cv2/__init__.py"))),
			Clobber, "opencv-python-headless 4.9 is new (has files of opencv-python 4.9)",
		},
		{
			"perhaps the same files", viewOf(mine("a", "1", "m")), viewOf(mine("a", "1", "m"), mine("b", "1", "m")),
			Clobber, "b 1 is new (has files of a 1)",
		},
		{
			"files beside files", viewOf(with(mine("matplotlib", "3", "mpl_toolkits"), files("mpl_toolkits/__init__.py"))),
			viewOf(with(mine("matplotlib", "3", "mpl_toolkits"), files("mpl_toolkits/__init__.py")), with(mine("basemap", "1", "mpl_toolkits"), files("mpl_toolkits/basemap.py"))),
			Added, "basemap 1 is new",
		},
		{
			"a second part of a namespace", viewOf(system("lazr-uri", "1", "lazr/uri")), viewOf(system("lazr-uri", "1", "lazr/uri"), system("lazr-restfulclient", "1", "lazr/restfulclient")),
			Added, "lazr-restfulclient 1 is new",
		},
		{
			"a namespace named whole", viewOf(with(system("a", "1", "ns"), namespaces("ns"))),
			viewOf(with(system("a", "1", "ns"), namespaces("ns")), with(mine("b", "1", "ns"), namespaces("ns"))),
			Added, "b 1 is new (importlib.invalidate_caches() is needed before import where ns is loaded already)",
		},
		{
			"a package over a namespace", viewOf(system("a", "1", "ns/a")), viewOf(system("a", "1", "ns/a"), mine("b", "1", "ns")),
			Shadowing, "b 1 is new (takes over ns from a 1 (the system's))",
		},
		{
			"a part of a package elsewhere", viewOf(system("a", "1", "ns")), viewOf(system("a", "1", "ns"), mine("b", "1", "ns/b")),
			AddedAtStart, "b 1 is new and can be imported after a restart (ns.b is looked for where ns of a 1 (the system's) was found at its import)",
		},
		{"another interpreter", viewOf(), func() Snapshot { s := viewOf(); s.Interpreter = "cpython 3.13.0 /usr/bin/python3.13"; return s }(), Environment, `the interpreter was "cpython 3.11.2 /usr/bin/python3.11" (python) and is "cpython 3.13.0 /usr/bin/python3.13" (python)`},
		{"another order", viewOf(), onPath(viewOf(), baseFolder, envFolder), Environment, "the folders that modules are imported from are in another order"},
		{"another folder", viewOf(six), onPath(viewOf(six), "/lab", envFolder, baseFolder), Environment, "modules are imported from other folders: /lab came"},
		{"a folder less", onPath(viewOf(six), envFolder, baseFolder, "/lab"), viewOf(six), Environment, "modules are imported from other folders: /lab went"},
		{"a folder that an editable package brings", viewOf(six), onPath(viewOf(six, with(mine("mylib", "0.1", "mylib"), hooked)), envFolder, "/src", baseFolder), AddedAtStart, "mylib 0.1 is new and can be imported after a restart"},
		{"a hook that nobody brings", viewOf(), withHooks(viewOf(), Hook{Name: "x.pth", Path: "/x.pth"}), Environment, "the startup hook x.pth is new, and no package that changed explains it"},
		{"a hook that changes under its package", withHooks(viewOf(six), Hook{Name: "x.pth", SHA256: "1", Owner: "six"}), withHooks(viewOf(six), Hook{Name: "x.pth", SHA256: "2", Owner: "six"}), Environment, "the startup hook x.pth has changed, and no package that changed explains it"},
		{"a hook of a new package", viewOf(), withHooks(viewOf(with(mine("mylib", "1"), hooked)), Hook{Name: "x.pth", Owner: "MyLib"}), AddedAtStart, "mylib 1 is new and can be imported after a restart"},
		{"a file that covers a package", viewOf(six), withOrphans(viewOf(six), "six"), Shadowing, "six is new (a module that belongs to no package; it takes over six from six 1.16.0 (the system's))"},
		{"a file that covers nothing", viewOf(six), withOrphans(viewOf(six), "notes"), Added, "notes is new (a module that belongs to no package)"},
		{"a file that went", withOrphans(viewOf(six), "notes"), viewOf(six), Removed, "notes is gone (a module that belonged to no package)"},
		{"files that a package left behind", viewOf(mine("x", "1", "x")), withOrphans(viewOf(), "x"), Removed, "x 1 is gone"},
	} {
		t.Run(c.name, func(t *testing.T) {
			changes := Diff(c.before, c.after)
			if c.class == "" {
				assert.Empty(t, changes)
				return
			}
			require.Len(t, changes, 1)
			assert.Equal(t, c.class, changes[0].Class)
			assert.Equal(t, c.says, changes[0].String())
			assert.Equal(t, c.class.Additive(), changes.Additive())
		})
	}
}

func TestTwoNewPackagesWithOneFileClobber(t *testing.T) {
	a := with(mine("a", "1", "cv2"), files("cv2/x.py"))
	b := with(mine("b", "1", "cv2"), files("cv2/x.py"))
	changes := Diff(viewOf(), viewOf(a, b))
	require.Len(t, changes, 2)
	assert.Equal(t, []Class{Clobber, Clobber}, []Class{changes[0].Class, changes[1].Class})
	b.Files = []string{"cv2/y.py"}
	assert.True(t, Diff(viewOf(), viewOf(a, b)).Additive())
	b.Files, b.Folder = a.Files, "/e/current/lib64/python3.11/site-packages"
	assert.True(t, Diff(viewOf(), viewOf(a, b)).Additive())
}

// What the new package stood behind goes with the same step: its module comes from other files now.
func TestAModuleThatChangesHandsIsTakenOver(t *testing.T) {
	changes := Diff(viewOf(mine("a", "1", "m")), viewOf(system("b", "1", "m")))
	assert.Equal(t, Removed, find(t, changes, "a").Class)
	assert.Equal(t, "b 1 is new (takes over m from a 1)", find(t, changes, "b").String())
}

func TestChangesAreInOrder(t *testing.T) {
	before := viewOf(mine("b", "1"), mine("d", "1"))
	after := withHooks(viewOf(mine("a", "1"), mine("b", "2")), Hook{Name: "c.pth", Path: "/2"}, Hook{Name: "c.pth", Path: "/1"})
	var names []string
	for _, one := range Diff(before, after) {
		names = append(names, one.Name)
	}
	assert.Equal(t, []string{"a", "b", "c.pth", "c.pth", "d"}, names)
}

func TestChangesSayWhoNeedsThem(t *testing.T) {
	before := viewOf(mine("numpy", "1.24.2", "numpy"), with(mine("scipy", "1", "scipy"), func(p *Package) { p.Requires = []string{"numpy"} }))
	after := viewOf(
		mine("numpy", "2.0.1", "numpy"), before.Packages[1],
		with(mine("jax", "1", "jax"), func(p *Package) { p.Requires = []string{"NumPy>=2", "numpy!=3", "scipy", "gone", "x; extra == 'y'"} }),
		with(mine("x", "2", "x"), func(p *Package) { p.Requires = []string{"x[all]"} }),
	)
	before.Packages = append(before.Packages, mine("x", "1", "x"), mine("gone", "1", "gone"))
	changes := Diff(before, after)
	assert.Equal(t, "gone 1 is gone", find(t, changes, "gone").String())
	assert.Equal(t, "numpy 1.24.2 → 2.0.1 (needed by jax)", find(t, changes, "numpy").String())
	assert.Equal(t, "x 1 → 2", find(t, changes, "x").String())
}

func TestRuntimeIsTheClosureOfTheKernel(t *testing.T) {
	kernel := with(mine("ipykernel", "6"), func(p *Package) { p.Requires = []string{"matplotlib-inline", "deep>=1", "odd; extra == 'test'"} })
	deep := with(mine("deep", "1", "deep"), func(p *Package) { p.Requires = []string{"deeper"} })
	before := viewOf(kernel, deep, mine("deeper", "1", "deeper"), mine("odd", "1", "odd"), mine("pyzmq", "17", "zmq"))
	after := viewOf(kernel, deep, mine("deeper", "2", "deeper"), mine("odd", "2", "odd"), mine("pyzmq", "26", "zmq"), mine("comm", "1", "comm"))
	assert.Equal(t, []string{"deeper", "pyzmq"}, Diff(before, after).Runtime())
}

func TestDiffOfR(t *testing.T) {
	lib := func(name, version string) Package {
		return Package{Name: name, Version: version, Folder: "/e/current/library", Owner: OwnerEnv, Modules: []string{name}}
	}
	before := Snapshot{Language: R, Path: []string{"/e/current/library"}, Packages: []Package{lib("R6", "2.5.1"), lib("rlang", "1.1.0")}}
	after := Snapshot{Language: R, Path: before.Path, Packages: []Package{lib("R6", "2.5.1"), lib("r6", "1"), lib("rlang", "1.1")}}
	changes := Diff(before, after)
	require.Len(t, changes, 2)
	assert.Equal(t, "r6 1 is new", changes[0].String())
	assert.Equal(t, "rlang 1.1.0 → 1.1", changes[1].String())
}

// A plan is written to a file and read again: what is not known must not become nothing.
func TestChangesSurviveJSON(t *testing.T) {
	changes := Diff(viewOf(mine("a", "1", "a"), with(mine("b", "1"), func(p *Package) { p.Modules = nil }), mine("c", "1")), viewOf())
	data, err := json.Marshal(changes)
	require.NoError(t, err)
	var again Changes
	require.NoError(t, json.Unmarshal(data, &again))
	assert.Equal(t, changes, again)
	assert.Nil(t, find(t, again, "b").Touches)
	assert.NotNil(t, find(t, again, "c").Touches)
	assert.NotContains(t, string(data), `"to"`)
}

func TestSnapshotsSurviveJSON(t *testing.T) {
	s := viewOf(mine("a", "1", "a"), with(mine("b", "1"), func(p *Package) { p.Modules, p.Files = nil, []string{} }))
	data, err := json.Marshal(s)
	require.NoError(t, err)
	var again Snapshot
	require.NoError(t, json.Unmarshal(data, &again))
	assert.Equal(t, s, again)
}

// Whoever builds a change by hand gives no details.
func TestSentencesWithoutDetail(t *testing.T) {
	for class, want := range map[Class]string{
		Shadowing:    "x 2 is new and takes over modules that came from elsewhere",
		Clobber:      "x 2 is new and has files that another package has as well",
		AlreadyThere: "x 2 is there already",
		Environment:  "the environment around the packages has changed: x",
	} {
		assert.Equal(t, want, Change{Name: "x", To: "2", Class: class}.String())
	}
	assert.Equal(t, "six 1.16.0 (the system's) is there already", Change{Name: "six", To: "1.16.0", ToOwner: OwnerBase, Class: AlreadyThere}.String())
}
