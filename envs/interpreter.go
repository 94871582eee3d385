package envs

import "strings"

// Interpreter is the program that an environment stands on: never an environment's own, always its base. The facts come from one probe.
type Interpreter struct {
	Path           string `json:"path"`           // absolute; what is started
	Prefix         string `json:"prefix"`         // sys.base_prefix, R.home(): what a sandbox must show
	Version        string `json:"version"`        // "3.11.2", "4.2.2"
	Implementation string `json:"implementation"` // "cpython", "pypy", "R"
	Platform       string `json:"platform,omitempty"`

	// Python only.
	ABIFlags          string   `json:"abiflags,omitempty"`
	PlatLibDir        string   `json:"platlibdir,omitempty"`
	Stdlib            string   `json:"stdlib,omitempty"`
	ExtensionSuffixes []string `json:"extension_suffixes,omitempty"`
	StdlibModules     []string `json:"stdlib_modules,omitempty"` // empty before Python 3.10
	BuiltinModules    []string `json:"builtin_modules,omitempty"`
	SitePackages      []string `json:"site_packages,omitempty"`     // of the base, in the order of sys.path
	EnvSitePackages   []string `json:"env_site_packages,omitempty"` // of an environment, with @ENV@ where its tree stands
	HasVenv           bool     `json:"has_venv,omitempty"`
	HasEnsurepip      bool     `json:"has_ensurepip,omitempty"`

	// R only: .Library.site and .Library, in the order of .libPaths().
	Libraries []string `json:"libraries,omitempty"`
}

// envMark stands for an environment's folder in EnvSitePackages.
const envMark = "@ENV@"

// envSites returns the site-packages folders of the environment in tree.
func (i Interpreter) envSites(tree string) []string {
	sites := make([]string, 0, len(i.EnvSitePackages))
	for _, s := range i.EnvSitePackages {
		sites = append(sites, strings.Replace(s, envMark, tree, 1))
	}
	return sites
}
