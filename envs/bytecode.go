package envs

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
)

//go:embed bytecode.py
var compileProgram string

// pycName is what the compiler writes for a source file.
var pycName = newForm(`\A[^/\x00-\x1f\x7f]+\.(cpython|pypy|graalpy)[0-9a-z-]*\.pyc\z`)

// CompileBytecode makes the bytecode that is missing in a generation, so that the next imports are faster. It takes seconds and is for after an install:
// no lock is held while the compiler runs, by the base interpreter and with the tree read-only. When the generation is gone meanwhile there is nothing
// to do; *BusyError when something else changes the environment at its end.
func (s *Store) CompileBytecode(ctx context.Context, name string, generation int) (err error) {
	e, err := s.Get(name)
	if err != nil || e.Language != Python {
		return err
	}
	if s.Exec == nil {
		return errNoSandbox
	}
	e.Generation = generation
	release, err := e.Hold()
	var nf *NotFoundError
	if errors.As(err, &nf) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	return s.compileMissing(ctx, e, func(out string, sources []string) error {
		return e.takeBytecode(ctx, out, sources)
	})
}

// compileFresh is for an environment that is being made. Without bytecode it works, and more slowly: that is no reason to have none.
func (s *Store) compileFresh(ctx context.Context, e *Environment) error {
	_ = s.compileMissing(ctx, e, e.moveBytecode)
	return context.Cause(ctx)
}

func (s *Store) compileMissing(ctx context.Context, e *Environment, take func(out string, sources []string) error) (err error) {
	sources, err := e.uncompiled()
	if err != nil || len(sources) == 0 {
		return err
	}
	t, err := s.newStage()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.remove()) }()
	if err := s.compile(ctx, e, t, sources); err != nil {
		return err
	}
	return take(t.out(), sources)
}

// compile runs the compiler with the tree where kernels see it, because bytecode names its source.
func (s *Store) compile(ctx context.Context, e *Environment, t stage, sources []string) error {
	list := filepath.Join(t.dir, "sources")
	if err := os.WriteFile(list, []byte(strings.Join(sources, "\n")), 0o600); err != nil {
		return err
	}
	tool := Tool{
		Argv:     []string{e.Interpreter.Path, "-I", "-S", "-X", "pycache_prefix=" + t.out(), "-c", compileProgram, e.Current(), list},
		Env:      []string{"PATH=/usr/bin:/bin", "HOME=" + t.home(), "TMPDIR=" + t.temp(), "LC_ALL=C.UTF-8"},
		Dir:      t.empty(),
		ReadOnly: []Bind{{e.Tree(), e.Current()}},
		Writable: []Bind{{t.dir, t.dir}},
	}
	for _, p := range e.Interpreter.Shown() {
		tool.ReadOnly = append(tool.ReadOnly, Bind{p, p})
	}
	if said, err := s.exec(ctx, tool); err != nil {
		return fmt.Errorf("bytecode of environment %q: %w", e.Name, withSaid(err, lastErrors(said)))
	}
	return nil
}

// uncompiled lists the sources of the environment's own folders that have no bytecode of its interpreter. Tests are skipped: they are a third of the
// files and nobody imports them.
func (e *Environment) uncompiled() (sources []string, err error) {
	tag := e.cacheTag()
	for _, site := range e.Interpreter.envSites(e.Tree()) {
		err = filepath.WalkDir(site, func(p string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return missingIsNone(err)
			case d.IsDir() && skippedFolder(d.Name()):
				return fs.SkipDir
			case !d.Type().IsRegular() || !strings.HasSuffix(p, ".py") || strings.ContainsAny(p, "\r\n"):
				return nil
			}
			if _, err := os.Lstat(cachedName(p, tag)); err != nil {
				sources = append(sources, relTo(e, p))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return sources, nil
}

func skippedFolder(name string) bool {
	return name == "test" || name == "tests" || name == "__pycache__" || strings.HasSuffix(name, ".dist-info")
}

// cacheTag is sys.implementation.cache_tag.
func (e *Environment) cacheTag() string {
	major, minor := versionOf(e.Interpreter.Version)
	return fmt.Sprintf("%s-%d%d", e.Interpreter.Implementation, major, minor)
}

func cachedName(source, tag string) string {
	stem := strings.TrimSuffix(filepath.Base(source), ".py")
	return filepath.Join(filepath.Dir(source), "__pycache__", stem+"."+tag+".pyc")
}

// takeBytecode moves what the compiler wrote beside its sources. Only the names that were asked for are taken.
func (e *Environment) takeBytecode(ctx context.Context, out string, sources []string) (err error) {
	writer, err := lockWriter(e.Name, e.dir)
	if err != nil {
		return missingIsNone(err)
	}
	merge, err := lockMerge(ctx, e.dir)
	if err != nil {
		return errors.Join(err, writer.Unlock())
	}
	defer func() { err = errors.Join(err, unlockAll([]*flock.Flock{merge, writer})) }()
	if err := settleLocked(e.Name, e.dir); err != nil {
		return err
	}
	return e.moveBytecode(out, sources)
}

func (e *Environment) moveBytecode(out string, sources []string) error {
	tag := e.cacheTag()
	for _, rel := range sources {
		// The compiler mirrors the source's absolute path below its prefix, without a __pycache__ folder.
		made := filepath.Join(out, filepath.Dir(filepath.Join(e.Current(), rel)), filepath.Base(cachedName(rel, tag)))
		if err := e.takeOne(made, rel, tag); err != nil {
			return err
		}
	}
	return nil
}

func (e *Environment) takeOne(made, rel, tag string) error {
	fi, err := os.Lstat(made)
	if err != nil || !fi.Mode().IsRegular() || !pycName.MatchString(filepath.Base(made)) {
		return nil // a source that does not compile has none
	}
	to := filepath.Join(e.Tree(), cachedName(rel, tag))
	if !bytecodeIsOf(made, filepath.Join(e.Tree(), rel)) {
		return nil
	}
	if err := os.Chmod(made, 0o644); err != nil {
		return err
	}
	if err := (moving{}).do(made, to); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// bytecodeIsOf compares the time and size of the source that bytecode was made from: the source may have been replaced since.
func bytecodeIsOf(pyc, source string) bool {
	fi, err := os.Lstat(source)
	if err != nil || !fi.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(pyc)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 16)
	if n, err := f.Read(head); err != nil || n < len(head) {
		return false
	}
	want := []byte{0, 0, 0, 0}
	for _, v := range []uint32{uint32(fi.ModTime().Unix()), uint32(fi.Size())} {
		want = append(want, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
	}
	return bytes.Equal(head[4:], want)
}
