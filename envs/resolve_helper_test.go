package envs

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// plansIndex has packages that are named by what they do to klnum, which others stand on.
func plansIndex(t testing.TB) *fakeIndex {
	t.Helper()
	x := newIndex(t)
	for _, w := range []struct {
		name, version string
		requires      []string
	}{
		{"klnum", "1.0", nil},
		{"klnum", "1.5", nil},
		{"klnum", "2.0", nil},
		{"klleaf", "1.0", nil},
		{"klstand", "1.0", []string{"klnum>=1"}},
		{"klmove", "1.0", []string{"klnum>=2"}},
		{"klchoice", "1.0", []string{"klnum>=1,<2"}},
		{"klchoice", "2.0", []string{"klnum>=2"}},
		{"klclash", "1.0", []string{"klnum<1.5"}},
		{"klclash2", "1.0", []string{"klnum>=2", "klclash"}},
		{"klextra", "1.0", []string{"klleaf ; extra == 'more'"}},
	} {
		x.put(wheel(t, w.name, w.version, w.requires, nil))
	}
	x.put("klsource-1.0.tar.gz", []byte("no archive: nobody may look into it"))
	return x
}

// desk is an environment whose view is what the test writes into base, and what it owns.
type desk struct {
	*Store
	t     *testing.T
	index *fakeIndex
	base  string // its site folder
	env   *Environment
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	x := plansIndex(t)
	s := newStore(t)
	s.UV, s.Index = realUV(t), IndexSettings{URL: x.simple()}
	base := fakeBase(t)
	p := &desk{Store: s, t: t, index: x, base: filepath.Join(base, "site")}
	p.there(p.base, "ipykernel", "7.0")
	p.there(p.base, "jupyter_client", "8.1")
	var err error
	p.env, err = s.Create(t.Context(), CreateOptions{Name: "a", Python: filepath.Join(base, "bin", "python3")})
	require.NoError(t, err)
	return p
}

// there writes the description of a distribution.
func (p *desk) there(folder, name, version string, more ...string) {
	head := "Metadata-Version: 2.1\nName: " + name + "\nVersion: " + version + "\n" + strings.Join(more, "\n") + "\n"
	write(p.t, filepath.Join(folder, name+"-"+version+".dist-info", "METADATA"), head)
	write(p.t, filepath.Join(folder, name, "__init__.py"), "")
}

func (p *desk) owns(name, version string, more ...string) {
	p.there(p.env.site(), name, version, more...)
}

func (p *desk) ask(r Request) (*Plan, error) {
	p.t.Helper()
	return p.Prepare(p.t.Context(), "a", r)
}

func (p *desk) add(texts ...string) *Plan {
	p.t.Helper()
	plan, err := p.ask(Request{Add: texts})
	require.NoError(p.t, err)
	return plan
}

// by is what changes: "" for what was not there and for what goes.
func by(p *Plan) map[string][2]string {
	m := map[string][2]string{}
	for _, c := range p.Changes {
		m[c.Name] = [2]string{c.From, c.To}
	}
	return m
}

func statusFor(status int) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(status); return true }
}
