package envs

import (
	"net/http"
	"os"
	"path/filepath"
)

// The languages that an environment can have. The words are folder names in Store.Root.
const (
	Python = "python"
	R      = "r"
)

// Languages lists them in the order in which they are searched.
func Languages() []string { return []string{Python, R} }

// The two modes of an environment: Inherit sees what its interpreter has installed, Isolated only its own.
const (
	Inherit  = "inherit"
	Isolated = "isolated"
)

// Store is a folder of environments. Set the fields before first use.
type Store struct {
	Root  string // $DATA/envs; made with mode 0700 when missing
	Work  string // $DATA/install; stages and empty folders stand here, so it must be on Root's file system
	Cache string // $CACHE; interpreters.json is kept there. Empty: nothing is kept

	// Exec runs a tool in the install sandbox. Nil is an error only when something has to be brought in.
	Exec Exec
	// Client reaches the package index. Nil: one is made from Index, with its certificates and proxy.
	Client *http.Client
	// Index says which package index the gateway stands for. The zero value is https://pypi.org/simple.
	Index IndexSettings
	// Gateway is the URL at which a tool finds Tool.Index. Empty: http://127.0.0.1:3141.
	Gateway string
	// UV is UVAuto (also when empty), UVOff or the path of a uv that is used for plans and installs.
	UV string
	// Tools is $DATA/tools, where a uv that was brought in stands. Empty: beside Work.
	Tools string
	// Getenv is asked for PATH and HOME. Nil: os.Getenv.
	Getenv func(string) string
}

func (s *Store) getenv(key string) string {
	if s.Getenv != nil {
		return s.Getenv(key)
	}
	return os.Getenv(key)
}

func (s *Store) gateway() string {
	if s.Gateway != "" {
		return s.Gateway
	}
	return "http://127.0.0.1:3141"
}

func (s *Store) tools() string {
	if s.Tools != "" {
		return s.Tools
	}
	return filepath.Join(filepath.Dir(s.Work), "tools")
}

func (s *Store) dir(language, name string) string { return filepath.Join(s.Root, language, name) }
