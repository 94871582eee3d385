package sandbox

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestContainerNames(t *testing.T) {
	seen := map[string]string{}
	for folder, p := range map[string]Policy{
		`C:\nb`: {}, `C:\nb2`: {}, `D:\nb`: {}, ``: {}, `C:\nb\x`: {Trees: []Tree{{`C:\env\1`, `C:\env\current`}}}, `C:\nb\y`: {Trees: []Tree{{`C:\env\1`, `C:\other\current`}}},
	} {
		name := containerName(folder, p)
		assert.Regexp(t, regexp.MustCompile(`^[-_. A-Za-z0-9]{1,64}$`), name)
		assert.NotContains(t, seen, name)
		seen[name] = folder
	}
	assert.Equal(t, containerName(`C:\Nb\`, Policy{}), containerName(`c:/nb`, Policy{}), "one folder, one container")
	old := Policy{Trees: []Tree{{`C:\env\gen-1`, `C:\env\current`}}}
	installed := Policy{Trees: []Tree{{`C:\env\gen-2`, `C:\env\current`}}}
	assert.Equal(t, containerName(`C:\nb`, old), containerName(`C:\nb`, installed), "an install keeps the container")
	other := Policy{Trees: []Tree{{`C:\env2\gen-1`, `C:\env2\current`}}}
	assert.NotEqual(t, containerName(`C:\nb`, old), containerName(`C:\nb`, other), "another environment has another one")
}

func TestCapabilitiesOfNetworks(t *testing.T) {
	for network, want := range map[Network][]string{NetworkNone: {}, NetworkAllowlist: {}, NetworkHost: {"internetClient", "privateNetworkClientServer"}} {
		plan := compile(t, Policy{Network: network}, win())
		assert.Equal(t, want, plan.AppContainer.Capabilities)
		missing := map[string]bool{}
		for _, g := range plan.Missing {
			missing[g.ID] = true
		}
		assert.Equal(t, network == NetworkAllowlist, missing["egress"])
		assert.True(t, missing["channels"])
	}
}

func TestRightsNeverStandOnBroadFolders(t *testing.T) {
	p := Policy{
		Folder: `C:\Users\ada\nb`, Read: []string{`C:\data`}, Prefixes: []string{`C:\Program Files\R\R-4`, `C:\Python312`}, KeptHome: `C:\Users\ada\AppData\Local\kl\home`,
	}
	f := win(p.Folder, p.Read[0], p.Prefixes[0], p.Prefixes[1], p.KeptHome)
	c := inPlace{paths: windowsPaths, f: f}
	a := compile(t, p, f).AppContainer
	for _, g := range a.Grants {
		assert.False(t, c.isAny(g.Path, windowsBroad) || c.holdsHome(g.Path), g.Path)
		assert.False(t, c.inAny(g.Path, windowsOpen), "%s is open to every container: nothing is granted there", g.Path)
	}
	assert.Equal(t, p.Prefixes, a.Trials)
}

func TestJob(t *testing.T) {
	assert.Equal(t, Job{LimitFlags: 0x2400}, job(Limits{}))
	assert.Equal(t, Job{LimitFlags: 0x2608, Memory: 5, ActiveProcesses: 7}, job(Limits{Memory: 5, Processes: 7}))
	for _, c := range []struct {
		cpus       float64
		processors int
		want       uint32
	}{{1, 4, 2500}, {1.5, 2, 7500}, {8, 2, 10000}, {0.00001, 64, 1}, {1, 0, 10000}} {
		assert.Equal(t, c.want, Job{CPUs: c.cpus}.CPURate(c.processors))
	}
}

func TestVariablesOfAContainer(t *testing.T) {
	plan := compile(t, Policy{Environment: map[string]string{"systemroot": `D:\Windows`, "Temp": "x", "XDG_CACHE_HOME": HomeTarget + "/.cache"}}, win())
	temp := plan.AppContainer.Temp
	assert.Equal(t, []string{
		"HOME=" + temp + `\home`, `LOCALAPPDATA=C:\Users\ada\AppData\Local`, "TEMP=" + temp, "TMP=" + temp, "USERPROFILE=" + temp + `\home`, "XDG_CACHE_HOME=" + temp + `\home\.cache`,
		`systemroot=D:\Windows`,
	}, plan.Environment)
	f := win()
	f.Known = nil
	_, err := Compile(Policy{}, f)
	assert.ErrorContains(t, err, "LOCALAPPDATA")
	assert.ErrorContains(t, err, "SYSTEMROOT")
}
