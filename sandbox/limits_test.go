package sandbox

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// plainControl is a machine on which nothing but the limits of single processes can be had.
func plainControl() *Control {
	return &Control{
		CPUs: 4, NProc: true, Systemd: Systemd{Fault: "is not running"},
		Unified: []Cgroup{{Path: "/g/own", Controllers: all3(), Processes: 2}, {Path: "/g", Controllers: all3(), Fault: "cannot be written: permission denied"}},
		Legacy:  map[string]Cgroup{"memory": {Path: "/m", Fault: "cannot be written: permission denied"}},
	}
}

func all3() []string { return []string{"cpu", "memory", "pids"} }

// changed is plainControl with a change.
func changed(f func(*Control)) *Control {
	c := plainControl()
	f(c)
	return c
}

func TestTheStrongestTierHoldsEachLimit(t *testing.T) {
	delegated := func(c *Control) {
		c.Unified[1] = Cgroup{Path: "/user.slice/job.scope", Controllers: all3()}
	}
	bus := func(c *Control) {
		c.Systemd = Systemd{Bus: "/run/user/1000/bus", Controllers: []string{"memory", "pids"}}
	}
	v1 := func(c *Control) { c.Legacy = map[string]Cgroup{"memory": {Path: "/m"}, "pids": {Path: "/p"}} }
	for _, c := range []struct {
		name    string
		uid     int
		control *Control
		want    map[string]Tier
		parent  string // of memory
	}{
		{"nothing but rlimits", 1000, plainControl(), map[string]Tier{"memory": TierRlimit, "processes": TierRlimit, "cpus": ""}, ""},
		{"rlimits of root", 0, plainControl(), map[string]Tier{"memory": TierRlimit, "processes": "", "cpus": ""}, ""},
		{"rlimits of an old kernel", 1000, changed(func(c *Control) { c.NProc = false }), map[string]Tier{"memory": TierRlimit, "processes": "", "cpus": ""}, ""},
		{"the group around is delegated", 1000, changed(delegated), map[string]Tier{"memory": TierCgroup2, "processes": TierCgroup2, "cpus": TierCgroup2}, "/user.slice/job.scope"},
		{"it lacks a controller", 1000, changed(func(c *Control) { delegated(c); c.Unified[1].Controllers = []string{"memory"} }), map[string]Tier{"memory": TierCgroup2, "processes": TierRlimit, "cpus": ""}, "/user.slice/job.scope"},
		{"it holds processes", 1000, changed(func(c *Control) { delegated(c); c.Unified[1].Processes = 1 }), map[string]Tier{"memory": TierRlimit, "processes": TierRlimit, "cpus": ""}, ""},
		{"it is a slice of systemd's", 1000, changed(func(c *Control) { delegated(c); c.Unified[1].Path = "/user.slice" }), map[string]Tier{"memory": TierRlimit, "processes": TierRlimit, "cpus": ""}, ""},
		{"the root, where no systemd is", 0, changed(func(c *Control) {
			c.Unified = []Cgroup{{Path: "/sys/fs/cgroup", Controllers: all3(), Processes: 90, Root: true}}
		}), map[string]Tier{"memory": TierCgroup2, "processes": TierCgroup2, "cpus": TierCgroup2}, "/sys/fs/cgroup"},
		{"systemd", 1000, changed(bus), map[string]Tier{"memory": TierSystemd, "processes": TierSystemd, "cpus": ""}, "/run/user/1000/bus"},
		{"systemd and v1", 1000, changed(func(c *Control) { bus(c); v1(c); c.Legacy["cpu"] = Cgroup{Path: "/c"} }), map[string]Tier{"memory": TierSystemd, "processes": TierSystemd, "cpus": TierCgroup1}, "/run/user/1000/bus"},
		{"v1", 0, changed(v1), map[string]Tier{"memory": TierCgroup1, "processes": TierCgroup1, "cpus": ""}, "/m"},
		{"delegated before systemd", 1000, changed(func(c *Control) { delegated(c); bus(c) }), map[string]Tier{"memory": TierCgroup2, "processes": TierCgroup2, "cpus": TierCgroup2}, "/user.slice/job.scope"},
	} {
		f := Facts{Goos: "linux", UID: c.uid, Control: c.control}
		for _, l := range LimitTiers(f) {
			assert.Equal(t, c.want[l.Limit], l.Tier, "%s: %s: %s", c.name, l.Limit, l.Why)
			assert.Equal(t, l.Tier == "", l.Why != "", c.name)
		}
		assert.Equal(t, c.parent, holdOne((Limits{}).limits()[0], f).parent, c.name)
	}
	assert.Empty(t, LimitTiers(Facts{Goos: "darwin"}))
}

