package sandboxtest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-launch/kernel-launch/internal/probe"
	"github.com/kernel-launch/kernel-launch/sandbox"
	"github.com/kernel-launch/kernel-launch/sandbox/selftest"
)

// scratch is about what is made inside, and what of it the host finds afterwards.
func scratch(t *testing.T, b sandbox.Backend, helper string) {
	t.Run("62 beside a folder that is shown", func(t *testing.T) { besideAGrant(t, b, helper) })
	t.Run("78 where a link of the folder leads", func(t *testing.T) { behindALink(t, b, helper) })
	t.Run("64 to a file with another name", func(t *testing.T) { anotherName(t, b, helper) })
	t.Run("84 in private folders", func(t *testing.T) { inPrivateFolders(t, b, helper) })
	t.Run("60 in the working folder", func(t *testing.T) { inTheFolder(t, b, helper) })
	t.Run("86 without a bound, which is said", func(t *testing.T) { unbounded(t, b, helper) })
	t.Run("94 the exit status", func(t *testing.T) { status(t, b, helper) })
}

func create(path string) probe.Call {
	return probe.Call{Name: "create", Args: probe.Args{Path: path, Other: "made inside"}}
}

// makes lets a file be made inside and says whether that worked.
func makes(t *testing.T, b sandbox.Backend, p sandbox.Policy, path string) {
	t.Helper()
	plan, err := b.Plan(p)
	must(t, err)
	outcomes, err := selftest.Inside(t.Context(), b, plan, create(path))
	must(t, err)
	if !outcomes[0].Did {
		t.Errorf("%s cannot be made inside: %v", path, outcomes[0])
	}
}

func exists(t *testing.T, path string, want bool) {
	t.Helper()
	if _, err := os.Lstat(path); (err == nil) != want {
		t.Errorf("%s on the host: there: %v, want %v", path, err == nil, want)
	}
}

func besideAGrant(t *testing.T, b sandbox.Backend, helper string) {
	p := policy(t, helper)
	base, err := os.MkdirTemp("/tmp", "kl-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(base) })
	must(t, os.Mkdir(base+"/data", 0o755))
	p.Read = []string{base + "/data"}
	makes(t, b, p, base+"/beside")
	exists(t, base+"/beside", false)
}

func behindALink(t *testing.T, b sandbox.Backend, helper string) {
	p := policy(t, helper)
	base := filepath.Dir(p.Folder)
	must(t, os.Symlink(base, p.Folder+"/link"))
	p.Trees = []sandbox.Tree{{Source: p.RealHome, Target: p.Folder + "/link/planted"}}
	makes(t, b, p, p.Folder+"/new")
	exists(t, p.Folder+"/new", true)
	exists(t, base+"/planted", false)
}

// anotherName: mounts cannot keep a file from being written by its other name, so the plan has to say so.
func anotherName(t *testing.T, b sandbox.Backend, helper string) {
	p := policy(t, helper)
	elsewhere, linked := filepath.Dir(p.Folder)+"/elsewhere", p.Folder+"/two-names"
	must(t, os.WriteFile(elsewhere, nil, 0o600))
	must(t, os.Link(elsewhere, linked))
	plan, err := b.Plan(p)
	must(t, err)
	call := probe.Call{Name: "open to write", Args: probe.Args{Path: linked}}
	outcomes, err := selftest.Inside(t.Context(), b, plan, call)
	must(t, err)
	if !outcomes[0].Did {
		t.Errorf("it cannot be opened inside: %v", outcomes[0])
	}
	if !strings.Contains(strings.Join(plan.Warnings, "\n"), "two-names") {
		t.Errorf("the plan does not warn of it: %v", plan.Warnings)
	}
}

func inPrivateFolders(t *testing.T, b sandbox.Backend, helper string) {
	p := policy(t, helper)
	name := filepath.Base(filepath.Dir(p.Folder)) + "-made"
	for _, path := range []string{"/tmp/" + name, "/dev/shm/" + name, p.RealHome + "/" + name} {
		makes(t, b, p, path)
		exists(t, path, false)
	}
}

func inTheFolder(t *testing.T, b sandbox.Backend, helper string) {
	p := policy(t, helper)
	p.KeptHome = filepath.Dir(p.Folder) + "/kept"
	must(t, os.Mkdir(p.KeptHome, 0o755))
	makes(t, b, p, p.Folder+"/new")
	exists(t, p.Folder+"/new", true)
	makes(t, b, p, sandbox.HomeTarget+"/new")
	exists(t, p.KeptHome+"/new", true)
	exists(t, p.RealHome+"/new", false)
}

// unbounded: nothing bounds single files, so the plan has to say so.
func unbounded(t *testing.T, b sandbox.Backend, helper string) {
	plan, err := b.Plan(policy(t, helper))
	must(t, err)
	if !slices.ContainsFunc(plan.Missing, func(g sandbox.Guarantee) bool { return g.ID == "disk" }) {
		t.Errorf("the plan does not say that the disk is not bounded: %v", plan.Missing)
	}
}

func status(t *testing.T, b sandbox.Backend, helper string) {
	plan, err := b.Plan(policy(t, helper))
	must(t, err)
	for _, want := range []int{0, 3, 139} {
		call := probe.Call{Name: "exit", Args: probe.Args{Numbers: []int64{int64(want)}}}
		p, err := b.Start(t.Context(), plan, sandbox.Command{Argv: []string{sandbox.HelperTarget, probe.Word, probe.Text(call)}})
		must(t, err)
		err = p.Wait()
		var status *exec.ExitError
		switch {
		case want == 0 && err != nil:
			t.Error(err)
		case want != 0 && (!errors.As(err, &status) || status.ExitCode() != want):
			t.Errorf("it ended with %d, and came to %v", want, err)
		}
	}
}
