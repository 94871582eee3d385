package kernellaunch_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/kernel-launch/kernel-launch"

// below lists what of this module each package may import; internal/dirs and internal/plain are open to all. Nothing points up: a package
// knows those that it joins, never the one that joins it. A package that is not here may not exist.
var below = map[string][]string{
	"cmd/kernel-launch": {"internal/cli", "launcher"}, // launcher for RunInner, which goes first
	"internal/cli":      {"launcher", "kernelspec", "jupyter", "envs", "restart", "sandbox", "sandbox/selftest", "egress", "internal/config"},
	"launcher": {
		"kernelspec", "jupyter", "envs", "restart", "sandbox", "sandbox/selftest", "egress", "internal/config", "internal/link", "internal/inner",
	},
	"sandbox/sandboxtest": {"sandbox", "sandbox/selftest", "internal/probe"}, // imported by tests alone
	"sandbox/selftest":    {"sandbox", "internal/probe"},
	"envs":                {"restart"},
	"internal/config":     {"sandbox", "egress"},
	"internal/inner":      {"internal/link"},
	"internal/link":       {},
	"internal/probe":      {},
	"internal/cases":      {}, // imported by tests alone
	"internal/witness":    {}, // likewise
	"sandbox":             {},
	"egress":              {},
	"jupyter":             {},
	"kernelspec":          {},
	"restart":             {},
	"internal/dirs":       {},
	"internal/plain":      {},
}

var forAll = []string{"internal/dirs", "internal/plain"}

// inside is all that the process inside may be made of, besides x/sys and internal/link: each package more is code that runs as pid 1 next to a
// kernel, and start time of every kernel.
var inside = []string{
	"bytes", "context", "encoding/binary", "encoding/json", "errors", "fmt", "io", "io/fs", "maps", "math", "net", "net/netip", "os", "os/exec", "os/signal",
	"path/filepath", "runtime", "slices", "strconv", "strings", "sync", "sync/atomic", "syscall", "time", "unsafe",
}

var systems = []string{"linux", "darwin", "windows", "freebsd"}

// ban is a name that may stand only in some packages, and in tests.
type ban struct {
	pkg    string
	names  []string
	except []string
	why    string
}

var (
	mains  = []string{"cmd/kernel-launch", "internal/inner", "internal/probe"}
	people = []string{"cmd/kernel-launch", "internal/inner", "internal/cli", "internal/probe", "sandbox/selftest"} // the last two are processes of their own
)

var bans = []ban{
	{"os", []string{"Exit"}, mains, "deferred work is lost and an embedder's process ends; return an error"},
	{"os", []string{"Stdout", "Stderr"}, people, "a library has no terminal; take an io.Writer or return the text"},
	{"fmt", []string{"Print", "Printf", "Println"}, people, "a library has no terminal; take an io.Writer or return the text"},
	{"log", []string{"Print", "Printf", "Println", "Fatal", "Fatalf", "Fatalln", "Panic", "Panicf", "Panicln", "Default"}, nil, "a library has no terminal; return an error"},
	{"time", []string{"Sleep"}, nil, "readiness is an answer, and a sleep cannot be cancelled; wait for the event or for a timer beside ctx.Done()"},
	{"os", []string{"Create"}, nil, "its mode is 0666; use os.OpenFile with the mode that is meant"},
	{"context", []string{"Background", "TODO"}, mains, "what it starts can never be cancelled; take the caller's ctx"},
}

func TestTheHouse(t *testing.T) {
	for _, fault := range inspect(".") {
		t.Error(fault)
	}
}

// inspect walks the module at root in this process: go list would answer from a cache that a test's own caching then hides.
func inspect(root string) []string {
	var faults []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		name := d.Name()
		if path != root && (name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")) {
			return filepath.SkipDir
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		faults = append(faults, inspectFolder(path, filepath.ToSlash(rel))...)
		return nil
	})
	if err != nil {
		faults = append(faults, err.Error())
	}
	return faults
}

