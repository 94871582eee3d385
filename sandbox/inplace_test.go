package sandbox

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOtherPlatformsStartNothing(t *testing.T) {
	for goos, want := range map[string]struct{ name, cause string }{
		"darwin": {"seatbelt", CauseUntried}, "windows": {"appcontainer", CauseUntried}, "freebsd": {"none", CauseMissing},
	} {
		b := absent(goos)
		assert.Equal(t, want.name, b.Name())
		_, started := b.Start(t.Context(), nil, Command{})
		for _, err := range []error{b.Probe(t.Context()), started} {
			var e *UnavailableError
			require.ErrorAs(t, err, &e)
			assert.Equal(t, want.name, e.Backend)
			assert.Equal(t, want.cause, e.Cause)
			assert.Contains(t, e.Error(), goos)
		}
	}
}

func TestOtherPlatformsPlan(t *testing.T) {
	plan, err := absent("darwin").Plan(Policy{})
	require.NoError(t, err)
	assert.Equal(t, "tried", plan.Missing[0].ID)
	assert.NotContains(t, strings.Join(plan.Sentences(), "\n"), "/usr and", "the sentences of the Linux view are not these plans'")

	var e *UnavailableError
	_, err = absent("freebsd").Plan(Policy{})
	require.ErrorAs(t, err, &e)
	_, err = Compile(Policy{}, Facts{Goos: "freebsd"})
	require.ErrorAs(t, err, &e)
}

