package sandbox

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// machine is a merged-usr Linux of one user, as facts. Paths that a test names are folders unless it says otherwise.
func machine(paths ...string) Facts {
	f := Facts{
		Goos: "linux", UID: 1000, GID: 1000, User: "ada", Group: "ada", Hostname: "lab", Homes: []string{"/home/ada"},
		Search: []string{"/usr/local/bin", "/usr/bin", "/home/ada/bin"}, Runtime: "/run/user/1000", Bubblewrap: "/usr/bin/bwrap",
		Arch: "amd64", Landlock: 7,
		Paths: map[string]Entry{
			"/usr":             {Kind: EntryFolder, Resolved: "/usr"},
			"/bin":             {Kind: EntryFolder, Resolved: "/usr/bin", Link: "usr/bin"},
			"/lib64":           {Kind: EntryFolder, Resolved: "/usr/lib64", Link: "usr/lib64"},
			"/etc/ld.so.cache": {Kind: EntryFile, Resolved: "/etc/ld.so.cache"},
			"/etc/localtime":   {Kind: EntryFile, Resolved: "/usr/share/zoneinfo/Etc/UTC", Link: "/usr/share/zoneinfo/Etc/UTC"},
			"/etc/resolv.conf": {Kind: EntryFile, Resolved: "/run/resolve/stub.conf", Link: "../run/resolve/stub.conf"},
			"/proc/sys":        {Kind: EntryFolder, Resolved: "/proc/sys"},
			"/proc/irq":        {Kind: EntryFolder, Resolved: "/proc/irq"},
			"/proc/keys":       {Kind: EntryFile, Resolved: "/proc/keys"},
			"/home/ada":        {Kind: EntryFolder, Resolved: "/home/ada"},
		},
	}
	return f.with(paths...)
}

// with adds entries: "path", "path=>resolved" for a link, "path!" for a file.
func (f Facts) with(paths ...string) Facts {
	for _, p := range paths {
		e := Entry{Kind: EntryFolder}
		path, resolved, linked := strings.Cut(p, "=>")
		if path, ok := strings.CutSuffix(p, "!"); ok {
			f.Paths[path] = Entry{Kind: EntryFile, Resolved: path}
			continue
		}
		if e.Resolved = path; linked {
			e.Resolved, e.Link = resolved, resolved
		}
		f.Paths[path] = e
	}
	return f
}

// files makes entries that are there, such as links, lead to files.
func (f Facts) files(paths ...string) Facts {
	for _, p := range paths {
		e := f.Paths[p]
		e.Kind = EntryFile
		f.Paths[p] = e
	}
	return f
}

func compile(t *testing.T, p Policy, f Facts) *Plan {
	t.Helper()
	plan, err := Compile(p, f)
	require.NoError(t, err)
	return plan
}

func notYetThere(path string) Facts {
	f := machine()
	f.Paths[path] = Entry{Kind: EntryMissing, Resolved: path}
	return f
}

// text is the plan's options as one line, where parts can be looked for.
func text(p *Plan) string { return strings.Join(p.Argv, " ") }

