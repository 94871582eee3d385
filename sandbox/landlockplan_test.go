package sandbox

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func withLandlock(abi int, paths ...string) Facts {
	f := machine(paths...)
	f.Landlock = abi
	return f
}

func TestLinksAreRefusedWhereTheHostWouldFollowThem(t *testing.T) {
	plan := compile(t, Policy{Folder: "/w", KeptHome: "/k", RealHome: "/home/ada"}, withLandlock(2, "/w", "/k"))
	require.Equal(t, &Landlock{RefuseLinks: true, Links: []string{"/tmp", "/dev/shm", PrivateDir, HomeTarget}}, plan.Landlock)
	guarantee(t, plan.Enforced, "links")
	private := compile(t, Policy{HomeTarget: "/h"}, withLandlock(2))
	assert.Equal(t, []string{"/tmp", "/dev/shm", PrivateDir, "/h", WorkTarget}, private.Landlock.Links)
}

func TestWhatLandlockCannotDoIsSaid(t *testing.T) {
	for abi, says := range map[int]string{0: "no Landlock", 1: "Landlock 1"} {
		plan := compile(t, Policy{Folder: "/w"}, withLandlock(abi, "/w"))
		assert.Nil(t, plan.Landlock)
		assert.Contains(t, guarantee(t, plan.Missing, "links").Text, says)
	}
	plan := compile(t, Policy{Folder: "/tmp/x", Write: []string{"/w"}}, withLandlock(7, "/tmp/x", "/w"))
	missing := guarantee(t, plan.Missing, "links").Text
	assert.Contains(t, missing, "/tmp/x")
	assert.NotContains(t, missing, "/w,")
	assert.True(t, plan.Landlock.RefuseLinks, "it still holds elsewhere")
	allowed := compile(t, Policy{Folder: "/w", Links: "allow"}, withLandlock(7, "/w"))
	assert.Nil(t, allowed.Landlock)
	assert.Equal(t, "links: deny", guarantee(t, allowed.Missing, "links").Remedy)
}

func TestAbstractSocketsOfTheHost(t *testing.T) {
	host := compile(t, Policy{Network: NetworkHost, Links: "allow"}, withLandlock(6))
	assert.Equal(t, &Landlock{ScopeAbstract: true}, host.Landlock)
	guarantee(t, host.Enforced, "abstract-sockets")
	old := compile(t, Policy{Network: NetworkHost}, withLandlock(5))
	assert.False(t, old.Landlock.ScopeAbstract)
	assert.Contains(t, guarantee(t, old.Missing, "abstract-sockets").Text, "Landlock 5")
	assert.False(t, compile(t, Policy{}, withLandlock(7)).Landlock.ScopeAbstract, "its own network has its own")
}

func TestTheFilterIsPlannedWhereItIsKnown(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		f := machine()
		f.Arch = arch
		plan := compile(t, Policy{}, f)
		assert.Equal(t, &Filter{}, plan.Filter)
		guarantee(t, plan.Enforced, "system-calls")
	}
	f := machine()
	f.Arch = "riscv64"
	plan := compile(t, Policy{}, f)
	assert.Nil(t, plan.Filter)
	assert.Contains(t, guarantee(t, plan.Missing, "system-calls").Text, "riscv64")
	debug := compile(t, Policy{Debug: true}, machine())
	assert.Equal(t, &Filter{Debug: true}, debug.Filter)
	assert.Contains(t, guarantee(t, debug.Missing, "debug").Text, "ptrace is allowed")
	assert.Contains(t, debug.Warnings[0], "debug")
}
