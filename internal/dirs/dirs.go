// Package dirs says where kernel-launch keeps its files, for a given operating system and environment.
package dirs

import (
	"errors"
	"path"
	"strings"
)

// Dirs are absolute paths. None of them needs to exist.
type Dirs struct {
	Home    string // the user's home folder
	Config  string // config.yaml lives here; only the operator writes it
	Data    string // environments, tools and the installers' store
	State   string // kept homes, plans, logs
	Cache   string // safe to delete
	Runtime string // running kernels, when it is ours alone (see Run); empty where the system names none
	Machine string // config.yaml and policy.yaml of the machine's administrator
}

// For computes the folders for goos ("linux", "darwin", "windows", …) from the variables that getenv returns.
// It reads nothing else: a test on one system covers all of them. HOME (USERPROFILE on Windows) must be set.
// A relative XDG path is ignored, as the XDG specification asks.
func For(goos string, getenv func(string) string) (Dirs, error) {
	const name = "kernel-launch"
	abs := func(key, fallback string) string {
		if v := getenv(key); isAbs(goos, v) {
			return v
		}
		return fallback
	}
	switch goos {
	case "windows":
		home := getenv("USERPROFILE")
		if !isAbs(goos, home) {
			return Dirs{}, errors.New("USERPROFILE is not set to an absolute path")
		}
		roaming := abs("APPDATA", home+`\AppData\Roaming`)
		local := abs("LOCALAPPDATA", home+`\AppData\Local`)
		program := abs("PROGRAMDATA", `C:\ProgramData`)
		return Dirs{
			Home: home, Config: roaming + `\` + name, Data: local + `\` + name + `\data`, State: local + `\` + name + `\state`,
			Cache: local + `\` + name + `\cache`, Machine: program + `\` + name,
		}, nil
	case "darwin":
		home := getenv("HOME")
		if !isAbs(goos, home) {
			return Dirs{}, errors.New("HOME is not set to an absolute path")
		}
		lib := home + "/Library"
		return Dirs{
			Home: home, Config: lib + "/Application Support/" + name, Data: lib + "/Application Support/" + name + "/data",
			State: lib + "/Application Support/" + name + "/state", Cache: lib + "/Caches/" + name, Machine: "/etc/" + name,
		}, nil
	}
	home := getenv("HOME")
	if !isAbs(goos, home) {
		return Dirs{}, errors.New("HOME is not set to an absolute path")
	}
	d := Dirs{
		Home:    home,
		Config:  path.Join(abs("XDG_CONFIG_HOME", home+"/.config"), name),
		Data:    path.Join(abs("XDG_DATA_HOME", home+"/.local/share"), name),
		State:   path.Join(abs("XDG_STATE_HOME", home+"/.local/state"), name),
		Cache:   path.Join(abs("XDG_CACHE_HOME", home+"/.cache"), name),
		Machine: "/etc/" + name,
	}
	if r := getenv("XDG_RUNTIME_DIR"); isAbs(goos, r) {
		d.Runtime = path.Join(r, name)
	}
	return d, nil
}

func isAbs(goos, p string) bool {
	if goos == "windows" {
		return len(p) > 2 && p[1] == ':' && (p[2] == '\\' || p[2] == '/') || strings.HasPrefix(p, `\\`)
	}
	return strings.HasPrefix(p, "/")
}