func TestCompileGolden(t *testing.T) {
	p := Policy{
		Network: NetworkAllowlist, Folder: "/home/ada/nb", Read: []string{"/data/set"}, Write: []string{"/data/out"}, Hide: []string{"/data/set/private"},
		RealHome: "/home/ada", KeptHome: "/home/ada/.state/h", Prefixes: []string{"/usr", "/home/ada/.pyenv/versions/3.12"}, Helper: "/opt/kl/kernel-launch",
		Trees: []Tree{{Source: "/home/ada/.data/gen/1", Target: "/home/ada/.data/current"}}, Own: []string{"/home/ada/.data"},
		Environment: map[string]string{"HOME": HomeTarget, "A": "1"},
	}
	f := machine("/home/ada/nb", "/data/set", "/data/out", "/data/set/private", "/home/ada/.state/h", "/home/ada/.pyenv/versions/3.12",
		"/opt/kl/kernel-launch!", "/home/ada/.data/gen/1", "/home/ada/.data")
	plan := compile(t, p, f)
	want := strings.Fields(`
--unshare-user --unshare-all --disable-userns --new-session --as-pid-1 --cap-drop ALL --clearenv
--ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/lib64 /lib64
--perms 0444 --file @/etc/ld.so.cache /etc/ld.so.cache --symlink /usr/share/zoneinfo/Etc/UTC /etc/localtime
--perms 0644 --file @/etc/passwd /etc/passwd --perms 0644 --file @/etc/group /etc/group
--perms 0644 --file @/etc/nsswitch.conf /etc/nsswitch.conf --perms 0644 --file @/etc/hosts /etc/hosts
--proc /proc --ro-bind /proc/sys /proc/sys --ro-bind /dev/null /proc/keys --dev /dev
--perms 1777 --size 1073741824 --tmpfs /dev/shm --perms 1777 --size 1073741824 --tmpfs /tmp --perms 0700 --size 67108864 --tmpfs /home/ada
--ro-bind /home/ada/.pyenv/versions/3.12 /home/ada/.pyenv/versions/3.12
--perms 0700 --size 1048576 --tmpfs /run/kernel-launch/private
--ro-bind /opt/kl/kernel-launch /run/kernel-launch/helper --symlink ../helper /run/kernel-launch/bin/kernel-launch --bind /home/ada/.state/h /run/kernel-launch/home
--bind /data/out /data/out --ro-bind /data/set /data/set --bind /home/ada/nb /home/ada/nb
--perms 0555 --size 65536 --tmpfs /data/set/private
--ro-bind /home/ada/.data/gen/1 /home/ada/.data/current
--remount-ro /data/set/private --remount-ro /dev --remount-ro / --chdir /home/ada/nb`)
	require.Equal(t, want, plan.Argv)
	require.Equal(t, []string{"A=1", "HOME=" + HomeTarget}, plan.Environment)
	require.Empty(t, plan.Warnings)
}

