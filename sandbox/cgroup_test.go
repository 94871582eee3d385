package sandbox

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWhatIsWrittenIntoAGroup(t *testing.T) {
	b := &Bounds{Memory: 1 << 30, Processes: 30, CPUs: 1.5}
	all := []string{"memory", "processes", "cpus"}
	assert.Equal(t, []groupFile{
		{"memory.max", "1073741824", false}, {"memory.swap.max", "0", true}, {"pids.max", "46", false}, {"cpu.max", "150000 100000", false},
	}, settings(TierCgroup2, b, all))
	assert.Equal(t, []groupFile{
		{"memory.limit_in_bytes", "1073741824", false},
		{"memory.memsw.limit_in_bytes", "1073741824", true},
		{"pids.max", "46", false},
		{"cpu.cfs_period_us", "100000", false},
		{"cpu.cfs_quota_us", "150000", false},
	}, settings(TierCgroup1, b, all))
	assert.Equal(t, []groupFile{{"pids.max", "46", false}}, settings(TierCgroup1, b, []string{"processes"}))
	assert.Equal(t, "+memory +cpu", enabling("pids hugetlb\n", all))
	assert.Empty(t, enabling("cpu memory pids", all))
}

func TestAHitIsOfThisGroupsOwnLimit(t *testing.T) {
	b := &Bounds{Memory: 200 << 20, Processes: 30}
	const events = "low 0\nhigh 0\nmax 31\noom 2\noom_kill 2\noom_group_kill 0\n"
	for name, c := range map[string]struct {
		tier  Tier
		files map[string]string
		want  *LimitHit
	}{
		"v2, killed":                     {TierCgroup2, map[string]string{"memory.events": events, "memory.peak": "209715200\n"}, &LimitHit{"memory", 200 << 20, 200 << 20, 2}},
		"v2, no peak before Linux 5.19":  {TierCgroup2, map[string]string{"memory.events": events}, &LimitHit{"memory", 200 << 20, 0, 2}},
		"v2, the machine's memory ended": {TierCgroup2, map[string]string{"memory.events": "max 0\noom 0\noom_kill 1\n", "memory.peak": "1000000"}, nil},
		"v2, it was tight":               {TierCgroup2, map[string]string{"memory.events": "max 7\noom 0\noom_kill 0\n", "memory.peak": "209715200"}, nil},
		"v1, killed":                     {TierCgroup1, map[string]string{"memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n", "memory.max_usage_in_bytes": "209710000"}, &LimitHit{"memory", 200 << 20, 209710000, 1}},
		"v1, the machine's memory ended": {TierCgroup1, map[string]string{"memory.oom_control": "oom_kill 1\n", "memory.max_usage_in_bytes": "100000000"}, nil},
		"refused":                        {TierCgroup2, map[string]string{"pids.events": "max 12\n", "pids.peak": "46"}, &LimitHit{"processes", 30, 30, 12}},
		"refused, the peak is not known": {TierCgroup1, map[string]string{"pids.events": "max 12\n"}, &LimitHit{"processes", 30, 0, 12}},
		"refused by a group around":      {TierCgroup2, map[string]string{"pids.events": "max 12\n", "pids.peak": "20"}, nil},
		"killed and refused":             {TierCgroup2, map[string]string{"memory.events": events, "memory.peak": "5", "pids.events": "max 12\n"}, &LimitHit{"memory", 200 << 20, 5, 2}},
		"nothing can be read":            {TierCgroup2, nil, nil},
	} {
		got := hitIn(c.tier, b, []string{"memory", "processes"}, func(file string) string { return c.files[file] })
		assert.Equal(t, c.want, got, name)
	}
	assert.Nil(t, hitIn(TierCgroup2, b, []string{"cpus"}, func(string) string { return events }), "only what this group holds")
}
