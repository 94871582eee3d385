package sandbox

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var writeGolden = flag.Bool("golden", false, "write the golden files anew")

func mac(paths ...string) Facts {
	f := Facts{
		Goos: "darwin", UID: 501, GID: 20, User: "ada", Homes: []string{"/Users/ada"}, Search: []string{"/usr/bin", "/Users/ada/bin"},
		Paths: map[string]Entry{"/Users/ada": {Kind: EntryFolder, Resolved: "/Users/ada"}},
	}
	return f.with(paths...)
}

func win(paths ...string) Facts {
	f := Facts{
		Goos: "windows", User: "ada", Homes: []string{`C:\Users\ada`}, Search: []string{`C:\Windows\System32`, `C:\Users\ada\bin`},
		Known: map[string]string{"LOCALAPPDATA": `C:\Users\ada\AppData\Local`, "SYSTEMROOT": `C:\Windows`, "TEMP": `C:\Users\ada\AppData\Local\Temp`},
		Paths: map[string]Entry{},
	}
	return f.with(paths...)
}

// shape is one policy of the golden files, without the paths that differ.
type shape struct {
	name   string
	change func(p *Policy, join func(parts ...string) string)
}

var shapes = []shape{
	{"minimal", func(*Policy, func(...string) string) {}},
	{"masked", func(p *Policy, join func(...string) string) {
		p.Read, p.Hide = []string{join("data")}, []string{join("data", "token.txt")}
	}},
	{"project", func(p *Policy, join func(...string) string) {
		p.Folder, p.Project = join("study", "notebooks"), true
	}},
	{"host-network", func(p *Policy, _ func(...string) string) { p.Network = NetworkHost }},
	{"debug", func(p *Policy, _ func(...string) string) { p.Debug, p.Network = true, NetworkAllowlist }},
}

func TestGoldenPlans(t *testing.T) {
	for _, s := range shapes {
		t.Run("darwin-"+s.name, func(t *testing.T) {
			p := Policy{
				Network: NetworkNone, Folder: "/Users/ada/nb", RealHome: "/Users/ada", KeptHome: "/Users/ada/Library/kl/home-1", Prefixes: []string{"/opt/py"},
				Trees:       []Tree{{"/Users/ada/Library/kl/env/gen-3", "/Users/ada/Library/kl/env/current"}},
				Environment: map[string]string{"PATH": "/opt/py/bin", "HOME": HomeTarget, "API_TOKEN": "very-secret"},
			}
			s.change(&p, func(parts ...string) string { return "/Users/ada/" + strings.Join(parts, "/") })
			f := mac("/Users/ada/nb", "/Users/ada/study/notebooks", "/opt/py", "/Users/ada/Library/kl/env/gen-3", "/Users/ada/data", "/Users/ada/data/token.txt!")
			f.Project = "/Users/ada/study"
			f.Paths[p.KeptHome] = Entry{Kind: EntryMissing, Resolved: p.KeptHome}
			golden(t, "darwin-"+s.name, compile(t, p, f))
		})
		t.Run("windows-"+s.name, func(t *testing.T) {
			local := `C:\Users\ada\AppData\Local\kl`
			p := Policy{
				Network: NetworkNone, Folder: `C:\Users\ada\nb`, RealHome: `C:\Users\ada`, KeptHome: local + `\home-1`,
				Prefixes: []string{`C:\Users\ada\AppData\Local\Programs\Python\Python312`}, Trees: []Tree{{local + `\env\gen-3`, local + `\env\current`}},
				Environment: map[string]string{"Path": `C:\py`, "HOME": HomeTarget, "API_TOKEN": "very-secret"}, Limits: Limits{Memory: 2 << 30, Processes: 64, CPUs: 1.5},
			}
			s.change(&p, func(parts ...string) string { return `C:\Users\ada\` + strings.Join(parts, `\`) })
			f := win(`C:\Users\ada\nb`, `C:\Users\ada\study\notebooks`, p.Prefixes[0], local+`\env\gen-3`, `C:\Users\ada\data`, `C:\Users\ada\data\token.txt!`)
			f.Project = `C:\Users\ada\study`
			f.Paths[p.KeptHome] = Entry{Kind: EntryMissing, Resolved: p.KeptHome}
			golden(t, "windows-"+s.name, compile(t, p, f))
		})
	}
}

// golden compares a plan, as a person and as a machine would read it, with the file of that name.
func golden(t *testing.T, name string, plan *Plan) {
	t.Helper()
	var out strings.Builder
	fmt.Fprintf(&out, "%s\n", strings.Join(plan.Sentences(), "\n"))
	if s := plan.Seatbelt; s != nil {
		out.WriteString("\n")
		for _, p := range s.Parameters {
			fmt.Fprintf(&out, "%s=%s (%s)\n", p.Name, p.Value, p.Why)
		}
		fmt.Fprintf(&out, "\n%s", s.Profile)
	}
	if a := plan.AppContainer; a != nil {
		values := *a
		values.Steps = nil // they stand among the sentences
		data, err := json.MarshalIndent(values, "", "  ")
		require.NoError(t, err)
		fmt.Fprintf(&out, "\n%s\n", data)
	}
	all, err := json.Marshal(plan)
	require.NoError(t, err)
	assert.NotContains(t, out.String()+string(all), "very-secret")
	file := filepath.Join("testdata", "golden", name+".txt")
	if *writeGolden {
		require.NoError(t, os.WriteFile(file, []byte(out.String()), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err, "run this test with -golden to write it")
	assert.Equal(t, string(want), out.String())
}