func TestGrantsInPlace(t *testing.T) {
	type row struct {
		p    Policy
		f    Facts
		use  string
		says string
	}
	temp := mac("/private/var/folders/a/b/T/x").with("/var/folders/a/b/T=>/private/var/folders/a/b/T")
	linked := mac("/l=>/Users/ada")
	for name, r := range map[string]row{
		"mac, relative":              {Policy{Folder: "nb"}, mac(), "folder", "not an absolute path"},
		"mac, missing":               {Policy{Read: []string{"/gone"}}, mac(), "read", "does not exist"},
		"mac, a file as folder":      {Policy{Folder: "/f"}, mac("/f!"), "folder", "is not a folder"},
		"mac, home":                  {Policy{Folder: "/Users/ada"}, mac(), "folder", "too broad"},
		"mac, home in another case":  {Policy{Folder: "/users/ADA"}, mac("/users/ADA"), "folder", "too broad"},
		"mac, a link to home":        {Policy{Folder: "/l"}, linked, "folder", "too broad"},
		"mac, parent of homes":       {Policy{Read: []string{"/Users"}}, mac("/Users"), "read", "too broad"},
		"mac, the root":              {Policy{Read: []string{"/"}}, mac("/"), "read", "too broad"},
		"mac, another name of homes": {Policy{Read: []string{"/System/Volumes/Data/Users"}}, mac("/System/Volumes/Data/Users"), "read", "too broad"},
		"mac, /tmp":                  {Policy{Folder: "/tmp"}, mac("/tmp"), "folder", "too broad"},
		"mac, all temporary files":   {Policy{Folder: "/var/folders/a/b/T"}, temp, "folder", "too broad"},
		"mac, keychains":             {Policy{Read: []string{"/Library/Keychains/x"}}, mac("/Library/Keychains/x"), "read", "never shown"},
		"mac, launch agents":         {Policy{Write: []string{"/Users/ada/Library/LaunchAgents"}}, mac("/Users/ada/Library/LaunchAgents"), "write", "never written"},
		"mac, a folder on PATH":      {Policy{Write: []string{"/Users/ada/bin"}}, mac("/Users/ada/bin"), "write", "PATH"},
		"mac, our folders":           {Policy{Read: []string{"/Users/ada/x"}, Own: []string{"/Users/ADA/x/own"}}, mac("/Users/ada/x"), "read", "contains /Users/ADA/x/own"},
		"mac, an interpreter":        {Policy{Folder: "/srv/a", Prefixes: []string{"/srv/a/py"}}, mac("/srv/a", "/srv/a/py"), "folder", "interpreter"},
		"mac, read in written":       {Policy{Folder: "/w", Read: []string{"/w/data"}}, mac("/w", "/w/data"), "read", "can be written"},
		"mac, hidden around folder":  {Policy{Folder: "/w/nb", Hide: []string{"/w"}}, mac("/w", "/w/nb"), "hide", "needs"},
		"mac, interpreter at home":   {Policy{Prefixes: []string{"/Users/ada"}}, mac(), "interpreter", "too broad"},
		"mac, a tree elsewhere":      {Policy{Writable: []Tree{{"/s", "/t"}}}, mac("/s"), "tree target", "another path"},
		"mac, zero byte":             {Policy{Folder: "/a\x00b"}, mac("/a\x00b"), "folder", "zero byte"},

		"windows, relative":           {Policy{Folder: `nb`}, win(), "folder", "not an absolute path"},
		"windows, relative to drive":  {Policy{Folder: `C:nb`}, win(`C:nb`), "folder", "not an absolute path"},
		"windows, without a drive":    {Policy{Folder: `\nb`}, win(`\nb`), "folder", "not an absolute path"},
		"windows, the profile":        {Policy{Folder: `C:\Users\ada`}, win(`C:\Users\ada`), "folder", "too broad"},
		"windows, another's profile":  {Policy{Folder: `C:\Users\bob`}, win(`C:\Users\bob`), "folder", "too broad"},
		"windows, in another case":    {Policy{Folder: `c:/USERS/Ada/`}, win(`c:/USERS/Ada/`), "folder", "too broad"},
		"windows, a drive":            {Policy{Read: []string{`D:\`}}, win(`D:\`), "read", "too broad"},
		"windows, all users":          {Policy{Read: []string{`C:\Users`}}, win(`C:\Users`), "read", "too broad"},
		"windows, around all users":   {Policy{Read: []string{`C:\x\..`}}, win(`C:\x\..`).with(`C:\x\..=>C:\`), "read", "too broad"},
		"windows, Windows":            {Policy{Read: []string{`C:\Windows\Temp`}}, win(`C:\Windows\Temp`), "read", "never shown"},
		"windows, programs":           {Policy{Write: []string{`C:\Program Files\x`}}, win(`C:\Program Files\x`), "write", "never written"},
		"windows, a share":            {Policy{Read: []string{`\\server\x`}}, win(`\\server\x`), "read", "network share"},
		"windows, a share by slashes": {Policy{Read: []string{`//server/x`}}, win(`//server/x`), "read", "network share"},
		"windows, a device path":      {Policy{Read: []string{`\\?\C:\x`}}, win(`\\?\C:\x`), "read", "device path"},
		"windows, a device":           {Policy{Read: []string{`C:\x\nul.txt`}}, win(`C:\x\nul.txt`), "read", "stands for a device"},
		"windows, a stream":           {Policy{Read: []string{`C:\x:y`}}, win(`C:\x:y`), "read", "stream"},
		"windows, a trailing dot":     {Policy{Read: []string{`C:\Users.\ada`}}, win(`C:\Users.\ada`), "read", "ends in a dot"},
		"windows, a short name":       {Policy{Read: []string{`C:\PROGRA~1`}}, win(`C:\PROGRA~1`), "read", "short form"},
		"windows, an alias":           {Policy{Prefixes: []string{`C:\Users\ada\AppData\Local\Microsoft\WindowsApps\python.exe`}}, win(), "interpreter", "execution alias"},
		"windows, hidden in Windows":  {Policy{Hide: []string{`C:\Windows\x`}}, win(`C:\Windows\x`), "hide", "every container can read"},
	} {
		t.Run(name, func(t *testing.T) {
			plan, err := Compile(r.p, r.f)
			require.Nil(t, plan)
			var e *PathError
			require.ErrorAs(t, err, &e)
			assert.Equal(t, r.use, e.Use)
			assert.Contains(t, e.Error(), r.says)
			assert.Equal(t, r.says == "too broad", e.Broad)
		})
	}
}

func TestOrdinaryFoldersInPlace(t *testing.T) {
	for _, folder := range []string{"/Users/ada/nb", "/Volumes/disk/x", "/private/var/folders/a/b/T/run", "/tmp/x", "/opt/course", "/Users/Shared/x"} {
		real, err := cleanDarwin(folder)
		require.NoError(t, err)
		assert.Equal(t, real, compile(t, Policy{Folder: folder}, mac(folder)).Dir)
	}
	for _, folder := range []string{`C:\Users\ada\nb`, `d:/data`, `C:\Users\ada\AppData\Local\Temp\x`, `C:\work`} {
		real, err := cleanWindows(folder)
		require.NoError(t, err)
		assert.Equal(t, real, compile(t, Policy{Folder: folder}, win(folder)).Dir)
	}
}

func TestDemandsInPlace(t *testing.T) {
	for name, r := range map[string]struct {
		p    Policy
		f    Facts
		keys []string
	}{
		"mac holds no limit":             {Policy{Limits: Limits{Memory: 1, Processes: 1, CPUs: 1, Tmp: 1, Shm: 1}}, mac(), []string{"limits.memory", "limits.processes", "limits.cpus", "limits.tmp", "limits.shm"}},
		"windows holds those of a job":   {Policy{Limits: Limits{Memory: 1, Processes: 1, CPUs: 1, Tmp: 1, Shm: 1}}, win(), []string{"limits.tmp", "limits.shm"}},
		"not positive, even best effort": {Policy{Limits: Limits{Memory: -1, CPUs: -1, BestEffort: true}}, win(), []string{"limits.memory", "limits.cpus"}},
		"a card, an odd word":            {Policy{GPU: "nvidia", Links: "some"}, mac(), []string{"gpu", "links"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Compile(r.p, r.f)
			for _, key := range r.keys {
				assert.ErrorContains(t, err, key+":")
			}
			assert.Len(t, strings.Split(err.Error(), "\n"), len(r.keys))
		})
	}
	for _, f := range []Facts{mac(), win()} {
		plan := compile(t, Policy{Limits: Limits{Tmp: 7 << 20, BestEffort: true}}, f)
		assert.Contains(t, strings.Join(sentences("", plan.Missing), "\n"), "temporary files are not bounded, although 7MiB is asked for")
	}
}

func TestTextsOfWindowsAreASCII(t *testing.T) {
	plan := compile(t, Policy{Folder: `C:\nb`, Network: NetworkAllowlist, Limits: Limits{Memory: 1}}, win(`C:\nb`))
	for _, s := range plan.Sentences() {
		assert.NotRegexp(t, `[^ -~]`, s)
	}
}
