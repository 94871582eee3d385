package envs

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const siteRel = "lib/python3.11/site-packages"

// parcel is a wheel as bytes.
type parcel struct {
	file string
	data []byte
}

func parcelOf(t testing.TB, name, version string, requires []string, files map[string]string) parcel {
	t.Helper()
	file, data := wheel(t, name, version, requires, files)
	return parcel{file, data}
}

// library makes an environment as create does, of the system's interpreter and without packages.
func library(t testing.TB, s *Store, name string) *Environment {
	t.Helper()
	e := &Environment{
		Name: name, Language: Python, Mode: Isolated, Generation: 1, Created: modTime, dir: s.dir(Python, name),
		Interpreter: Interpreter{Path: systemPython, Prefix: "/usr", Version: "3.11.2", Implementation: "cpython", EnvSitePackages: []string{"@ENV@/" + siteRel}, ExtensionSuffixes: []string{".cpython-311-x86_64-linux-gnu.so", ".abi3.so", ".so"}},
	}
	require.NoError(t, os.MkdirAll(filepath.Join(e.Tree(), siteRel), 0o755))
	for _, d := range []string{s.Root, filepath.Dir(e.dir), e.dir, filepath.Join(e.dir, "gen")} {
		require.NoError(t, os.Chmod(d, 0o700))
	}
	write(t, filepath.Join(e.Tree(), "pyvenv.cfg"), "home = /usr/bin\ninclude-system-site-packages = false\nversion = 3.11.2\n")
	require.NoError(t, os.Mkdir(filepath.Join(e.Tree(), "bin"), 0o755))
	for name, target := range map[string]string{"bin/python": "python3", "bin/python3": systemPython, "lib64": "lib"} {
		require.NoError(t, os.Symlink(target, filepath.Join(e.Tree(), name)))
	}
	require.NoError(t, os.WriteFile(e.genLock(1), nil, 0o600))
	require.NoError(t, os.Symlink("gen/1", e.Current()))
	require.NoError(t, writeManifest(e))
	return e
}

// unpack puts wheels where an installer would.
func unpack(t testing.TB, out string, parcels ...parcel) {
	t.Helper()
	for _, p := range parcels {
		z, err := zip.NewReader(bytes.NewReader(p.data), int64(len(p.data)))
		require.NoError(t, err)
		for _, f := range z.File {
			r, err := f.Open()
			require.NoError(t, err)
			data, err := io.ReadAll(r)
			require.NoError(t, err)
			write(t, filepath.Join(out, siteRel, f.Name), string(data))
		}
		stem := strings.Join(strings.SplitN(p.file, "-", 3)[:2], "-")
		write(t, filepath.Join(out, siteRel, stem+".dist-info", "INSTALLER"), "test")
	}
}

func plannedOf(parcels ...parcel) (files []PlannedFile) {
	for _, p := range parcels {
		parts := strings.SplitN(p.file, "-", 3)
		sum := sha256.Sum256(p.data)
		files = append(files, PlannedFile{Name: normalName(parts[0]), Version: parts[1], Filename: p.file, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(p.data))})
	}
	return files
}

func planFor(t testing.TB, e *Environment, additive bool, remove []string, parcels ...parcel) *Plan {
	t.Helper()
	before, err := e.Snapshot()
	require.NoError(t, err)
	p := &Plan{ID: "0a1b2c3d", Environment: e.Name, Language: Python, Generation: e.Generation, Base: DigestOf(before), Before: before, Additive: additive, Remove: remove, Files: plannedOf(parcels...)}
	for _, f := range p.Files {
		p.Request.Add = append(p.Request.Add, f.Name)
	}
	p.Request.Remove = remove
	return p
}

// deliver does what Apply does after uv has run: harm may change the stage first.
func deliver(ctx context.Context, t testing.TB, s *Store, e *Environment, p *Plan, harm func(out string), parcels ...parcel) (*Result, error) {
	t.Helper()
	writer, err := lockWriter(e.Name, e.dir)
	require.NoError(t, err)
	defer writer.Unlock()
	require.NoError(t, settle(ctx, e.Name, e.dir))
	e, err = readManifest(e.dir, e.Name, e.Language)
	require.NoError(t, err)
	a := application{store: s, e: e, plan: p, id: "id-" + p.ID}
	if err := a.compare(); err != nil {
		return nil, err
	}
	if len(parcels) > 0 {
		a.stage, err = s.newStage()
		require.NoError(t, err)
		defer a.stage.remove()
		frame, err := makeFrame(e, a.stage.out())
		require.NoError(t, err)
		unpack(t, a.stage.out(), parcels...)
		if harm != nil {
			harm(a.stage.out())
		}
		if err := a.look(frame); err != nil {
			return nil, err
		}
	}
	return a.merge(ctx)
}

// bring plans and delivers.
func install(t testing.TB, s *Store, e *Environment, additive bool, parcels ...parcel) *Result {
	t.Helper()
	r, err := deliver(t.Context(), t, s, e, planFor(t, e, additive, nil, parcels...), nil, parcels...)
	require.NoError(t, err)
	return r
}

// everything lists the files of a tree with their content, and links with their targets.
func everything(t testing.TB, tree string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(tree, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(tree, p)
		if d.Type()&os.ModeSymlink != 0 {
			target, err := os.Readlink(p)
			all[rel] = "-> " + target
			return err
		}
		data, err := os.ReadFile(p)
		all[rel] = string(data)
		return err
	}))
	return all
}

func writeJSON(path string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}
