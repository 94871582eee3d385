package sandboxtest

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/kernel-launch/kernel-launch/sandbox"
)

// policy is a small one: a home, a working folder beside it.
func policy(t *testing.T, helper string) sandbox.Policy {
	t.Helper()
	base, err := os.MkdirTemp("", "kl-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(base) })
	base, err = filepath.EvalSymlinks(base)
	must(t, err)
	p := sandbox.Policy{Folder: base + "/work", RealHome: base + "/home", Helper: helper}
	must(t, os.Mkdir(p.Folder, 0o755))
	must(t, os.Mkdir(p.RealHome, 0o755))
	return p
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// refusals are views that would be a way out. Each is refused when the plan is made, and the same view without the fault is not.
func refusals(t *testing.T, b sandbox.Backend, helper string) {
	for name, change := range map[string]func(*testing.T, *sandbox.Policy){
		"16 a folder with a socket": func(t *testing.T, p *sandbox.Policy) { p.Read = []string{socketIn(t, p)} },
		"17 a socket":               func(t *testing.T, p *sandbox.Policy) { p.Read = []string{socketIn(t, p) + "/s"} },
		"18 a socket to be written": func(t *testing.T, p *sandbox.Policy) { p.Write = []string{socketIn(t, p) + "/s"} },
		"78 a mount below a writable folder": func(_ *testing.T, p *sandbox.Policy) {
			p.Trees = []sandbox.Tree{{Source: p.RealHome, Target: p.Folder + "/planted"}}
		},
		"78 a mount behind a planted link": func(t *testing.T, p *sandbox.Policy) {
			must(t, os.Symlink(p.Folder+"/nowhere", p.Folder+"/link"))
			p.Trees = []sandbox.Tree{{Source: p.RealHome, Target: p.Folder + "/link/planted"}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := policy(t, helper)
			_, err := b.Plan(p)
			must(t, err)
			change(t, &p)
			_, err = b.Plan(p)
			var refused *sandbox.PathError
			if !errors.As(err, &refused) {
				t.Errorf("it was not refused: %v", err)
			}
		})
	}
}

// socketIn is a folder in which something listens.
func socketIn(t *testing.T, p *sandbox.Policy) string {
	t.Helper()
	dir := filepath.Dir(p.Folder) + "/d"
	must(t, os.Mkdir(dir, 0o755))
	l, err := net.Listen("unix", dir+"/s")
	must(t, err)
	t.Cleanup(func() { l.Close() })
	c, err := net.Dial("unix", dir+"/s")
	must(t, err)
	must(t, c.Close())
	return dir
}
