package sandbox

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCompileRefusesPaths(t *testing.T) {
	type row struct {
		p    Policy
		f    Facts
		use  string
		path string
		says string
	}
	rows := map[string]row{
		"relative":                    {Policy{Folder: "nb"}, machine(), "folder", "nb", "not an absolute path"},
		"missing":                     {Policy{Read: []string{"/gone"}}, machine(), "read", "/gone", "does not exist"},
		"a file as folder":            {Policy{Folder: "/f"}, machine("/f!"), "folder", "/f", "is not a folder"},
		"home":                        {Policy{Folder: "/home/ada"}, machine(), "folder", "/home/ada", "too broad"},
		"linked home":                 {Policy{Folder: "/l"}, machine("/l=>/home/ada"), "folder", "/l", "(which is /home/ada) is too broad"},
		"parent of a home":            {Policy{Read: []string{"/home"}}, machine("/home"), "read", "/home", "too broad"},
		"the runtime folder":          {Policy{Read: []string{"/run/user/1000"}}, machine("/run/user/1000"), "read", "/run/user/1000", "too broad"},
		"below /proc":                 {Policy{Read: []string{"/proc/1"}}, machine("/proc/1"), "read", "/proc/1", "never shown"},
		"below the sandbox's own":     {Policy{Folder: "/run/kernel-launch/x"}, machine("/run/kernel-launch/x"), "folder", "/run/kernel-launch/x", "never shown"},
		"written below /usr/lib":      {Policy{Write: []string{"/usr/lib/x"}}, machine("/usr/lib/x"), "write", "/usr/lib/x", "never written"},
		"in our folders":              {Policy{Read: []string{"/home/ada/.data/envs"}, Own: []string{"/home/ada/.data"}}, machine("/home/ada/.data/envs", "/home/ada/.data"), "read", "/home/ada/.data/envs", "lies in /home/ada/.data"},
		"around our folders":          {Policy{Folder: "/srv/a", Own: []string{"/srv/a/b/c"}}, machine("/srv/a"), "folder", "/srv/a", "contains /srv/a/b/c"},
		"around linked folders":       {Policy{Read: []string{"/srv/a"}, Own: []string{"/l"}}, machine("/srv/a", "/l=>/srv/a/own"), "read", "/srv/a", "contains /srv/a/own"},
		"a folder on PATH":            {Policy{Write: []string{"/home/ada/bin"}}, machine("/home/ada/bin"), "write", "/home/ada/bin", "PATH"},
		"around the helper":           {Policy{Folder: "/srv/a", Helper: "/srv/a/kl"}, machine("/srv/a", "/srv/a/kl!"), "folder", "/srv/a", "starts the command"},
		"around an interpreter":       {Policy{Folder: "/srv/a", Prefixes: []string{"/srv/a/py"}}, machine("/srv/a", "/srv/a/py"), "folder", "/srv/a", "interpreter"},
		"read-only in writable":       {Policy{Folder: "/w", Read: []string{"/w/data"}}, machine("/w", "/w/data"), "read", "/w/data", "can be written"},
		"hidden in writable":          {Policy{Folder: "/w", Hide: []string{"/w/.env"}}, machine("/w", "/w/.env!"), "hide", "/w/.env", "can be written"},
		"hidden around the folder":    {Policy{Folder: "/w/nb", Hide: []string{"/w"}}, machine("/w", "/w/nb"), "hide", "/w", "needs"},
		"hidden interpreter":          {Policy{Prefixes: []string{"/opt/py"}, Hide: []string{"/opt"}}, machine("/opt", "/opt/py"), "hide", "/opt", "needs"},
		"tree below a writable grant": {Policy{Folder: "/w", Trees: []Tree{{"/s", "/w/t"}}}, machine("/w", "/s"), "mount", "/w/t", "below /w"},
		"tree below a written tree":   {Policy{Writable: []Tree{{"/s", "/t"}}, Trees: []Tree{{"/s", "/t/x"}}}, machine("/s"), "mount", "/t/x", "below /t"},
		"something below home":        {Policy{KeptHome: "/k", HomeTarget: "/h", Trees: []Tree{{"/s", "/h/x"}}}, machine("/k", "/s"), "mount", "/h/x", "below /h"},
		"home inside a grant":         {Policy{Folder: "/w", HomeTarget: "/w/home"}, machine("/w"), "home inside", "/w/home", "must not share"},
		"home inside, too broad":      {Policy{HomeTarget: "/tmp"}, machine(), "home inside", "/tmp", "of its own"},
		"tree at /proc":               {Policy{Trees: []Tree{{"/s", "/proc/x"}}}, machine("/s"), "tree target", "/proc/x", "where a tree can stand"},
		"missing tree":                {Policy{Trees: []Tree{{"/gone", "/t"}}}, machine(), "tree", "/gone", "does not exist"},
		"missing interpreter":         {Policy{Prefixes: []string{"/gone"}}, machine(), "interpreter", "/gone", "does not exist"},
		"interpreter at home":         {Policy{Prefixes: []string{"/home/ada"}}, machine(), "interpreter", "/home/ada", "too broad"},
		"helper is a folder":          {Policy{Helper: "/d"}, machine("/d"), "helper", "/d", "is not a file"},
		"hidden file of the system":   {Policy{Hide: []string{"/etc/services"}}, machine("/etc/services!"), "hide", "/etc/services", "needs"},
		"relative hide":               {Policy{Hide: []string{"x"}}, machine(), "hide", "x", "not an absolute path"},
		"not UTF-8":                   {Policy{HomeTarget: "/a\xff"}, machine(), "mount", "/a\xff", "not UTF-8"},
		"zero byte":                   {Policy{HomeTarget: "/a\x00b"}, machine(), "mount", "/a\x00b", "zero byte"},
	}
	for _, broad := range tooBroad {
		rows["too broad "+broad] = row{Policy{Folder: broad}, machine(broad), "folder", broad, "too broad"}
		rows["read too broad "+broad] = row{Policy{Read: []string{broad}}, machine(broad), "read", broad, "too broad"}
	}
	socket := machine("/s")
	socket.Paths["/s"] = Entry{Kind: EntryFolder, Resolved: "/s", Sockets: []string{"agent.sock"}}
	rows["a socket in a grant"] = row{Policy{Read: []string{"/s"}}, socket, "read", "/s", "agent.sock"}
	bare := machine()
	bare.Paths["/x.sock"] = Entry{Kind: EntrySocket, Resolved: "/x.sock"}
	rows["a socket as a grant"] = row{Policy{Read: []string{"/x.sock"}}, bare, "read", "/x.sock", "is a socket"}
	for name, r := range rows {
		t.Run(name, func(t *testing.T) {
			plan, err := Compile(r.p, r.f)
			require.Nil(t, plan)
			var e *PathError
			require.ErrorAs(t, err, &e)
			assert.Equal(t, r.use, e.Use)
			assert.Equal(t, r.path, e.Path)
			assert.Contains(t, e.Error(), r.says)
			assert.Equal(t, strings.Contains(r.says, "too broad") && r.use != "home inside", e.Broad)
		})
	}
}

