package envs

import (
	"path/filepath"
	"strconv"
	"time"
)

// Environment is one named environment, as its manifest has it.
type Environment struct {
	Name        string
	Language    string // Python or R
	Mode        string // Inherit or Isolated
	Generation  int    // the tree that new kernels get
	Interpreter Interpreter
	Requested   []string // what was asked for, by name
	Owned       []Owned  // what was brought in; the rest is the interpreter's
	Created     time.Time

	dir string
}

// Owned is a distribution that was brought into an environment.
type Owned struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	SHA256  string `json:"sha256,omitempty"`
}

// Dir is the folder of the environment: manifest, locks, generations.
func (e *Environment) Dir() string { return e.dir }

// Current is the path at which kernels see the environment: a symbolic link to Tree.
func (e *Environment) Current() string { return filepath.Join(e.dir, "current") }

// Tree is the folder of the current generation.
func (e *Environment) Tree() string { return e.TreeOf(e.Generation) }

// TreeOf is the folder of a generation, which need not be there any more.
func (e *Environment) TreeOf(generation int) string {
	return filepath.Join(e.dir, "gen", strconv.Itoa(generation))
}

func (e *Environment) genLock(n int) string {
	return filepath.Join(e.dir, "gen", strconv.Itoa(n)+".lock")
}