func inspectFolder(dir, pkg string) []string {
	faults := imports(dir, pkg)
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 || pkg == "." {
		return faults
	}
	comments := 0
	for _, name := range files {
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			faults = append(faults, err.Error())
			continue
		}
		test := strings.HasSuffix(name, "_test.go")
		if f.Doc != nil && !test {
			comments++
			faults = append(faults, opening(pkg, f)...)
		}
		faults = append(faults, names(fset, f, pkg, test)...)
	}
	if comments != 1 {
		faults = append(faults, fmt.Sprintf("%s: %d package comments: exactly one file opens with the sentence that says what the package promises", pkg, comments))
	}
	return faults
}

func opening(pkg string, f *ast.File) []string {
	want := "Package " + f.Name.Name + " "
	if f.Name.Name == "main" {
		want = "Command "
	}
	if !strings.HasPrefix(f.Doc.Text(), want) {
		return []string{fmt.Sprintf("%s: the package comment does not begin with %q, so go doc shows no summary", pkg, want)}
	}
	return nil
}

// imports checks one package for each system, since tagged files import what others do not.
func imports(dir, pkg string) []string {
	var faults []string
	for _, goos := range systems {
		ctx := build.Default
		ctx.GOOS, ctx.GOARCH, ctx.CgoEnabled = goos, "amd64", false
		p, err := ctx.ImportDir(dir, 0)
		if errors.As(err, new(*build.NoGoError)) {
			continue
		}
		if err != nil {
			faults = append(faults, fmt.Sprintf("%s on %s: %v", pkg, goos, err))
			continue
		}
		for _, path := range p.Imports {
			if why := importFault(pkg, path); why != "" {
				faults = append(faults, fmt.Sprintf("%s on %s: %s", pkg, goos, why))
			}
		}
		if _, known := below[pkg]; !known && len(p.GoFiles) > 0 {
			faults = append(faults, fmt.Sprintf("%s on %s: this package has no place in the house; give it one in layout_test.go and ARCHITECTURE.md", pkg, goos))
		}
	}
	slices.Sort(faults)
	return faults
}

func importFault(pkg, path string) string {
	own, isOwn := strings.CutPrefix(path, module+"/")
	small := pkg == "internal/inner" || pkg == "internal/link"
	switch {
	case isOwn && (slices.Contains(below[pkg], own) || slices.Contains(forAll, own) && !small):
		return ""
	case isOwn:
		return fmt.Sprintf("imports %s, which it must not know: arrows point down and the launcher alone joins packages", own)
	case small && !strings.HasPrefix(path, "golang.org/x/sys/") && !slices.Contains(inside, path):
		return fmt.Sprintf("imports %q, which would run inside next to every kernel: the list is short on purpose", path)
	}
	return ""
}

// names reports init functions everywhere and the banned names outside tests.
func names(fset *token.FileSet, f *ast.File, pkg string, test bool) []string {
	var faults []string
	report := func(at token.Pos, what, why string) {
		faults = append(faults, fmt.Sprintf("%s: %s: %s", fset.Position(at), what, why))
	}
	local := localNames(f)
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Recv == nil && n.Name.Name == "init" {
				report(n.Pos(), "func init", "it runs in every program that imports the package, asked or not, the process inside included")
			}
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			if !ok || x.Obj != nil || test {
				break
			}
			for _, b := range bans {
				if local[x.Name] == b.pkg && slices.Contains(b.names, n.Sel.Name) && !slices.Contains(b.except, pkg) {
					report(n.Pos(), b.pkg+"."+n.Sel.Name, b.why)
				}
			}
		}
		return true
	})
	return faults
}

// localNames maps what a file calls an import to its path, so that an alias hides nothing.
func localNames(f *ast.File) map[string]string {
	local := map[string]string{}
	for _, s := range f.Imports {
		path := strings.Trim(s.Path.Value, `"`)
		name := path[strings.LastIndexByte(path, '/')+1:]
		if s.Name != nil {
			name = s.Name.Name
		}
		local[name] = path
	}
	return local
}

