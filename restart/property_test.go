package restart

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// random makes snapshots from few names, so that they meet.
func random(r *rand.Rand) Snapshot {
	s := viewOf()
	if r.IntN(8) == 0 {
		s.Interpreter = "cpython 3.13.0 /usr/bin/python3.13"
	}
	s.Path = pick(r, s.Path, s.Path, s.Path, []string{envFolder, "/src", baseFolder}, []string{baseFolder, envFolder}, []string{envFolder})
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		if r.IntN(3) > 0 {
			s.Packages = append(s.Packages, randomPackage(r, name))
		}
	}
	for _, module := range []string{"a", "ns", "loose"} {
		if r.IntN(4) == 0 && !owns(s, module) {
			s.Orphans = append(s.Orphans, module)
		}
	}
	for _, name := range []string{"a.pth", "site.pth"} {
		if r.IntN(4) == 0 {
			s.Hooks = append(s.Hooks, Hook{Name: name, SHA256: pick(r, "1", "2"), Owner: pick(r, "", "a", "b")})
		}
	}
	return s
}

func randomPackage(r *rand.Rand, name string) Package {
	p := Package{
		Name: name, Version: pick(r, "1.0", "1", "2.0rc1", "2004d"), Folder: pick(r, envFolder, baseFolder, "/src"), Owner: OwnerEnv,
		Fingerprint: pick(r, "", "x", "y"), Hooks: r.IntN(5) == 0, Requires: pick(r, nil, []string{"a>=1"}, []string{"b", "c; extra == 'x'"}),
		Modules: pick(r, nil, []string{}, []string{name}, []string{name, "shared"}, []string{"ns/" + name}, []string{"ns"}),
	}
	if p.Folder != envFolder {
		p.Owner = OwnerBase
	} else if r.IntN(2) == 0 {
		p.Files = []string{name + ".py", pick(r, "shared.py", name+"/x.py")}
	}
	if len(p.Modules) == 1 && p.Modules[0] == "ns" && r.IntN(2) == 0 {
		p.Namespaces = p.Modules
	}
	return p
}

var mirrored = map[Class][]Class{
	Added: {Removed}, AddedAtStart: {Removed}, Shadowing: {Removed}, Clobber: {Removed},
	Removed: {Added, AddedAtStart, Shadowing, Clobber},
	Changed: {Changed, Uncovered}, Uncovered: {Changed}, Relocated: {Relocated}, Environment: {Environment},
}

func TestProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	seen := map[Class]int{}
	for i := range 5000 {
		a, b := random(r), random(r)
		there, back := Diff(a, b), Diff(b, a)
		for _, one := range there {
			seen[one.Class]++
		}
		ok := assert.Empty(t, Diff(a, a)) && assert.Equal(t, there, Diff(a, b)) && mirrors(t, there, back) && conserves(t, a, b, there) && monotone(t, r, there)
		require.True(t, ok, "round %d: %+v\n%+v\n%v", i, a, b, there)
	}
	assert.Len(t, seen, len(mirrored), "classes that never came up: %v", seen)
}

// mirrors: each change has its counterpart on the way back.
func mirrors(t *testing.T, there, back Changes) bool {
	if !assert.Len(t, back, len(there)) {
		return false
	}
	rest := slices.Clone(back)
	for _, one := range there {
		i := slices.IndexFunc(rest, func(other Change) bool {
			return one.Name == other.Name && one.From == other.To && one.To == other.From && one.FromOwner == other.ToOwner &&
				one.Runtime == other.Runtime && slices.Contains(mirrored[one.Class], other.Class)
		})
		if !assert.GreaterOrEqual(t, i, 0, "%v has no counterpart in %v", one, rest) {
			return false
		}
		rest = slices.Delete(rest, i, i+1)
	}
	return true
}

// conserves: after additive changes each package of before is there with the same version, no loose module went, and the rest is as it was.
func conserves(t *testing.T, a, b Snapshot, changes Changes) bool {
	if !changes.Additive() {
		return true
	}
	now := look(b)
	for _, p := range a.Packages {
		same := now.byName[p.Name]
		if !assert.NotNil(t, same, p.Name) || !assert.True(t, sameVersion(Python, p.Version, same.Version), p.Name) {
			return false
		}
	}
	for _, name := range a.Orphans {
		if !assert.True(t, now.orphans[name] || owns(b, name), name) {
			return false
		}
	}
	return assert.Equal(t, a.Interpreter, b.Interpreter)
}

// monotone: to know what a kernel has loaded never makes its verdict harsher.
func monotone(t *testing.T, r *rand.Rand, changes Changes) bool {
	sees := r.IntN(2) == 0
	plain := Judge(Kernel{}, changes, sees)
	known := Judge(Kernel{Loaded: loaded(pick(r, "os", "a", "b.x", "ns.c", "shared"), fmt.Sprintf("e=%s/e.py", baseFolder))}, changes, sees)
	return assert.LessOrEqual(t, weight[known.Verdict], weight[plain.Verdict], "%v against %v", known, plain) &&
		assert.NotEmpty(t, plain.Reasons) && assert.NotEmpty(t, known.Reasons) &&
		assert.Equal(t, !changes.Additive(), plain.Verdict == Required)
}

func owns(s Snapshot, module string) bool {
	v := look(s)
	v.modules = index(v, map[string]bool{module: true})
	return v.owned(module)
}