func TestWhatCannotBeHeldNamesEveryCause(t *testing.T) {
	f := machine()
	f.UID, f.Control = 0, plainControl()
	_, err := Compile(Policy{Limits: Limits{Processes: 64, CPUs: 1.5}}, f)
	require.Error(t, err)
	assert.Contains(t, err.Error(), "limits.processes: 64 cannot be held here: cgroup v2: /g/own holds processes itself, /g cannot be written: permission denied; "+
		"systemd: is not running; cgroup v1: controller pids is not mounted; resource limits of single processes: the kernel does not count the processes of root")
	assert.ErrorContains(t, err, "limits.cpus: 1.5 cannot be held here: ")
	plan := compile(t, Policy{Limits: Limits{Memory: 1 << 30, Processes: 64, CPUs: 1.5, BestEffort: true}}, f)
	assert.Equal(t, &Bounds{Tier: TierRlimit, Rlimits: []Rlimit{{"data", 1 << 30}}}, plan.Bounds, "what can be held is, all the same")
	assert.Contains(t, guarantee(t, plan.Missing, "limits.processes").Text, "although 64 is asked for: cgroup v2: ")
	assert.Contains(t, guarantee(t, plan.Enforced, "limits.memory").Text, "each process has at most 1GiB")
}

func TestLimitsAreHeldTogether(t *testing.T) {
	f := machine()
	f.Control = changed(func(c *Control) {
		c.Legacy = map[string]Cgroup{"memory": {Path: "/m"}, "cpu": {Path: "/c"}}
	})
	plan := compile(t, Policy{Limits: Limits{Memory: 2 << 30, Processes: 64, CPUs: 1.5}}, f)
	assert.Equal(t, &Bounds{
		Tier: TierCgroup1, Memory: 2 << 30, CPUs: 1.5,
		Groups:  []Group{{TierCgroup1, "/m", []string{"memory"}}, {TierCgroup1, "/c", []string{"cpus"}}},
		Rlimits: []Rlimit{{"nproc", 64 + ownTasks}},
	}, plan.Bounds)
	assert.Contains(t, guarantee(t, plan.Enforced, "limits.processes").Text, "(resource limits of single processes)")

	f.Control = changed(func(c *Control) { c.Unified[1] = Cgroup{Path: "/j", Controllers: all3()} })
	plan = compile(t, Policy{Limits: Limits{Memory: 2 << 30, Processes: 64, CPUs: 1.5}}, f)
	assert.Equal(t, []Group{{TierCgroup2, "/j", []string{"memory", "processes", "cpus"}}}, plan.Bounds.Groups)
	assert.Nil(t, compile(t, Policy{}, f).Bounds)
}

