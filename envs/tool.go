package envs

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/kernel-launch/kernel-launch/internal/plain"
)

// Bind shows Source of the host at Target inside. Both are absolute.
type Bind struct{ Source, Target string }

// Tool is one program to be run in the install sandbox. It sees the system, its binds, an empty home and no network but Index.
type Tool struct {
	Argv     []string // Argv[0] is absolute, as seen inside
	Env      []string // the whole environment, K=V
	Dir      string   // working folder, as seen inside
	ReadOnly []Bind
	Writable []Bind
	Index    http.Handler // served inside at Store.Gateway; nil: no network at all
	Stdout   io.Writer
	Stderr   io.Writer
}

// Exec runs a tool and waits for it. A tool that ends with another status than 0 is a *ToolError.
type Exec func(ctx context.Context, t Tool) error

// ToolError is a tool that ran and failed.
type ToolError struct {
	Argv   []string
	Status int    // exit status; 128+n for a signal
	Tail   string // the end of what it wrote
}

func (e *ToolError) Error() string {
	name := "tool"
	if len(e.Argv) > 0 {
		name = e.Argv[0]
	}
	s := fmt.Sprintf("%s ended with status %d", plain.Line(name, 200), e.Status)
	if e.Tail != "" {
		s += ": " + plain.Line(e.Tail, 800)
	}
	return s
}