func TestOrdinaryFoldersAreFine(t *testing.T) {
	for _, folder := range []string{"/home/ada/nb", "/home/other/shared", "/tmp/x", "/var/tmp/x", "/srv/nb", "/mnt/disk", "/opt/course", "/usr/src/app", "/root/nb"} {
		plan := compile(t, Policy{Folder: folder, RealHome: "/home/ada", Prefixes: []string{"/usr"}}, machine(folder))
		assert.Equal(t, folder, plan.Dir)
	}
	f := machine("/t/w/work/nb", "/t/w/home")
	f.Homes = []string{"/root", "/t/w/home"}
	compile(t, Policy{Folder: "/t/w/work/nb", RealHome: "/t/w/home"}, f)
	own := machine("/w")
	own.Paths["/w"] = Entry{Kind: EntryFolder, Resolved: "/w", Sockets: []string{"mine.sock"}}
	compile(t, Policy{Folder: "/w"}, own)
}

func TestEveryFaultAtOnce(t *testing.T) {
	_, err := Compile(Policy{
		Network: "hots", Folder: "/", Read: []string{"/gone", "rel"}, GPU: "voodoo", Links: "maybe",
		Limits: Limits{Memory: 1 << 20, Processes: -1, CPUs: 1, Tmp: -1}, Environment: map[string]string{"A=B": "", "": "", "N": "a\x00"},
	}, machine("/"))
	require.Error(t, err)
	for _, part := range []string{
		`network "hots"`, "folder / is too broad", "read /gone does not exist", "read rel is not", `gpu: voodoo is none of`, "links: maybe",
		"limits.memory: 1MiB is less than 32MiB", "limits.processes: -1 is not positive", "limits.cpus: 1 cannot be held here", "limits.tmp: -1", `"A=B"`, "has no name", "zero byte",
	} {
		assert.ErrorContains(t, err, part)
	}
}
