package sandbox

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestIslandsAreMountedRightAfterTheGrants(t *testing.T) {
	f := machine("/w", "/w/.git", "/w/.venv", "/w/.pixi=>/far", "/w/sub/.git", "/d", "/out", "/out/venv").with("/w/venv!")
	plan := compile(t, Policy{Folder: "/w", Write: []string{"/out"}, Read: []string{"/d"}}, f)
	assert.Contains(t, text(plan), "--bind /out /out --bind /w /w "+
		"--ro-bind-fd @/out/venv /out/venv --ro-bind-fd @/w/.git /w/.git --ro-bind-fd @/w/.venv /w/.venv")
	assert.Contains(t, guarantee(t, plan.Enforced, "islands").Text, "/out/venv, /w/.git, /w/.venv: read-only")
	loose := guarantee(t, plan.Missing, "islands").Text
	assert.Contains(t, loose, "/w/.pixi is a link")
	assert.Contains(t, loose, "/w/venv is no folder")
	assert.Contains(t, guarantee(t, plan.Missing, "later-islands").Text, "made inside")
	assert.NotContains(t, text(plan), "/w/sub/.git")
	assert.Contains(t, strings.Join(plan.Sentences(), "\n"), "/w/.git stays read-only in the writable folder (the host acts on what is in it).")
}

func TestWhereNothingIsWrittenThereAreNoIslands(t *testing.T) {
	plan := compile(t, Policy{Read: []string{"/d"}}, machine("/d", "/d/.git"))
	for _, g := range append(plan.Enforced, plan.Missing...) {
		assert.NotContains(t, g.ID, "islands")
	}
	assert.NotContains(t, text(plan), "/d/.git")
}

func TestAWriteGrantOfExactlyThatFolderLiftsAnIsland(t *testing.T) {
	f := machine("/w", "/w/.git", "/w/.git/hooks", "/w/.venv")
	plan := compile(t, Policy{Folder: "/w", Write: []string{"/w/.git"}}, f)
	assert.Contains(t, text(plan), "--bind /w /w --ro-bind-fd @/w/.venv /w/.venv")
	assert.NotContains(t, text(plan), "/w/.git")
	_, err := Compile(Policy{Folder: "/w", Write: []string{"/w/.git/hooks"}}, f)
	require.ErrorContains(t, err, "lies in /w/.git, which stays read-only")
	plan = compile(t, Policy{Folder: "/w", Read: []string{"/w/.git/hooks"}}, f)
	assert.Contains(t, text(plan), "--ro-bind-fd @/w/.git /w/.git", "what is read there can be read")
}

func TestOnlyTheOutermostGrantHasIslands(t *testing.T) {
	plan := compile(t, Policy{Folder: "/w/sub", Write: []string{"/w"}}, machine("/w", "/w/sub", "/w/.git", "/w/sub/.git"))
	assert.Contains(t, text(plan), "@/w/.git")
	assert.NotContains(t, text(plan), "@/w/sub/.git", "the folder on the way to it can be renamed from inside")
}

func TestFoldersThatThePolicyNamesAsIslands(t *testing.T) {
	f := machine("/w", "/w/conda", "/w/a/env", "/w/l=>/w/real", "/elsewhere").with("/w/file!")
	f.Paths["/w/astray"] = Entry{Kind: EntryMissing, Resolved: "/w/nowhere", Link: "nowhere"}
	f.Paths["/closed"] = Entry{Kind: EntryMissing, Resolved: "/closed", Fault: "permission denied"}
	plan := compile(t, Policy{Folder: "/w", Islands: []string{"/w/conda", "/elsewhere"}}, f)
	assert.Contains(t, text(plan), "--bind /w /w --ro-bind-fd @/w/conda /w/conda --remount-ro")
	for path, says := range map[string]string{
		"/w/a/env": "not a folder directly beneath /w", "/w/l": "not a folder directly beneath /w", "/w/file": "is not a folder", "/w/astray": "does not exist", "/closed": "cannot be looked at", "rel": "absolute",
	} {
		_, err := Compile(Policy{Folder: "/w", Islands: []string{path}}, f)
		assert.ErrorContains(t, err, says)
	}
}

func TestAnIslandThatThePolicyNamesIsNotLiftedByAGrant(t *testing.T) {
	f := machine("/w", "/w/conda")
	compile(t, Policy{Folder: "/w", Islands: []string{"/w/conda"}}, f)
	for _, p := range []Policy{{Folder: "/w", Write: []string{"/w/conda"}}, {Write: []string{"/w/conda"}}, {Folder: "/w/conda"}} {
		p.Islands = []string{"/w/conda"}
		_, err := Compile(p, f)
		assert.ErrorContains(t, err, "island /w/conda is granted for writing as well")
	}
}

func TestAnIslandThatIsNotThereIsLeftOut(t *testing.T) {
	f := machine("/w", "/w/conda")
	plan := compile(t, Policy{Folder: "/w", Islands: []string{"/w/conda", "/w/gone", "/gone"}}, f)
	assert.Contains(t, text(plan), "@/w/conda /w/conda", "the others are kept")
	assert.NotContains(t, text(plan), "gone")
	assert.Equal(t, []string{"/w/gone does not exist and so is not kept read-only: it can be made and changed from inside"}, plan.Warnings)
}

func TestWhatTheHostRunsMayLieOnAnIsland(t *testing.T) {
	f := machine("/w", "/w/.venv", "/w/.venv/bin/kl!", "/w/bin")
	f.Search = append(f.Search, "/w/.venv/bin")
	p := Policy{Folder: "/w", Helper: "/w/.venv/bin/kl", Prefixes: []string{"/w/.venv"}}
	plan := compile(t, p, f)
	assert.Contains(t, text(plan), "--bind /w /w --ro-bind-fd @/w/.venv /w/.venv")
	assert.NotContains(t, text(plan), "--ro-bind /w/.venv /w/.venv", "the interpreter is seen by the island")
	p.Write = []string{"/w/.venv"}
	_, err := Compile(p, f)
	for _, says := range []string{"a folder on PATH", "starts the command", "interpreter"} {
		assert.ErrorContains(t, err, says, "the control: without the island each is refused")
	}
	f.Search = append(f.Search, "/w/bin")
	_, err = Compile(Policy{Folder: "/w"}, f)
	assert.ErrorContains(t, err, "contains /w/bin, a folder on PATH")
}
