package envs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// resolver runs the resolutions of one request. They share a stage, a cache and the gateway.
type resolver struct {
	work    *work
	uv      string // its path on the host
	gateway *Gateway
	stage   stage
	cache   string
	stubs   []stub
}

// The two questions that an index is asked.
const (
	askAdditive = "additive" // with all that is visible as it is, but for what the request itself moves
	askNewest   = "newest"   // with all that is visible only preferred
)

func (r *resolver) at(name string) string { return filepath.Join(r.stage.dir, name) }
func (r *resolver) named() string         { return r.at("stubs") }
func (r *resolver) searched() string      { return r.at("links") }

func (r *resolver) write(name, text string) error {
	return os.WriteFile(r.at(name), []byte(text), 0o600)
}

// prepare writes what both questions stand on.
func (r *resolver) prepare() (err error) {
	w := r.work
	if r.cache, err = w.store.uvCache(); err != nil {
		return err
	}
	if _, ok := w.view.packages["numpy"]; ok {
		w.view.compiled = w.store.compiledNames(w.view.packages, w.env.Interpreter)
	}
	if err := errors.Join(os.Mkdir(r.named(), 0o700), os.Mkdir(r.searched(), 0o700)); err != nil {
		return err
	}
	tag := w.env.Interpreter.bestTag(glibcMinor())
	for _, name := range w.view.names() {
		st := w.view.stubOf(name)
		if err := st.write(st.named(r.named())); err != nil {
			return err
		}
		if !w.view.packages[name].pinned {
			if err := os.Link(st.named(r.named()), st.searched(r.searched(), tag)); err != nil {
				return err
			}
		}
		r.stubs = append(r.stubs, st)
	}
	config := uvConfig(w.store.gateway() + "/simple")
	return errors.Join(
		r.write("uv."+askAdditive+".toml", config),
		r.write("uv."+askNewest+".toml", fmt.Sprintf("find-links = [%q]\n%s", r.searched(), config)), // an option would be split at commas
	)
}

// roots are the request, and what is visible and needs something that the request moves: it has a say in where that goes.
func (r *resolver) roots() string {
	var b strings.Builder
	for _, q := range r.work.wanted {
		fmt.Fprintln(&b, q)
	}
	for _, name := range r.work.view.dependants(r.work.moves) {
		fmt.Fprintln(&b, name)
	}
	return b.String()
}

// constraints pin by file, so the index is not asked for these names at all.
func (r *resolver) constraints(question string) string {
	var b strings.Builder
	for _, st := range r.stubs {
		if (question == askAdditive || r.work.view.packages[st.name].pinned) && !r.work.moves[st.name] {
			b.WriteString(st.constraint(r.named()))
		}
	}
	return b.String()
}

// preferences are a former answer that has everything as it is: a resolver keeps what it can of it.
func (r *resolver) preferences() string {
	var b strings.Builder
	b.WriteString("lock-version = \"1.0\"\ncreated-by = \"kernel-launch\"\n")
	for _, st := range r.stubs {
		if !r.work.moves[st.name] {
			fmt.Fprintf(&b, "\n[[packages]]\nname = %q\nversion = %q\n", st.name, st.version)
		}
	}
	return b.String()
}

// ask runs one resolution.
func (r *resolver) ask(ctx context.Context, question string) resolution {
	in, limits, out := "in."+question+".txt", "limits."+question+".txt", "pylock."+question+".toml"
	errs := []error{r.write(in, r.roots()), r.write(limits, r.constraints(question))}
	if question == askNewest && len(r.stubs) > 0 {
		errs = append(errs, r.write(out, r.preferences()))
	}
	if err := errors.Join(errs...); err != nil {
		return resolution{err: err}
	}
	tool := r.work.store.uvTool(r.uv, r.stage, r.cacheFor(question), r.work.env.Interpreter, r.arguments(question, in, limits, out)...)
	tool.Index = r.gateway
	said, err := r.work.store.exec(ctx, tool)
	var failed *ToolError
	switch {
	case errors.As(err, &failed) && ctx.Err() == nil:
		return resolution{err: newResolveError(r.work.request.Add, said, r.gateway.Failures(), err)}
	case err != nil:
		return resolution{err: err}
	}
	text, err := os.ReadFile(r.at(out))
	if err != nil {
		return resolution{err: err}
	}
	list, err := parsePylock(string(text), r.work.store.gateway())
	return resolution{list, err}
}

// cacheFor: where source code may run, nothing that it writes is used again.
func (r *resolver) cacheFor(question string) string {
	if r.work.request.AllowSource {
		return r.at("cache-" + question)
	}
	return r.cache
}

func (r *resolver) arguments(question, in, limits, out string) []string {
	args := []string{
		"pip", "compile", "--quiet", "--color", "never", "--no-progress", "--no-header", "--no-annotate", "--format", "pylock.toml",
		"--config-file", r.at("uv." + question + ".toml"), "--cache-dir", r.cacheFor(question), "--python", r.work.env.Interpreter.Path,
		"--constraints", r.at(limits), "--output-file", r.at(out),
	}
	if !r.work.request.AllowSource {
		args = append(args, "--only-binary", ":all:")
	}
	return append(args, r.at(in))
}