func TestCompileShapes(t *testing.T) {
	split := machine("/lib32")
	split.Paths["/bin"] = Entry{Kind: EntryFolder, Resolved: "/bin"}
	root := machine()
	root.UID, root.GID, root.User, root.Group, root.Homes = 0, 0, "root", "root", []string{"/root"}
	nix := machine("/nix/store", "/etc/ssl/certs=>/nix/store/abc-certs", "/run/current-system=>/nix/store/abc-system")
	for name, c := range map[string]struct {
		p    Policy
		f    Facts
		has  []string
		lack []string
	}{
		"a file of /etc, by link":    {Policy{}, machine("/etc/ssl/openssl.cnf!", "/etc/ssl/cert.pem=>/srv/ca.pem").files("/etc/ssl/cert.pem"), []string{"--perms 0444 --file @/etc/ssl/cert.pem /etc/ssl/cert.pem --perms 0444 --file @/etc/ssl/openssl.cnf /etc/ssl/openssl.cnf"}, []string{"--ro-bind /etc", "--ro-bind /srv"}},
		"a folder of /etc":           {Policy{}, machine("/etc/ssl/certs", "/etc/alternatives"), []string{"--ro-bind /etc/alternatives /etc/alternatives", "--ro-bind /etc/ssl/certs /etc/ssl/certs"}, []string{"--file @/etc/ssl/certs"}},
		"private keys":               {Policy{}, machine("/etc/ssl/private", "/etc/ssl/cert.pem=>/etc/ssl/private/all.pem", "/etc/ssl/certs=>/etc/ssl/private", "/etc/pki/tls/cert.pem=>/etc/pki/tls/private/k").files("/etc/ssl/cert.pem", "/etc/pki/tls/cert.pem"), nil, []string{"/etc/ssl/", "/etc/pki"}},
		"read a file of /etc":        {Policy{Read: []string{"/etc/services"}}, machine("/etc/services!"), []string{"--file @/etc/services /etc/services"}, []string{"--ro-bind /etc/services"}},
		"split usr":                  {Policy{}, split, []string{"--ro-bind /bin /bin", "--ro-bind /lib32 /lib32"}, []string{"--symlink usr/bin /bin"}},
		"merged usr, never both":     {Policy{}, machine(), []string{"--symlink usr/bin /bin"}, []string{"--ro-bind /usr/bin /bin"}},
		"host network":               {Policy{Network: NetworkHost}, machine(), []string{"--unshare-all --share-net", "--ro-bind /run/resolve/stub.conf /etc/resolv.conf"}, nil},
		"no network, no resolver":    {Policy{}, machine(), nil, []string{"--share-net", "resolv.conf"}},
		"root covers more of /proc":  {Policy{}, root, []string{"--ro-bind /proc/sys /proc/sys --ro-bind /proc/irq /proc/irq"}, nil},
		"a user covers /proc/sys":    {Policy{}, machine(), []string{"--proc /proc --ro-bind /proc/sys /proc/sys"}, []string{"/proc/irq"}},
		"store":                      {Policy{}, nix, []string{"--ro-bind /nix/store /nix/store", "--symlink /nix/store/abc-certs /etc/ssl/certs"}, nil},
		"no folder":                  {Policy{}, machine(), []string{"--tmpfs " + WorkTarget, "--chdir " + WorkTarget}, nil},
		"sizes":                      {Policy{Limits: Limits{Tmp: 5 << 20, Shm: 3 << 20}}, machine(), []string{"--size 5242880 --tmpfs /tmp", "--size 3145728 --tmpfs /dev/shm"}, nil},
		"home under /tmp":            {Policy{RealHome: "/tmp/h", Folder: "/tmp/nb"}, machine("/tmp/h", "/tmp/nb"), []string{"--tmpfs /tmp --perms 0700 --size 67108864 --tmpfs /tmp/h", "--bind /tmp/nb /tmp/nb"}, nil},
		"linked home":                {Policy{RealHome: "/home/ada"}, machine("/home/ada=>/mnt/ada"), []string{"--tmpfs /mnt/ada", "--symlink /mnt/ada /home/ada"}, nil},
		"no home":                    {Policy{RealHome: "/nonexistent"}, machine(), nil, []string{"/nonexistent"}},
		"home of a system account":   {Policy{RealHome: "/usr/bin"}, machine("/usr/bin"), nil, []string{"--tmpfs /usr/bin"}},
		"linked folder":              {Policy{Folder: "/home/ada/nb"}, machine("/home/ada/nb=>/mnt/nb"), []string{"--bind /mnt/nb /mnt/nb", "--symlink /mnt/nb /home/ada/nb", "--chdir /mnt/nb"}, nil},
		"alias inside a grant":       {Policy{Read: []string{"/data", "/data/link"}}, machine("/data", "/data/link=>/far"), []string{"--ro-bind /far /far"}, []string{"--symlink /far"}},
		"alias below an alias":       {Policy{Read: []string{"/a", "/a/b"}}, machine("/a=>/mnt/a", "/a/b=>/mnt/a/b"), []string{"--ro-bind /mnt/a /mnt/a", "--symlink /mnt/a /a"}, []string{"/a/b"}},
		"nested grants":              {Policy{Read: []string{"/data"}, Write: []string{"/data/out"}}, machine("/data", "/data/out"), []string{"--ro-bind /data /data --bind /data/out /data/out"}, nil},
		"grants twice":               {Policy{Folder: "/w", Write: []string{"/w", "/w/a"}, Read: []string{"/w"}}, machine("/w", "/w/a"), []string{"--bind /w /w"}, []string{"/w/a", "--ro-bind /w /w"}},
		"grant of the system":        {Policy{Read: []string{"/usr/share/doc"}}, machine("/usr/share/doc"), nil, []string{"/usr/share/doc"}},
		"prefix in the system":       {Policy{Prefixes: []string{"/usr", "/usr/local"}}, machine("/usr/local"), nil, []string{"--ro-bind /usr/local"}},
		"prefix behind a root link":  {Policy{Prefixes: []string{"/bin"}, Read: []string{"/bin/x"}}, machine("/bin/x=>/usr/bin/x"), []string{"--symlink usr/bin /bin"}, []string{"--symlink /usr/bin", "/bin/x"}},
		"kept home to be made":       {Policy{KeptHome: "/k"}, notYetThere("/k"), []string{"--bind /k " + HomeTarget}, nil},
		"prefix in a prefix":         {Policy{Prefixes: []string{"/opt/py/sub", "/opt/py"}}, machine("/opt/py", "/opt/py/sub"), []string{"--ro-bind /opt/py /opt/py"}, []string{"/opt/py/sub"}},
		"hide what is not seen":      {Policy{Hide: []string{"/home/ada/.ssh"}}, machine("/home/ada/.ssh"), nil, []string{".ssh"}},
		"hide a file":                {Policy{Read: []string{"/d"}, Hide: []string{"/d/.env"}}, machine("/d", "/d/.env!"), []string{"--ro-bind /dev/null /d/.env"}, nil},
		"hide around a grant":        {Policy{Read: []string{"/d/a"}, Hide: []string{"/d"}}, machine("/d", "/d/a"), []string{"--ro-bind /d/a /d/a --perms 0555 --size 65536 --tmpfs /d"}, nil},
		"hide spares the helper":     {Policy{Hide: []string{"/opt"}, Helper: "/opt/kl"}, machine("/opt", "/opt/kl!"), []string{"--ro-bind /opt/kl " + HelperTarget}, []string{"--tmpfs /opt"}},
		"home elsewhere inside":      {Policy{HomeTarget: "/kernel/home"}, machine(), []string{"--tmpfs /kernel/home"}, nil},
		"tree in a linked folder":    {Policy{Trees: []Tree{{"/s", "/home/ada/x/current"}}}, machine("/s", "/home/ada/x=>/mnt/x"), []string{"--symlink /mnt/x/current /home/ada/x/current", "--ro-bind /s /mnt/x/current"}, nil},
		"tree in a linked home":      {Policy{RealHome: "/home/ada", Trees: []Tree{{"/s", "/home/ada/x"}}}, machine("/home/ada=>/mnt/ada", "/s"), []string{"--symlink /mnt/ada /home/ada", "--ro-bind /s /mnt/ada/x"}, []string{"/home/ada/x"}},
		"written tree":               {Policy{Writable: []Tree{{"/s", "/t"}}}, machine("/s", "/"), []string{"--bind /s /t"}, nil},
		"interpreter around ours":    {Policy{Prefixes: []string{"/home/ada/.local"}, Own: []string{"/home/ada/.local/share/kl"}, Trees: []Tree{{"/home/ada/.local/share/kl/gen/1", "/home/ada/.local/share/kl/current"}}}, machine("/home/ada/.local", "/home/ada/.local/share/kl", "/home/ada/.local/share/kl/gen/1"), []string{"--tmpfs /home/ada/.local/share/kl --ro-bind /home/ada/.local/share/kl/gen/1 /home/ada/.local/share/kl/current --remount-ro /home/ada/.local/share/kl"}, nil},
		"interpreter in ours":        {Policy{Prefixes: []string{"/home/ada/.data/tools/py"}, Own: []string{"/home/ada/.data"}}, machine("/home/ada/.data", "/home/ada/.data/tools/py"), []string{"--ro-bind /home/ada/.data/tools/py"}, []string{"--tmpfs /home/ada/.data"}},
		"read grants may hold tools": {Policy{Read: []string{"/srv/p"}, Prefixes: []string{"/srv/p/.venv"}}, machine("/srv/p", "/srv/p/.venv"), []string{"--ro-bind /srv/p /srv/p"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := text(compile(t, c.p, c.f))
			for _, s := range c.has {
				assert.Contains(t, got, s)
			}
			for _, s := range c.lack {
				assert.NotContains(t, got, s)
			}
		})
	}
}