func TestLimitsThatMakeNoSense(t *testing.T) {
	for want, l := range map[string]Limits{
		"limits.memory: -1 is not positive":                                                 {Memory: -1},
		"limits.processes: 4194305 is more than any machine has: leave it out for no limit": {Processes: 1<<22 + 1},
		"limits.cpus: 1e+09 is more than any machine has: leave it out for no limit":        {CPUs: 1e9},
		"limits.memory: 1MiB is less than 32MiB, with which nothing could start":            {Memory: 1 << 20},
		"limits.processes: -3 is not positive":                                              {Processes: -3},
		"limits.cpus: -0.5 is not positive":                                                 {CPUs: -0.5},
		"limits.cpus: NaN is not positive":                                                  {CPUs: math.NaN()},
		"limits.cpus: 0.001 is less than 0.01, with which nothing could start":              {CPUs: 0.001},
		"limits.tmp: -1 is not positive\nlimits.shm: -2 is not positive":                    {Tmp: -1, Shm: -2},
		"limits.memory: -1 is not positive\nlimits.processes: -1 is not positive":           {Memory: -1, Processes: -1},
		"limits.memory: 31MiB is less than 32MiB, with which nothing could start":           {Memory: 31 << 20},
	} {
		l.BestEffort = true // does not make sense of what makes none
		_, err := Compile(Policy{Limits: l}, machine())
		assert.EqualError(t, err, want)
	}
	f := machine()
	f.Control = changed(func(c *Control) { c.Legacy["cpu"] = Cgroup{Path: "/c"} })
	assert.Contains(t, compile(t, Policy{Limits: Limits{CPUs: 8}}, f).Warnings, "limits.cpus: 8 is more than this machine has (4 processors): it bounds nothing")
	assert.Empty(t, compile(t, Policy{Limits: Limits{CPUs: 4}}, f).Warnings)
}

func TestWhereOwnGroupsAre(t *testing.T) {
	hybrid := "9:name=systemd:/\n8:pids:/\n4:memory:/jobs/a\n2:cpu,cpuacct:/x\n0::/user/me\n"
	mounts := "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n" +
		"32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct\n" +
		"35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n39 31 0:36 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n" +
		"41 31 0:38 / /sys/fs/cgroup/uni\\040fied rw - cgroup2 cgroup2 rw\n"
	container := "35 31 0:32 /docker/ab /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n41 31 0:38 /docker/ab /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
	for _, c := range []struct{ controller, groups, mounts, folder, point string }{
		{"memory", hybrid, mounts, "/sys/fs/cgroup/memory/jobs/a", "/sys/fs/cgroup/memory"},
		{"pids", hybrid, mounts, "/sys/fs/cgroup/pids", "/sys/fs/cgroup/pids"},
		{"cpu", hybrid, mounts, "/sys/fs/cgroup/cpu,cpuacct/x", "/sys/fs/cgroup/cpu,cpuacct"},
		{"", hybrid, mounts, "/sys/fs/cgroup/uni fied/user/me", "/sys/fs/cgroup/uni fied"},
		{"memory", "4:memory:/docker/ab\n", container, "/sys/fs/cgroup/memory", "/sys/fs/cgroup/memory"},
		{"memory", "4:memory:/docker/abc\n", container, "", ""},
		{"", "0::/docker/ab/init\n", container, "/sys/fs/cgroup/init", "/sys/fs/cgroup"},
		{"", "0::/../elsewhere\n", container, "", ""},
		{"hugetlb", hybrid, mounts, "", ""},
		{"memory", "", "", "", ""},
		{"memory", "garbage\n4:memory\n", "garbage - \n - cgroup\n", "", ""},
	} {
		folder, point, ok := placeOf(c.controller, memberships(c.groups), cgroupMounts(c.mounts))
		assert.Equal(t, c.folder, folder, c.groups)
		assert.Equal(t, c.point, point, c.groups)
		assert.Equal(t, c.folder != "", ok, c.groups)
	}
}

func TestKernelsThatCountProcessesForEachNamespace(t *testing.T) {
	for release, want := range map[string]bool{
		"5.13.19": false, "5.14.0-427.el9.x86_64": true, "6.18.44": true, "4.18.0": false, "5.14-rc1": true, "10.0": true, "": false, "x.y": false, "6": false,
	} {
		assert.Equal(t, want, separate(release), release)
	}
}
