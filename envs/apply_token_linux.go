package envs

import (
	"bytes"
	"fmt"
	"os"
)

// StartToken tells one process from a later one with the same number: boot id and start time in clock ticks. It is empty when the process cannot be read.
func StartToken(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	// The name of a program may hold spaces and parentheses: the fields begin after the last one. Start time is field 22 of the line, 20 of the rest.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 {
		return ""
	}
	return string(bytes.TrimSpace(boot)) + ":" + string(fields[19])
}
