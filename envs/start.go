package envs

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Kernel is the command that starts the environment's kernel, with "{connection_file}" where a kernelspec has it.
func (e *Environment) Kernel() []string {
	if e.Language == R {
		return []string{e.Interpreter.Path, "--slave", "-e", "IRkernel::main()", "--args", "{connection_file}"}
	}
	argv := []string{e.python(e.Current())}
	if e.Interpreter.Implementation == "cpython" && e.Interpreter.atLeast(3, 11) {
		argv = append(argv, "-Xfrozen_modules=off") // as ipykernel's own kernelspec: the debugger steps through files
	}
	// Not -m ipykernel: a file of that name in the notebook's folder would be taken for it.
	return append(argv, "-m", "ipykernel_launcher", "-f", "{connection_file}")
}

// Bin is the folder that goes first on a kernel's PATH.
func (e *Environment) Bin() string {
	if e.Language == R {
		return filepath.Dir(e.Interpreter.Path)
	}
	return filepath.Dir(e.python(e.Current()))
}

// Variables are what a kernel needs in its environment to find the packages of this one and no others. PATH is not among them.
func (e *Environment) Variables() map[string]string {
	if e.Language == Python {
		return map[string]string{"VIRTUAL_ENV": e.Current(), "PYTHONNOUSERSITE": "1"}
	}
	v := map[string]string{"R_LIBS": e.Current(), "R_LIBS_USER": filepath.Join(e.Current(), "no-user-library")}
	if e.Mode == Isolated { // an empty value would bring the default back
		v["R_LIBS_SITE"] = filepath.Join(e.Current(), "no-site-library")
	}
	return v
}

// Shown lists what a sandbox must show, read-only, for the interpreter to run: its prefix, and what lies outside of it and exists. Links are left as
// they are: a program is started by the path that is in the tree.
func (i Interpreter) Shown() []string {
	paths := []string{i.Prefix, i.Stdlib, i.Path}
	if real, err := filepath.EvalSymlinks(i.Path); err == nil {
		paths = append(paths, real)
	}
	paths = append(append(paths, i.SitePackages...), i.Libraries...)
	var shown []string
	for _, p := range paths {
		if _, err := os.Stat(p); err == nil && !below(p, shown) {
			shown = append(shown, filepath.Clean(p))
		}
	}
	return shown
}

func below(path string, folders []string) bool {
	for _, f := range folders {
		rel, err := filepath.Rel(f, path)
		if err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

// scripts is the tree's folder of programs.
func scripts() string {
	if runtime.GOOS == "windows" {
		return "Scripts"
	}
	return "bin"
}
