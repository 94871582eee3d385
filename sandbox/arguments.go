package sandbox

import (
	"fmt"
	"strconv"
)

// arguments are bubblewrap's options for a plan; file names the descriptor that holds a mount's data, or is empty where
// the mount is left out. Options come in the order in which they take effect, so this is the plan's order too.
func arguments(p *Plan, file func(Mount) string) []string {
	out := []string{"--unshare-user", "--unshare-all"}
	if p.Network == NetworkHost {
		out = append(out, "--share-net")
	}
	out = append(out, "--disable-userns", "--new-session", "--as-pid-1", "--cap-drop", "ALL", "--clearenv")
	for _, m := range p.Mounts {
		out = append(out, m.options(file)...)
	}
	return append(out, "--chdir", p.Dir)
}

// descriptor is what holds an island's folder.
func (m Mount) descriptor(file func(Mount) string) string {
	if !m.Island {
		return ""
	}
	return file(m)
}

func (m Mount) options(file func(Mount) string) []string {
	switch m.Kind {
	case MountReadOnly, MountMask:
		if fd := m.descriptor(file); fd != "" {
			return []string{"--ro-bind-fd", fd, m.Target}
		}
		return []string{"--ro-bind", m.Source, m.Target}
	case MountReadWrite:
		return []string{"--bind", m.Source, m.Target}
	case MountTmpfs:
		return []string{"--perms", fmt.Sprintf("%04o", m.Mode), "--size", strconv.FormatInt(int64(m.Size), 10), "--tmpfs", m.Target}
	case MountDevice:
		return []string{"--dev-bind", m.Source, m.Target}
	case MountProc:
		return []string{"--proc", m.Target}
	case MountDev:
		return []string{"--dev", m.Target}
	case MountLink:
		return []string{"--symlink", m.Source, m.Target}
	case MountFile, MountCopy:
		fd := file(m)
		if fd == "" {
			return nil
		}
		return []string{"--perms", fmt.Sprintf("%04o", m.Mode), "--file", fd, m.Target}
	case MountSeal:
		return []string{"--remount-ro", m.Target}
	}
	panic("sandbox: mount of unknown kind " + string(m.Kind))
}
