package envs

import (
	"os"
	"path/filepath"
)

// pipProgram is a pip that any interpreter can be given: a folder "pip" of modules, or a wheel. It is run by the environment's own interpreter,
// which then sees what the environment inherits and takes that instead of fetching it again.
type pipProgram struct {
	folder string // …/site-packages/pip
	wheel  string // …/pip-23.0.1-py3-none-any.whl
}

// debianWheels is where Debian and Ubuntu keep the wheels that ensurepip would have bundled.
const debianWheels = "/usr/share/python-wheels"

// findPip takes the pip that the interpreter has installed, else the wheel that its ensurepip would install.
func findPip(i Interpreter) (pipProgram, error) {
	var looked []string
	for _, site := range i.SitePackages {
		looked = append(looked, site)
		p := filepath.Join(site, "pip")
		if fi, err := os.Stat(filepath.Join(p, "__main__.py")); err == nil && fi.Mode().IsRegular() {
			return pipProgram{folder: p}, nil
		}
	}
	for _, dir := range []string{filepath.Join(i.Stdlib, "ensurepip", "_bundled"), debianWheels} {
		looked = append(looked, dir)
		if wheels, err := filepath.Glob(filepath.Join(dir, "pip-*.whl")); err == nil && len(wheels) > 0 {
			return pipProgram{wheel: wheels[len(wheels)-1]}, nil
		}
	}
	return pipProgram{}, &InstallerError{i.Path, looked}
}

// place returns the path to start as a program. A folder is reached by a link in dir: pip puts the folder that it stands in on sys.path, and that must
// hold nothing but pip, or an isolated environment would take the interpreter's packages for its own.
func (p pipProgram) place(dir string) (string, error) {
	if p.wheel != "" {
		return filepath.Join(p.wheel, "pip"), nil
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	at := filepath.Join(dir, "pip")
	return at, os.Symlink(p.folder, at)
}

// arguments install names and what they need into prefix. No option comes from anywhere but here.
func (p pipProgram) arguments(index, prefix, log string, names []string) []string {
	return append([]string{
		"--isolated", "--disable-pip-version-check", "--no-input", "--no-color", "--no-cache-dir", "--log", log,
		"install", "--progress-bar", "off", "--index-url", index, "--only-binary", ":all:", "--no-warn-script-location",
		"--prefix", prefix, "--",
	}, names...)
}
