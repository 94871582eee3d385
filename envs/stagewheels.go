package envs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/kernel-launch/kernel-launch/internal/plain"
)

// uvInside is where the install sandbox shows uv.
const uvInside = "/run/kernel-launch/tool/uv"

// stageFiles has uv install exactly the planned files, without what they need, into a folder that looks like e's tree and is empty. It checks every
// hash. uv sees no environment: at e's own path stands a link to the stage, so that programs name the interpreter that they will have.
func (s *Store) stageFiles(ctx context.Context, e *Environment, t stage, uv string, files []PlannedFile) ([]framePart, error) {
	frame, err := makeFrame(e, t.out())
	if err != nil {
		return nil, err
	}
	gateway, err := NewGateway(s.Index, s.Client)
	if err != nil {
		return nil, err
	}
	tool, err := s.uvInstall(e, t, uv, files)
	if err != nil {
		return nil, err
	}
	tool.Index = gateway
	if said, err := s.exec(ctx, tool); err != nil {
		return nil, &InstallError{Packages: plannedNames(files), Causes: gateway.Failures(), Err: withSaid(err, uvSaid(said))}
	}
	return frame, nil
}

func (s *Store) uvInstall(e *Environment, t stage, uv string, files []PlannedFile) (Tool, error) {
	at := func(name string) string { return filepath.Join(t.dir, name) }
	err := errors.Join(
		os.WriteFile(at("plan.txt"), []byte(hashLines(files)), 0o600),
		os.WriteFile(at("uv.toml"), []byte(uvConfig(s.gateway()+"/simple")), 0o600),
	)
	if err != nil {
		return Tool{}, err
	}
	shown, err := t.showAs(e)
	if err != nil {
		return Tool{}, err
	}
	cache, err := s.uvCache()
	if err != nil {
		return Tool{}, err
	}
	if builds(files) { // code of the packages runs: nothing that outlives it is within its reach
		cache = at("cache")
	}
	tool := s.uvTool(uv, t, cache, e.Interpreter,
		"pip", "install", "--python", e.python(e.Current()), "--no-deps", "--require-hashes", "--config-file", at("uv.toml"), "--no-progress", "--color", "never",
		"--link-mode", "hardlink", "--cache-dir", cache, "-r", at("plan.txt"))
	tool.ReadOnly = append(tool.ReadOnly, shown)
	if !builds(files) {
		tool.Argv = append(tool.Argv, "--no-build")
		tool.Writable = []Bind{{s.Work, s.Work}} // one mount: hard links do not reach from one into another
	}
	return tool, nil
}

// showAs has the stage appear at the environment's path. A link, not a mount: hard links do not reach from one mount into another.
func (t stage) showAs(e *Environment) (Bind, error) {
	dir := filepath.Join(t.dir, "shown")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return Bind{}, err
	}
	return Bind{dir, e.dir}, os.Symlink(t.out(), filepath.Join(dir, filepath.Base(e.Current())))
}

func builds(files []PlannedFile) bool {
	for _, f := range files {
		if f.Source || !strings.HasSuffix(f.Filename, ".whl") {
			return true
		}
	}
	return false
}

func hashLines(files []PlannedFile) string {
	var b strings.Builder
	for _, f := range files {
		fmt.Fprintf(&b, "%s==%s --hash=sha256:%s\n", f.Name, f.Version, f.SHA256)
	}
	return b.String()
}

func plannedNames(files []PlannedFile) (names []string) {
	for _, f := range files {
		names = append(names, f.Name+"=="+f.Version)
	}
	return names
}

// uvSaid is what uv wrote from the first line on that is no report of its progress.
func uvSaid(said string) string {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	for i, line := range lines {
		if l := strings.TrimSpace(line); strings.HasPrefix(l, "error:") || strings.HasPrefix(l, "×") {
			return plain.Line(strings.Join(strings.Fields(strings.Join(lines[i:], " ")), " "), 800)
		}
	}
	return plain.Line(lines[len(lines)-1], 400)
}

// withSaid puts a tool's own words in the place of the last thing that it wrote.
func withSaid(err error, words string) error {
	var te *ToolError
	switch {
	case words == "":
		return err
	case errors.As(err, &te):
		return &ToolError{Argv: te.Argv, Status: te.Status, Tail: words}
	}
	return fmt.Errorf("%w: %s", err, words)
}