// planted are files that each break one rule, with words of what must be said about it.
var planted = []struct{ file, text, want string }{
	{"egress/a.go", "// Package egress x.\npackage egress\nimport _ \"" + module + "/sandbox\"", "egress on linux: imports sandbox, which it must not know"},
	{"egress/a_windows.go", "// Package egress x.\npackage egress\nimport _ \"" + module + "/envs\"", "egress on windows: imports envs"},
	{"internal/inner/a.go", "// Package inner x.\npackage inner\nimport _ \"net/http\"", `internal/inner on linux: imports "net/http"`},
	{"internal/inner/a.go", "// Package inner x.\npackage inner\nimport _ \"" + module + "/internal/plain\"", "imports internal/plain"},
	{"internal/link/a.go", "// Package link x.\npackage link\nimport _ \"gopkg.in/yaml.v3\"", `imports "gopkg.in/yaml.v3"`},
	{"util/a.go", "// Package util x.\npackage util", "util on linux: this package has no place"},
	{"jupyter/a.go", "package jupyter", "jupyter: 0 package comments"},
	{"jupyter/a.go", "// Package other x.\npackage jupyter", "jupyter: the package comment does not begin"},
	{"jupyter/a.go", "// Package jupyter x.\npackage jupyter\nfunc init() {}", "func init"},
	{"jupyter/a.go", "// Package jupyter x.\npackage jupyter\nimport \"os\"\nfunc f() { os.Exit(1) }", "os.Exit: deferred work is lost"},
	{"jupyter/a.go", "// Package jupyter x.\npackage jupyter\nimport \"os\"\nvar w = os.Stdout", "os.Stdout"},
	{"jupyter/a.go", "// Package jupyter x.\npackage jupyter\nimport say \"fmt\"\nfunc f() { say.Println() }", "fmt.Println"},
	{"jupyter/a.go", "// Package jupyter x.\npackage jupyter\nimport \"log\"\nfunc f() { log.Fatal() }", "log.Fatal"},
	{"jupyter/a.go", "// Package jupyter x.\npackage jupyter\nimport \"time\"\nvar pause = time.Sleep", "time.Sleep: readiness is an answer"},
	{"jupyter/a_plan9.go", "// Package jupyter x.\npackage jupyter\nimport \"os\"\nfunc f() { os.Create(\"\") }", "os.Create: its mode is 0666"},
	{"internal/cli/a.go", "// Package cli x.\npackage cli\nimport \"context\"\nvar c = context.TODO()", "context.TODO"},
}

func TestAPlantedViolationIsFound(t *testing.T) {
	for _, p := range planted {
		root := t.TempDir()
		plant(t, root, p.file, p.text)
		found := inspect(root)
		assert.True(t, slices.ContainsFunc(found, func(s string) bool { return strings.Contains(s, p.want) }), "%s with %q: want %q, found %q", p.file, p.text, p.want, found)
	}
}

func TestTwoPackageCommentsAreFound(t *testing.T) {
	root := t.TempDir()
	plant(t, root, "jupyter/a.go", "// Package jupyter x.\npackage jupyter")
	require.Empty(t, inspect(root), "the control")
	plant(t, root, "jupyter/b.go", "// Package jupyter y.\npackage jupyter")
	assert.Contains(t, strings.Join(inspect(root), "\n"), "jupyter: 2 package comments")
}

func TestWhatIsAllowedIsNotReported(t *testing.T) {
	root := t.TempDir()
	plant(t, root, "cmd/kernel-launch/main.go", "// Command kernel-launch x.\npackage main\nimport (\n\"context\"\n\"os\"\n_ \""+module+"/internal/cli\"\n)\nfunc main() { _ = context.Background(); os.Exit(0) }")
	plant(t, root, "internal/cli/a.go", "// Package cli x.\npackage cli\nimport (\n\"fmt\"\n_ \""+module+"/launcher\"\n)\nfunc f() { fmt.Println() }")
	plant(t, root, "jupyter/a.go", "// Package jupyter x.\npackage jupyter\ntype clock struct{}\nfunc (clock) Sleep() {}\nfunc f(time clock) { time.Sleep() }")
	plant(t, root, "jupyter/a_test.go", "package jupyter\nimport \"time\"\nfunc wait() { time.Sleep(1) }")
	plant(t, root, "jupyter/testdata/x/a.go", "package x\nfunc init() {}")
	assert.Empty(t, inspect(root))
}

func plant(t *testing.T, root, file, text string) {
	t.Helper()
	path := filepath.Join(root, filepath.FromSlash(file))
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}