func TestLimitsThatCannotBeHeld(t *testing.T) {
	for _, c := range []struct {
		l          Limits
		key, value string
	}{
		{Limits{Processes: 64}, "limits.processes", "64"},
		{Limits{CPUs: 1.5}, "limits.cpus", "1.5"},
	} {
		p := Policy{Limits: c.l}
		_, err := Compile(p, machine())
		var e *UnsupportedError
		require.ErrorAs(t, err, &e)
		assert.Equal(t, c.key, e.Key)
		assert.Equal(t, c.value, e.Value)
		p.Limits.BestEffort = true
		assert.Contains(t, guarantee(t, compile(t, p, machine()).Missing, c.key).Text, c.value+" is asked for")
	}
	_, err := Compile(Policy{GPU: "voodoo", Limits: Limits{BestEffort: true}}, machine())
	require.Error(t, err, "best effort does not make sense of a word that means nothing")
}

func guarantee(t *testing.T, gs []Guarantee, id string) Guarantee {
	t.Helper()
	for _, g := range gs {
		if g.ID == id {
			return g
		}
	}
	require.Fail(t, "no guarantee "+id)
	return Guarantee{}
}

func TestGuaranteesAreHonest(t *testing.T) {
	plan := compile(t, Policy{}, machine())
	for _, id := range []string{"network", "system-calls", "links"} {
		guarantee(t, plan.Enforced, id)
	}
	for _, id := range []string{"limits.memory", "limits.processes", "limits.cpus", "disk"} {
		guarantee(t, plan.Missing, id)
	}
	host := compile(t, Policy{Network: NetworkHost, Links: "allow"}, machine())
	guarantee(t, host.Missing, "network")
	guarantee(t, host.Missing, "links")
	root := machine()
	root.UID = 0
	guarantee(t, compile(t, Policy{}, root).Missing, "root")
}

