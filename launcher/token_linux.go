package launcher

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

// startToken tells one process from a later one with the same number. It is empty when the process cannot be read.
func startToken(pid int) string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	// The name may hold spaces and parentheses: the fields begin after the last one. Start time is field 22 of the line, 20 of the rest.
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(fields) < 20 {
		return ""
	}
	return strings.TrimSpace(string(boot)) + ":" + string(fields[19])
}
