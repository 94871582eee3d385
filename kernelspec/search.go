package kernelspec

import (
	"os"
	"runtime"
	"slices"
	"strings"
)

// Dirs returns the folders that hold kernelspecs, first hit wins. None of them needs to exist.
func (f Finder) Dirs() []string {
	var dirs []string
	for _, root := range f.roots() {
		if dir := f.join(root, "kernels"); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	ipython := f.getenv("IPYTHONDIR")
	if home := f.home(); ipython == "" && home != "" {
		ipython = f.join(home, ".ipython")
	}
	if ipython != "" {
		dirs = append(dirs, f.join(ipython, "kernels"))
	}
	return dirs
}

// UserRoot returns the user's Jupyter data folder, where Install puts specs by default; empty when the home folder is not known.
func (f Finder) UserRoot() string {
	if dir := f.getenv("JUPYTER_DATA_DIR"); dir != "" {
		return dir
	}
	home := f.home()
	if home == "" {
		return ""
	}
	switch f.goos() {
	case "darwin":
		if f.set("JUPYTER_PLATFORM_DIRS") {
			return f.join(home, "Library", "Application Support", "Jupyter")
		}
		return f.join(home, "Library", "Jupyter")
	case "windows":
		return f.windowsRoot(home)
	}
	if xdg := f.getenv("XDG_DATA_HOME"); xdg != "" {
		return f.join(xdg, "jupyter")
	}
	return f.join(home, ".local", "share", "jupyter")
}

func (f Finder) windowsRoot(home string) string {
	if f.set("JUPYTER_PLATFORM_DIRS") {
		if local := f.getenv("LOCALAPPDATA"); local != "" {
			return f.join(local, "Jupyter")
		}
	}
	if roaming := f.getenv("APPDATA"); roaming != "" {
		return f.join(roaming, "jupyter")
	}
	if config := f.getenv("JUPYTER_CONFIG_DIR"); config != "" {
		return f.join(config, "data")
	}
	return f.join(home, ".jupyter", "data")
}

// PrefixRoot returns the Jupyter data folder below an installation's prefix.
func (f Finder) PrefixRoot(prefix string) string { return f.join(prefix, "share", "jupyter") }

// roots returns the Jupyter data folders in their order.
func (f Finder) roots() []string {
	var roots []string
	for _, dir := range strings.Split(f.getenv("JUPYTER_PATH"), f.listSeparator()) {
		if dir != "" {
			roots = append(roots, strings.TrimRight(dir, f.separator()))
		}
	}
	user, prefix := f.userRoots(), f.prefixRoots()
	if f.preferPrefix() {
		roots = append(append(roots, prefix...), user...)
	} else {
		roots = append(append(roots, user...), prefix...)
	}
	return append(roots, f.systemRoots()...)
}

func (f Finder) userRoots() []string {
	var roots []string
	if root := f.UserRoot(); root != "" {
		roots = append(roots, root)
	}
	if f.getenv("PYTHONNOUSERSITE") != "" || f.isVenv() {
		return roots
	}
	base := f.getenv("PYTHONUSERBASE")
	if home := f.home(); base == "" && home != "" && f.goos() != "windows" {
		base = f.join(home, ".local")
	}
	if roaming := f.getenv("APPDATA"); base == "" && roaming != "" && f.goos() == "windows" {
		base = f.join(roaming, "Python")
	}
	if base != "" {
		roots = append(roots, f.PrefixRoot(base))
	}
	return roots
}

func (f Finder) prefixRoots() []string {
	p := f.prefix()
	if p == "" {
		return nil
	}
	root := f.PrefixRoot(p)
	if f.goos() != "windows" && slices.Contains(f.systemRoots(), root) {
		return nil // it keeps its place among the system's
	}
	return []string{root}
}

func (f Finder) systemRoots() []string {
	switch {
	case f.goos() == "windows":
		if data := f.getenv("PROGRAMDATA"); data != "" && f.set("JUPYTER_USE_PROGRAMDATA") {
			return []string{f.join(data, "jupyter")}
		}
		return nil
	case f.set("JUPYTER_PLATFORM_DIRS") && f.goos() == "darwin":
		return []string{"/Library/Application Support/Jupyter"}
	case f.set("JUPYTER_PLATFORM_DIRS"):
		if list := f.getenv("XDG_DATA_DIRS"); list != "" {
			return f.each(strings.Split(list, ":"), "jupyter")
		}
	}
	return []string{"/usr/local/share/jupyter", "/usr/share/jupyter"}
}

func (f Finder) each(dirs []string, below string) []string {
	var out []string
	for _, d := range dirs {
		if d != "" {
			out = append(out, f.join(d, below))
		}
	}
	return out
}

func (f Finder) prefix() string {
	for _, p := range []string{f.Prefix, f.getenv("VIRTUAL_ENV"), f.getenv("CONDA_PREFIX")} {
		if p != "" {
			return p
		}
	}
	return ""
}

// preferPrefix: the variable decides; else a virtual or conda environment of this user comes before the user's own folder.
func (f Finder) preferPrefix() bool {
	if f.getenv("JUPYTER_PREFER_ENV_PATH") != "" {
		return f.set("JUPYTER_PREFER_ENV_PATH")
	}
	return (f.isVenv() || f.isConda()) && ownedByMe(f.prefix())
}

func (f Finder) isVenv() bool {
	p := f.prefix()
	if p == "" {
		return false
	}
	_, err := os.Stat(f.join(p, "pyvenv.cfg"))
	return err == nil
}

func (f Finder) isConda() bool {
	conda, name := f.getenv("CONDA_PREFIX"), f.getenv("CONDA_DEFAULT_ENV")
	return conda != "" && strings.HasPrefix(f.prefix(), conda) && name != "" && name != "base"
}

// set reads a switch as Jupyter does: everything but a word for "no" switches on.
func (f Finder) set(name string) bool {
	v := strings.ToLower(f.getenv(name))
	return v != "" && !slices.Contains([]string{"no", "n", "false", "off", "0", "0.0"}, v)
}

func (f Finder) goos() string {
	if f.Goos == "" {
		return runtime.GOOS
	}
	return f.Goos
}

func (f Finder) getenv(name string) string {
	if f.Getenv == nil {
		return os.Getenv(name)
	}
	return f.Getenv(name)
}

func (f Finder) home() string {
	if f.goos() == "windows" {
		return f.getenv("USERPROFILE")
	}
	return f.getenv("HOME")
}

func (f Finder) separator() string {
	if f.goos() == "windows" {
		return `\`
	}
	return "/"
}

func (f Finder) listSeparator() string {
	if f.goos() == "windows" {
		return ";"
	}
	return ":"
}

// join is filepath.Join for that system instead of for the system that this runs on.
func (f Finder) join(dir string, names ...string) string {
	sep := f.separator()
	return strings.TrimRight(dir, sep) + sep + strings.Join(names, sep)
}
