package restart

// Languages, as they stand in Snapshot.Language.
const (
	Python = "python"
	R      = "r"
)

// Owners, as they stand in Package.Owner.
const (
	OwnerEnv  = "env"  // in the environment's own folder
	OwnerBase = "base" // inherited from the system
)

// A Snapshot is everything that can be imported in one kernel's view, at one moment.
//
// All paths are those that the kernel sees. A generation of an environment therefore appears at the path where it is shown to kernels, never
// below its own number: two generations with the same packages are equal.
type Snapshot struct {
	Language    string    `json:"language"`    // Python or R
	Interpreter string    `json:"interpreter"` // its identity: "cpython 3.11.2 /usr/bin/python3.11"
	Path        []string  `json:"path"`        // where imports come from, in order
	Hooks       []Hook    `json:"hooks"`
	Packages    []Package `json:"packages"` // one per name, the first on the path; sorted by name
	Orphans     []string  `json:"orphans"`  // top modules of the environment's own folder that belong to no package
}

// A Hook is code that runs at every start of the interpreter.
type Hook struct {
	Name   string `json:"name"` // "distutils-precedence.pth", "sitecustomize"
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	Owner  string `json:"owner"` // name of the package that brought it; "" when none did
}

// A Package is one installed distribution of Python, or one package of R.
type Package struct {
	Name        string   `json:"name"`                  // normalised (PEP 503) for Python, as written for R
	Version     string   `json:"version"`               // as written
	Folder      string   `json:"folder"`                // the entry of the path that it is found in
	Owner       string   `json:"owner"`                 // OwnerEnv or OwnerBase
	Fingerprint string   `json:"fingerprint,omitempty"` // the same content compares equal whoever installed it; "" is not known
	Modules     []string `json:"modules"`               // top modules: "numpy", "google/protobuf" for its part of a shared namespace; nil is not known, empty is none
	Namespaces  []string `json:"namespaces,omitempty"`  // those of its modules, or of their parents, that are PEP 420 namespaces
	Files       []string `json:"files,omitzero"`        // module files relative to Folder, with slashes; only of OwnerEnv; nil is not known
	Hooks       bool     `json:"hooks,omitempty"`       // brings a startup hook, or is editable through one
	Requires    []string `json:"requires,omitempty"`    // requirement strings
}
