package envs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/kernel-launch/kernel-launch/internal/plain"
)

// InstallError is an install that failed; nothing of it is in the environment.
type InstallError struct {
	Packages []string
	Causes   []*UpstreamError // what the gateway could not fetch, as measured
	Skipped  []string         // files that the installer found and did not take, and why, in its words
	Err      error            // what the installer said or the merge refused
}

func (e *InstallError) Error() string {
	parts := []string{fmt.Sprintf("install of %s", strings.Join(e.Packages, ", "))}
	for i, c := range e.Causes {
		if i == 3 {
			parts = append(parts, fmt.Sprintf("and %d more", len(e.Causes)-i))
			break
		}
		parts = append(parts, c.Error())
	}
	parts = append(parts, e.Skipped...)
	return strings.Join(append(parts, strings.ReplaceAll(e.Err.Error(), "\n", "; ")), ": ")
}

func (e *InstallError) Unwrap() []error {
	errs := []error{e.Err}
	for _, c := range e.Causes {
		errs = append(errs, c)
	}
	return errs
}

var errNoSandbox = errors.New("there is no install sandbox")

// bring installs names and what they need into the tree of an environment that no kernel can see yet: the tool writes into an empty stage and has the
// tree read-only; Go moves what is found there.
func (s *Store) bring(ctx context.Context, e *Environment, names ...string) (err error) {
	if s.Exec == nil {
		return &InstallError{Packages: names, Err: errNoSandbox}
	}
	pip, err := findPip(e.Interpreter)
	if err != nil {
		return err
	}
	gateway, err := NewGateway(s.Index, s.Client)
	if err != nil {
		return err
	}
	t, err := s.newStage()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.remove()) }()
	program, err := pip.place(filepath.Join(t.dir, "tool"))
	if err != nil {
		return err
	}
	tool := s.pipTool(e, t, append([]string{"-I", program}, pip.arguments(s.gateway()+"/simple", t.out(), t.log(), names)...))
	tool.Index = gateway
	if said, err := s.exec(ctx, tool); err != nil {
		return &InstallError{Packages: names, Causes: gateway.Failures(), Skipped: skippedLinks(t.log()), Err: withLast(err, said)}
	}
	if err := mergeFresh(e, t.out()); err != nil {
		return &InstallError{Packages: names, Err: err}
	}
	return e.recordOwned()
}

// exec returns the end of what the tool wrote.
func (s *Store) exec(ctx context.Context, tool Tool) (said string, err error) {
	var end tail
	end.max = 16 << 10
	tool.Stdout, tool.Stderr = &end, &end
	err = s.Exec(ctx, tool)
	return end.String(), err
}

// withLast puts what the tool called errors in the place of the last thing that it wrote.
func withLast(err error, said string) error {
	last := lastErrors(said)
	var te *ToolError
	switch {
	case last == "":
		return err
	case errors.As(err, &te):
		return &ToolError{Argv: te.Argv, Status: te.Status, Tail: last}
	}
	return fmt.Errorf("%w: %s", err, last)
}

func (s *Store) pipTool(e *Environment, t stage, arguments []string) Tool {
	tool := Tool{
		Argv: append([]string{e.python(e.Current())}, arguments...),
		Env: []string{
			"PATH=/usr/bin:/bin", "HOME=" + t.home(), "TMPDIR=" + t.temp(), "LC_ALL=C.UTF-8", "LANGUAGE=en", "PIP_CONFIG_FILE=" + os.DevNull,
			"PYTHONDONTWRITEBYTECODE=1", "PYTHONNOUSERSITE=1", "NO_PROXY=*", "no_proxy=*",
		},
		Dir:      t.empty(),
		ReadOnly: []Bind{{e.Tree(), e.Current()}},
		Writable: []Bind{{t.dir, t.dir}},
	}
	for _, p := range e.Interpreter.Shown() {
		tool.ReadOnly = append(tool.ReadOnly, Bind{p, p})
	}
	return tool
}

// recordOwned: the environment is new, so what stands in its own folders was just brought in.
func (e *Environment) recordOwned() error {
	list, _, err := e.Packages()
	if err != nil {
		return err
	}
	e.Owned = nil
	for _, p := range list {
		if p.Owner == OwnerEnv {
			e.Owned = append(e.Owned, Owned{Name: p.Name, Version: p.Version})
		}
	}
	return nil
}

// lastErrors returns what pip calls errors, else the last line that it wrote.
func lastErrors(said string) string {
	var lines []string
	said = strings.TrimSpace(said)
	for line := range strings.SplitSeq(said, "\n") {
		if strings.HasPrefix(line, "ERROR:") {
			lines = append(lines, strings.TrimSpace(strings.TrimPrefix(line, "ERROR:")))
		}
	}
	if len(lines) == 0 {
		return plain.Line(said[strings.LastIndexByte(said, '\n')+1:], 400)
	}
	return plain.Line(strings.Join(lines, "; "), 800)
}

// skippedLinks finds the reasons that pip writes to its log only: without them a package that exists for other systems looks as if it did not exist.
func skippedLinks(log string) (reasons []string) {
	f, err := os.Open(log)
	if err != nil {
		return nil
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() && len(reasons) < 3 {
		if _, reason, ok := strings.Cut(lines.Text(), "Skipping link: "); ok {
			reason, _, _ = strings.Cut(reason, ": http")
			if reason = plain.Line(reason, 200); !has(reasons, reason) {
				reasons = append(reasons, reason)
			}
		}
	}
	return reasons
}
