package envs

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/kernel-launch/kernel-launch/internal/dirs"
)

const (
	manifestName   = "env.json"
	manifestSchema = 1
	manifestMax    = 4 << 20
)

// manifest is env.json. Fields may be added; a reader ignores what it does not know, and refuses another schema.
type manifest struct {
	Schema      int         `json:"schema"`
	Name        string      `json:"name"`
	Language    string      `json:"language"`
	Mode        string      `json:"mode"`
	Generation  int         `json:"generation"`
	Created     time.Time   `json:"created"`
	Requested   []string    `json:"requested"`
	Owned       []Owned     `json:"owned"`
	Interpreter Interpreter `json:"interpreter"`
}

func manifestOf(e *Environment) manifest {
	return manifest{
		Schema: manifestSchema, Name: e.Name, Language: e.Language, Mode: e.Mode, Generation: e.Generation,
		Created: e.Created, Requested: e.Requested, Owned: e.Owned, Interpreter: e.Interpreter,
	}
}

func (m manifest) environment(dir string) *Environment {
	return &Environment{
		Name: m.Name, Language: m.Language, Mode: m.Mode, Generation: m.Generation, Created: m.Created,
		Requested: m.Requested, Owned: m.Owned, Interpreter: m.Interpreter, dir: dir,
	}
}

// check returns every fault at once. name and language are what the folders say.
func (m manifest) check(name, language string) error {
	var errs []error
	want := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	want(m.Schema == manifestSchema, "schema is %d, not %d", m.Schema, manifestSchema)
	want(m.Name == name, "name is %q, its folder is %q", m.Name, name)
	want(m.Language == language, "language is %q, its folder is %q", m.Language, language)
	want(m.Mode == Inherit || m.Mode == Isolated, "mode is %q", m.Mode)
	want(m.Generation >= 1, "generation is %d", m.Generation)
	want(!m.Created.IsZero(), "created is missing")
	for _, o := range m.Owned {
		want(o.Name != "", "an owned package has no name")
	}
	errs = append(errs, m.Interpreter.check(language)...)
	return errors.Join(errs...)
}

func (i Interpreter) check(language string) (errs []error) {
	for _, f := range []struct{ key, path string }{{"path", i.Path}, {"prefix", i.Prefix}} {
		if !filepath.IsAbs(f.path) {
			errs = append(errs, fmt.Errorf("interpreter.%s is %q, not an absolute path", f.key, f.path))
		}
	}
	if i.Version == "" {
		errs = append(errs, errors.New("interpreter.version is missing"))
	}
	if language == Python && len(i.EnvSitePackages) == 0 {
		errs = append(errs, errors.New("interpreter.env_site_packages is missing"))
	}
	for _, s := range i.EnvSitePackages {
		rest, ok := strings.CutPrefix(s, envMark)
		if !ok || strings.Contains(rest, envMark) || !filepath.IsLocal("."+rest) {
			errs = append(errs, fmt.Errorf("interpreter.env_site_packages has %q, which is not below %s", s, envMark))
		}
	}
	return errs
}

// writeManifest checks, writes and reads back: what stands on the disk afterwards is what was meant.
func writeManifest(e *Environment) error {
	m := manifestOf(e)
	if err := m.check(e.Name, e.Language); err != nil {
		return fmt.Errorf("manifest of %s: %w", e.Name, err)
	}
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if err := dirs.WriteFile(filepath.Join(e.dir, manifestName), append(data, '\n'), 0o600); err != nil {
		return err
	}
	_, err = readManifest(e.dir, e.Name, e.Language)
	return err
}

// readManifest returns a *BrokenError for a file that is damaged and the plain error (fs.ErrNotExist) when there is none.
func readManifest(dir, name, language string) (*Environment, error) {
	p := filepath.Join(dir, manifestName)
	fi, err := os.Stat(p)
	if err != nil {
		return nil, err
	}
	broken := func(err error) error {
		return &BrokenError{Name: name, What: "its manifest " + p + " cannot be read", Path: p, Err: err}
	}
	if !fi.Mode().IsRegular() || fi.Size() > manifestMax {
		return nil, broken(fmt.Errorf("no regular file of at most %d bytes", manifestMax))
	}
	data, err := os.ReadFile(p)
	if err != nil {
		return nil, broken(err)
	}
	var m manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, broken(err)
	}
	if err := m.check(name, language); err != nil {
		return nil, broken(err)
	}
	return m.environment(dir), nil
}
