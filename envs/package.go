package envs

// The two owners of a package or hook: the environment's own tree, or the interpreter that it stands on.
const (
	OwnerEnv  = "env"
	OwnerBase = "base"
)

// Package is a distribution that a kernel of the environment would find under its name.
type Package struct {
	Name      string `json:"name"` // Python: normalised (lower case, '-'); R: as it is
	Version   string `json:"version"`
	Owner     string `json:"owner"`               // OwnerEnv or OwnerBase
	Folder    string `json:"folder,omitempty"`    // the path entry or library it was found in
	Info      string `json:"info,omitempty"`      // the file or folder that describes it
	Broken    string `json:"broken,omitempty"`    // why its description cannot be believed
	Ambiguous bool   `json:"ambiguous,omitempty"` // Folder describes the name more than once
	Built     string `json:"built,omitempty"`     // R: the Built field
}

// The kinds of code that Python runs at every start, before the kernel.
const (
	HookPth           = "pth"           // a .pth file with import lines
	HookStart         = "start"         // a .start file (PEP 829)
	HookSiteCustomize = "sitecustomize" // sitecustomize.py
	HookUserCustomize = "usercustomize" // usercustomize.py
)

// Hook is a file that makes Python run code at every start.
type Hook struct {
	Name   string `json:"name"` // the file's name
	Kind   string `json:"kind"`
	Path   string `json:"path"`
	Owner  string `json:"owner"`
	SHA256 string `json:"sha256"` // of its content; empty when it cannot be read
}

// Packages lists what a kernel of the environment would find, sorted by name, and what would run at its start, in the order of the path.
// Files are read; nothing is started. A package that cannot be read is in the list with Broken set. The error names folders that cannot be read;
// what the others hold is returned beside it.
func (e *Environment) Packages() ([]Package, []Hook, error) {
	if e.Language == R {
		list, err := readLibraries(e.libraries())
		return list, nil, err
	}
	return readPath(e.sites(), e.Interpreter)
}

// folder is a path entry with its owner.
type folder struct{ path, owner string }

// sites are the site folders of the environment in the order of sys.path. There is no user site: kernels run without it.
func (e *Environment) sites() []folder {
	var list []folder
	for _, d := range e.Interpreter.envSites(e.Tree()) {
		list = append(list, folder{d, OwnerEnv})
	}
	if e.Mode == Inherit {
		for _, d := range e.Interpreter.SitePackages {
			list = append(list, folder{d, OwnerBase})
		}
	}
	return list
}

// libraries are R's library folders in the order of .libPaths(). R's own library is always among them, and is always the last.
func (e *Environment) libraries() []folder {
	list := []folder{{e.Tree(), OwnerEnv}}
	base := e.Interpreter.Libraries
	if e.Mode == Isolated && len(base) > 0 {
		base = base[len(base)-1:]
	}
	for _, d := range base {
		list = append(list, folder{d, OwnerBase})
	}
	return list
}
