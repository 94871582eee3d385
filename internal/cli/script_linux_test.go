package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestScripts runs testdata/*.txt. $HOME is an empty one of the script's own; $MADE is that of a user with the environments "default" and "stats".
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata", RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: setUp,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "failure": failure, "object": object, "tree": tree, "show-first": showFirst,
		},
	})
}

func setUp(e *testscript.Env) error {
	w := theWorld()
	if w.err != nil {
		return w.err
	}
	for _, name := range []string{"home", "run", "notebooks"} {
		if err := os.Mkdir(filepath.Join(e.WorkDir, name), 0o700); err != nil {
			return err
		}
	}
	e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
	e.Setenv("XDG_RUNTIME_DIR", filepath.Join(e.WorkDir, "run"))
	e.Setenv("MADE", w.home)
	e.Setenv("NOTEBOOKS", w.notebooks)
	e.Setenv("LAUNCHER", w.launcher)
	return withIndex(e)
}

// withIndex writes a configuration that names the index of the tests; a script that wants it says so by XDG_CONFIG_HOME=$WITH_INDEX.
func withIndex(e *testscript.Env) error {
	url, err := theIndex()
	if err != nil {
		return err
	}
	dir := filepath.Join(e.WorkDir, "with-index", "kernel-launch")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	e.Setenv("WITH_INDEX", filepath.Dir(dir))
	return os.WriteFile(filepath.Join(dir, "config.yaml"), []byte("install: {index: \""+url+"\"}\n"), 0o600)
}

// exits STATUS COMMAND… runs a command that ends with exactly that status.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS COMMAND…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if text := ts.ReadFile("stderr"); strings.Contains(text, "goroutine ") || strings.Contains(text, "panic:") {
		ts.Fatalf("it panicked")
	}
	if got != want {
		ts.Fatalf("exit status %d, not %d", got, want)
	}
}

// one is the one JSON object on standard output.
func one(ts *testscript.TestScript) map[string]any {
	d := json.NewDecoder(bytes.NewReader([]byte(ts.ReadFile("stdout"))))
	m := map[string]any{}
	ts.Check(d.Decode(&m))
	if err := d.Decode(new(any)); !errors.Is(err, io.EOF) {
		ts.Fatalf("more than one JSON value on standard output")
	}
	if m["schema"] != 1.0 {
		ts.Fatalf("schema is %v", m["schema"])
	}
	return m
}

// failure CODE wants the error object of that code on standard output: a message, and a line to paste.
func failure(ts *testscript.TestScript, neg bool, args []string) {
	e, ok := one(ts)["error"].(map[string]any)
	if neg || len(args) != 1 || !ok {
		ts.Fatalf("no error object")
	}
	if e["code"] != args[0] || e["message"] == "" || e["message"] == nil || e["remedy"] == nil {
		ts.Fatalf("error is %v", e)
	}
}

// object PATH=VALUE… compares members of the object on standard output; a dot leads into a member, a number into a list.
func object(ts *testscript.TestScript, neg bool, args []string) {
	m := one(ts)
	if _, failed := m["error"]; failed {
		ts.Fatalf("it has an error")
	}
	for _, arg := range args {
		path, want, _ := strings.Cut(arg, "=")
		var v any = m
		for _, step := range strings.Split(path, ".") {
			switch at := v.(type) {
			case map[string]any:
				v = at[step]
			case []any:
				i, err := strconv.Atoi(step)
				if err != nil || i >= len(at) {
					ts.Fatalf("%s: the list has %d members", path, len(at))
				}
				v = at[i]
			}
		}
		b, err := json.Marshal(v)
		ts.Check(err)
		if got := strings.Trim(string(b), `"`); (got == want) == neg {
			ts.Fatalf("%s is %s", path, got)
		}
	}
}

// showFirst shows the first kernel of the list on standard output.
func showFirst(ts *testscript.TestScript, _ bool, _ []string) {
	list, ok := one(ts)["items"].([]any)
	if !ok || len(list) == 0 {
		ts.Fatalf("no items")
	}
	first, _ := list[0].(map[string]any)
	ts.Check(ts.Exec("kernel-launch", "kernel", "show", fmt.Sprint(first["id"])))
}

// tree FILE FOLDER… writes what is in folders, with modes, and sizes and times of files.
func tree(ts *testscript.TestScript, _ bool, args []string) {
	var b strings.Builder
	for _, root := range args[1:] {
		ts.Check(filepath.WalkDir(ts.MkAbs(root), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			switch info, err := d.Info(); {
			case err != nil:
				return err
			case d.Name() == "__pycache__": // other scripts start kernels there at the same time
				return fs.SkipDir
			case d.IsDir():
				fmt.Fprintln(&b, path, info.Mode())
			case !strings.HasSuffix(path, ".lock"):
				fmt.Fprintln(&b, path, info.Mode(), info.Size(), info.ModTime())
			}
			return nil
		}))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(b.String()), 0o600))
}
