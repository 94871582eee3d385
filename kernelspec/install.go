package kernelspec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/kernel-launch/kernel-launch/internal/dirs"
)

// InstallOptions describe a spec to write. The spec holds the name of an environment and nothing that could go stale.
type InstallOptions struct {
	Name        string   // the folder's name, any case
	DisplayName string   // what people see
	Language    string   // "python" or "R"
	Argv        []string // the first is an absolute path; one holds {connection_file}
	Root        string   // a Jupyter data folder (…/share/jupyter), absolute: Finder.UserRoot or PrefixRoot
	Environment string   // kept in the metadata beside what Metadata holds
	Metadata    map[string]any
	Replace     bool // take the place of a spec that is not ours; its folder is removed
}

// ForEnvironment returns the options of a spec that starts the environment name by the launcher at an absolute path. Language is the
// environment's ("python" or "r"), version that of its interpreter, such as "3.12.4". Name, Root and the rest can be changed.
func ForEnvironment(launcher, name, language, version string) InstallOptions {
	o := InstallOptions{
		Name: "kernel-launch-" + strings.ToLower(name), Language: language, Environment: name, Metadata: map[string]any{},
		Argv: []string{launcher, "--env", name, "-f", "{connection_file}"},
	}
	title := language
	switch strings.ToLower(language) {
	case "python":
		o.Language, title = "python", "Python"
		o.Metadata["debugger"] = true
	case "r":
		o.Language, title = "R", "R"
	}
	if major, _, _ := strings.Cut(version, "."); major != "" && o.Language != "R" {
		title += " " + major
	}
	o.DisplayName = fmt.Sprintf("%s · %s (confined)", title, name)
	return o
}

// ForeignError is returned where a spec stands that kernel-launch did not write.
type ForeignError struct{ Path string }

func (e *ForeignError) Error() string {
	return fmt.Sprintf("%s: is not a kernelspec of kernel-launch", e.Path)
}

// OptionError is one fault of InstallOptions.
type OptionError struct{ Field, What string }

func (e *OptionError) Error() string { return fmt.Sprintf("kernelspec %s %s", e.Field, e.What) }

// Install writes the spec with its logos and returns its folder. A reader sees all of the spec or none. A spec of ours with the same name is
// replaced; another's is a *ForeignError unless Replace is set. All faults of the options come at once.
func Install(o InstallOptions) (path string, err error) {
	name, err := o.check()
	if err != nil {
		return "", err
	}
	text, err := o.text()
	if err != nil {
		return "", err
	}
	kernels := filepath.Join(o.Root, "kernels")
	if err := os.MkdirAll(kernels, 0o755); err != nil {
		return "", err
	}
	target := filepath.Join(kernels, name)
	old, err := occupant(kernels, name)
	if err != nil {
		return "", err
	}
	switch {
	case old == "":
		return target, place(target, text)
	case owned(old) == nil:
		return old, writeFiles(old, text)
	case !o.Replace:
		return "", &ForeignError{Path: old}
	}
	return target, replace(old, target, text)
}

func (o InstallOptions) check() (name string, err error) {
	var errs []error
	name, err = CheckName(o.Name)
	if err != nil {
		errs = append(errs, err)
	}
	bad := func(fault bool, field, what string) {
		if fault {
			errs = append(errs, &OptionError{field, what})
		}
	}
	bad(!filepath.IsAbs(o.Root), "root", fmt.Sprintf("%q is not an absolute path", o.Root))
	bad(len(o.Argv) == 0 || !filepath.IsAbs(o.Argv[0]), "argv", "does not begin with an absolute path")
	bad(!strings.Contains(strings.Join(o.Argv, "\n"), "{connection_file}"), "argv", "holds no {connection_file}")
	bad(o.DisplayName == "", "display name", "is empty")
	bad(o.Language == "", "language", "is empty")
	_, provisioner := o.Metadata["kernel_provisioner"]
	bad(provisioner, "metadata", "names a kernel_provisioner, for lack of which Jupyter would hide the kernel")
	return name, errors.Join(errs...)
}

// text is checked by reading it back: what is written must be what Jupyter reads.
func (o InstallOptions) text() ([]byte, error) {
	metadata := map[string]any{}
	for k, v := range o.Metadata {
		metadata[k] = v
	}
	if _, ok := metadata[ownKey]; !ok {
		metadata[ownKey] = map[string]any{"environment": o.Environment}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	err := enc.Encode(struct {
		Argv        []string       `json:"argv"`
		DisplayName string         `json:"display_name"`
		Language    string         `json:"language"`
		Metadata    map[string]any `json:"metadata"`
	}{o.Argv, o.DisplayName, o.Language, metadata})
	if err != nil {
		return nil, fmt.Errorf("kernelspec metadata: %w", err)
	}
	if s, problems := parse("", "new", b.Bytes()); s == nil {
		return nil, faults(problems)
	}
	return b.Bytes(), nil
}

// occupant returns the folder in kernels that has the name, in whatever case; "" if none has.
func occupant(kernels, name string) (string, error) {
	entries, err := os.ReadDir(kernels)
	if err != nil {
		return "", err
	}
	found := ""
	for _, e := range entries {
		if folded, err := CheckName(e.Name()); err == nil && folded == name {
			found = filepath.Join(kernels, e.Name()) // the exact name comes last, and counts
		}
	}
	return found, nil
}

// owned says why the spec in dir is not ours to change: it is missing, a link, or another's.
func owned(dir string) error {
	fi, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if fi.Mode()&fs.ModeSymlink != 0 {
		return &ForeignError{Path: dir}
	}
	file := filepath.Join(dir, fileName)
	data, err := readFile(file)
	if err != nil {
		return &ForeignError{Path: dir}
	}
	members, _, err := parseMembers(data)
	if m := find(members, "metadata"); err == nil && m != nil && (&Spec{Metadata: m.raw}).Owned() {
		return nil
	}
	return &ForeignError{Path: dir}
}

// writeFiles writes kernel.json last: what it stands for is there by then.
func writeFiles(dir string, text []byte) error {
	for _, f := range []struct {
		name string
		data []byte
	}{{"logo-64x64.png", logoPNG}, {"logo-svg.svg", logoSVG}, {fileName, text}} {
		if err := dirs.WriteFile(filepath.Join(dir, f.name), f.data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
