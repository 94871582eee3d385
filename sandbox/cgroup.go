package sandbox

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// period is the stretch of time, in microseconds, in which a share of the processors is counted.
const period = 100_000

// groupFile is one file of a group and what is written into it.
type groupFile struct {
	file, value string
	optional    bool // a kernel without it holds the limit as far as the others go
}

// settings are the files of a group, in the order in which the kernel takes them: v1 wants memory and swap to be no less than memory alone.
func settings(tier Tier, b *Bounds, limits []string) []groupFile {
	var out []groupFile
	if slices.Contains(limits, "memory") {
		bytes := strconv.FormatInt(int64(b.Memory), 10)
		if tier == TierCgroup1 {
			out = append(out, groupFile{"memory.limit_in_bytes", bytes, false}, groupFile{"memory.memsw.limit_in_bytes", bytes, true})
		} else {
			out = append(out, groupFile{"memory.max", bytes, false}, groupFile{"memory.swap.max", "0", true})
		}
	}
	if slices.Contains(limits, "processes") {
		out = append(out, groupFile{"pids.max", strconv.Itoa(b.Processes + ownTasks), false})
	}
	if slices.Contains(limits, "cpus") {
		quota := strconv.FormatInt(int64(b.CPUs*period), 10)
		if tier == TierCgroup1 {
			out = append(out, groupFile{"cpu.cfs_period_us", strconv.Itoa(period), false}, groupFile{"cpu.cfs_quota_us", quota, false})
		} else {
			out = append(out, groupFile{"cpu.max", fmt.Sprintf("%s %d", quota, period), false})
		}
	}
	return out
}

// enabling is what is written into cgroup.subtree_control of the group around, so that one in it can hold these limits; empty when it can already.
func enabling(enabled string, limits []string) string {
	have, controllers := strings.Fields(enabled), map[string]string{"memory": "+memory", "processes": "+pids", "cpus": "+cpu"}
	var out []string
	for _, l := range limits {
		if !slices.Contains(have, controllers[l][1:]) {
			out = append(out, controllers[l])
		}
	}
	return strings.Join(out, " ")
}

// hitIn reads what became of the limits of a group. A kill counts only when this group's own limit was reached: the kernel writes the same number for
// processes that it killed because the machine, or a group around, was out of memory. Likewise for refused processes.
func hitIn(tier Tier, b *Bounds, limits []string, read func(file string) string) *LimitHit {
	if slices.Contains(limits, "memory") {
		if h := memoryHit(tier, b, read); h != nil {
			return h
		}
	}
	if slices.Contains(limits, "processes") {
		refused, peak := field(read("pids.events"), "max"), number(read("pids.peak"))
		if refused > 0 && (peak == 0 || peak >= int64(b.Processes+ownTasks)) {
			return &LimitHit{Limit: "processes", Value: int64(b.Processes), Peak: max(peak-ownTasks, 0), Kills: int(refused)}
		}
	}
	return nil
}

// nearly is how far below its limit a v1 group may have stayed when the kernel refused it more: memory is charged some pages at a time.
const nearly = 1 << 20

// memoryHit reads the numbers of memory. In v1 the peak tells whether the limit was reached: not every kernel counts how often.
func memoryHit(tier Tier, b *Bounds, read func(file string) string) *LimitHit {
	kills, peak := field(read("memory.events"), "oom_kill"), number(read("memory.peak"))
	reached := field(read("memory.events"), "oom") > 0
	if tier == TierCgroup1 {
		kills, peak = field(read("memory.oom_control"), "oom_kill"), number(read("memory.max_usage_in_bytes"))
		reached = peak+nearly >= int64(b.Memory)
	}
	if kills == 0 || !reached {
		return nil
	}
	return &LimitHit{Limit: "memory", Value: int64(b.Memory), Peak: peak, Kills: int(kills)}
}

func number(text string) int64 {
	n, _ := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	return n
}