func TestWarnings(t *testing.T) {
	f := machine("/d")
	f.Paths["/d/later"] = Entry{Kind: EntryMissing, Resolved: "/d/later"}
	f.Paths["/w"] = Entry{Kind: EntryFolder, Resolved: "/w", Linked: []string{"a", "b", "c", "d"}, Outward: []string{"far"}, Sockets: []string{"agent"}}
	p := Policy{Folder: "/w", Read: []string{"/d"}, Hide: []string{"/d/later"}}
	for i := range 60 {
		path := "/many/" + strings.Repeat("x", i+1)
		f = f.with(path)
		p.Read = append(p.Read, path)
	}
	all := strings.Join(compile(t, p, f).Warnings, "\n")
	assert.Contains(t, all, "folder /w holds files that have another name elsewhere")
	assert.Contains(t, all, "folder /w holds the socket agent: whoever listens there can be commanded from inside")
	assert.Contains(t, all, "a, b, c, …")
	assert.Contains(t, all, "folder /w holds links to what is not shown with it: far")
	assert.Contains(t, all, "/d/later does not exist")
	assert.Contains(t, all, "mounts make every start slower")
}

func TestGeneratedFiles(t *testing.T) {
	data := func(p *Plan, path string) string {
		for _, m := range p.Mounts {
			if m.Target == path && m.Kind == MountFile {
				return string(m.Data)
			}
		}
		return ""
	}
	user := compile(t, Policy{}, machine())
	assert.Equal(t, "ada:x:1000:1000::/run/kernel-launch/home:/bin/sh\nroot:x:0:0::/nonexistent:/usr/sbin/nologin\nnobody:x:65534:65534::/nonexistent:/usr/sbin/nologin\n", data(user, "/etc/passwd"))
	assert.Equal(t, "ada:x:1000:\nroot:x:0:\nnogroup:x:65534:\n", data(user, "/etc/group"))
	assert.Equal(t, "127.0.0.1 localhost lab\n::1 localhost lab ip6-localhost ip6-loopback\n", data(user, "/etc/hosts"))
	assert.Contains(t, data(user, "/etc/nsswitch.conf"), "hosts: files\n")
	host := compile(t, Policy{Network: NetworkHost}, machine("/etc/hosts!"))
	assert.Contains(t, data(host, "/etc/nsswitch.conf"), "hosts: files dns\n")
	assert.Empty(t, data(host, "/etc/hosts"))
	f := machine()
	f.UID, f.GID, f.User = 0, 0, "toor"
	assert.True(t, strings.HasPrefix(data(compile(t, Policy{}, f), "/etc/passwd"), "root:x:0:0:"))
	f.UID, f.GID = 65534, 65534
	assert.True(t, strings.HasPrefix(data(compile(t, Policy{}, f), "/etc/passwd"), "nobody:x:65534:"))
	f.UID, f.User = 12, "root"
	assert.True(t, strings.HasPrefix(data(compile(t, Policy{}, f), "/etc/passwd"), "user:x:12:"), "the name root stands for number 0 alone")
}

func TestPlanIsShownWithoutSecrets(t *testing.T) {
	p := Policy{Environment: map[string]string{"LANG": "C.UTF-8", "API_TOKEN": "s3cr3t", "HTTP_PROXY": "http://u:s3cr3t@proxy:1"}}
	plan := compile(t, p, machine())
	data, err := json.Marshal(plan)
	require.NoError(t, err)
	all := string(data) + strings.Join(plan.Sentences(), "\n")
	assert.NotContains(t, all, "s3cr3t")
	assert.NotContains(t, all, "nologin", "the content of generated files is not printed")
	assert.Contains(t, all, "LANG=C.UTF-8")
	assert.Contains(t, all, "API_TOKEN=(not shown)")
	assert.Contains(t, strings.Join(plan.Environment, "\n"), "API_TOKEN=s3cr3t")
	var back map[string]any
	require.NoError(t, json.Unmarshal(data, &back))
	for _, key := range []string{"backend", "mounts", "enforced", "missing", "environment", "network", "dir"} {
		assert.Contains(t, back, key)
	}
}
