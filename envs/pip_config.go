package envs

import (
	"path"
	"strings"
)

// pipConfig holds the last value of each key that pip's install command would take.
type pipConfig map[string]pipValue

type pipValue struct{ text, file string }

// pipConfig reads pip's files, those of the machine first. What cannot be read is skipped, as pip does.
func (s IndexSources) pipConfig() pipConfig {
	conf := pipConfig{}
	for _, file := range s.pipFiles() {
		data, err := s.ReadFile(file)
		if err != nil {
			continue
		}
		for _, section := range []string{"global", "install"} {
			for k, v := range parseIni(string(data), section) {
				conf[k] = pipValue{v, file}
			}
		}
	}
	return conf
}

func (s IndexSources) pipFiles() []string {
	named := s.Getenv("PIP_CONFIG_FILE")
	if named == "/dev/null" || strings.EqualFold(named, "nul") {
		return nil // pip's way to say: no files at all
	}
	var files []string
	switch s.Goos {
	case "windows":
		files = []string{s.Getenv("PROGRAMDATA") + `\pip\pip.ini`, s.Home + `\pip\pip.ini`, s.Getenv("APPDATA") + `\pip\pip.ini`}
	case "darwin":
		files = []string{"/Library/Application Support/pip/pip.conf", "/etc/pip.conf", s.Home + "/.pip/pip.conf", s.Home + "/.config/pip/pip.conf", s.Home + "/Library/Application Support/pip/pip.conf"}
	default:
		files = s.xdgPipFiles()
	}
	if named != "" {
		files = append(files, named)
	}
	return files
}

func (s IndexSources) xdgPipFiles() (files []string) {
	dirs := s.Getenv("XDG_CONFIG_DIRS")
	if dirs == "" {
		dirs = "/etc/xdg"
	}
	for d := range strings.SplitSeq(dirs, ":") {
		if path.IsAbs(d) {
			files = append(files, path.Join(d, "pip", "pip.conf"))
		}
	}
	user := s.Getenv("XDG_CONFIG_HOME")
	if !path.IsAbs(user) {
		user = path.Join(s.Home, ".config")
	}
	return append(files, "/etc/pip.conf", path.Join(s.Home, ".pip", "pip.conf"), path.Join(user, "pip", "pip.conf"))
}

// parseIni reads one section: "key = value" or "key: value", comments with # or ;, the first word of a value that goes on in the next lines.
func parseIni(data, section string) map[string]string {
	values := map[string]string{}
	in, key := false, ""
	for line := range strings.SplitSeq(strings.ReplaceAll(data, "\r\n", "\n"), "\n") {
		t := strings.TrimSpace(line)
		switch {
		case t == "" || t[0] == '#' || t[0] == ';':
		case t[0] == '[':
			in, key = strings.EqualFold(strings.Trim(t, "[] "), section), ""
		case !in:
		case line[0] == ' ' || line[0] == '\t':
			if key != "" && values[key] == "" {
				values[key] = t
			}
		default:
			at := strings.IndexAny(t, "=:")
			if at < 0 {
				continue
			}
			key = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(t[:at])), "_", "-")
			values[key] = strings.TrimSpace(t[at+1:])
		}
	}
	return values
}
