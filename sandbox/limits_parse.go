package sandbox

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// membership is a line of /proc/self/cgroup: the controllers of a hierarchy, none for cgroup v2, and the group in it.
type membership struct {
	controllers []string
	group       string
}

func memberships(text string) []membership {
	var out []membership
	for line := range strings.Lines(text) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(f) != 3 {
			continue
		}
		m := membership{group: f[2]}
		if f[1] != "" {
			m.controllers = strings.Split(f[1], ",")
		}
		out = append(out, m)
	}
	return out
}

// cgroupMount is a mounted hierarchy: root is the group that stands at point.
type cgroupMount struct {
	unified     bool
	root, point string
	controllers []string // v1
}

// cgroupMounts reads /proc/self/mountinfo.
func cgroupMounts(text string) []cgroupMount {
	var out []cgroupMount
	for line := range strings.Lines(text) {
		before, after, ok := strings.Cut(strings.TrimSpace(line), " - ")
		f, system := strings.Fields(before), strings.Fields(after)
		if !ok || len(f) < 5 || len(system) < 3 || system[0] != "cgroup" && system[0] != "cgroup2" {
			continue
		}
		out = append(out, cgroupMount{
			unified: system[0] == "cgroup2", root: unescape(f[3]), point: unescape(f[4]),
			controllers: strings.Split(system[2], ","),
		})
	}
	return out
}

// unescape undoes \040 and the like, by which the kernel keeps a name in one field.
func unescape(s string) string {
	var out strings.Builder
	for len(s) > 0 {
		if s[0] == '\\' && len(s) >= 4 {
			if n, err := strconv.ParseUint(s[1:4], 8, 8); err == nil {
				out.WriteByte(byte(n))
				s = s[4:]
				continue
			}
		}
		out.WriteByte(s[0])
		s = s[1:]
	}
	return out.String()
}

// placeOf is the folder of this process's group in a hierarchy; ok is false where it cannot be seen: it lies outside of what is mounted.
func placeOf(controller string, groups []membership, mounts []cgroupMount) (folder, point string, ok bool) {
	for _, m := range mounts {
		if m.unified != (controller == "") || !m.unified && !slices.Contains(m.controllers, controller) {
			continue
		}
		for _, g := range groups {
			if m.unified != (len(g.controllers) == 0) || !m.unified && !slices.Contains(g.controllers, controller) {
				continue
			}
			if within(path.Clean(g.group), m.root) {
				return path.Join(m.point, strings.TrimPrefix(g.group, m.root)), m.point, true
			}
		}
	}
	return "", "", false
}

// field is one value of a file of "name value" lines, as memory.events; 0 for a name that is not there.
func field(text, name string) int64 {
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == name {
			n, _ := strconv.ParseInt(f[1], 10, 64)
			return n
		}
	}
	return 0
}

// separate reports whether a kernel of this release counts processes for each user namespace.
func separate(release string) bool {
	f := strings.FieldsFunc(release, func(r rune) bool { return r < '0' || r > '9' })
	if len(f) < 2 {
		return false
	}
	major, err := strconv.Atoi(f[0])
	minor, fault := strconv.Atoi(f[1])
	return err == nil && fault == nil && (major > 5 || major == 5 && minor >= 14)
}
