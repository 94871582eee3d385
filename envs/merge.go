package envs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kernel-launch/kernel-launch/internal/plain"
)

// MergeError is a staged file that may not go into an environment.
type MergeError struct{ Path, Reason string }

func (e *MergeError) Error() string {
	return fmt.Sprintf("staged file %q: %s", plain.Line(e.Path, 300), e.Reason)
}

// skeleton are the programs that make the tree what it is; no package may bring one.
var skeleton = regexp.MustCompile(`\A(?i:(python|pip)[0-9.]*w?(\.exe)?|activate.*)\z`)

// merge moves what stands in out into the tree of e. All is looked at before anything moves. Files are renamed, so their times stay, and with them
// the bytecode beside them is valid. Nothing that is there is replaced.
func merge(e *Environment, out string) error {
	files, err := staged(e, out)
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := os.MkdirAll(filepath.Dir(f.to), 0o755); err != nil {
			return err
		}
		if err := os.Chmod(f.from, f.mode); err != nil {
			return err
		}
		if err := os.Rename(f.from, f.to); err != nil {
			return err
		}
	}
	return tameModes(e.Tree())
}

type move struct {
	from, to string
	mode     fs.FileMode
}

// staged lists what has to move, or every reason why nothing may.
func staged(e *Environment, out string) (moves []move, err error) {
	var errs []error
	err = filepath.WalkDir(out, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == out {
			return err
		}
		rel, err := filepath.Rel(out, p)
		if err != nil {
			return err
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		to, reason := destination(e, rel, fi.Mode())
		if reason == "" {
			reason = collision(to, fi.IsDir())
		}
		if reason != "" {
			errs = append(errs, &MergeError{rel, reason})
			if fi.IsDir() {
				return fs.SkipDir // one sentence for all that is in it
			}
		}
		if !fi.IsDir() {
			moves = append(moves, move{p, to, tamed(fi.Mode())})
		}
		return nil
	})
	return moves, errors.Join(append(errs, err)...)
}

func collision(to string, isDir bool) (reason string) {
	switch there, err := os.Lstat(to); {
	case err != nil:
		return ""
	case !isDir:
		return "it would replace a file"
	case !there.IsDir():
		return "it is in the place of a file"
	}
	return ""
}

// destination returns where a staged path goes, or why it may not.
func destination(e *Environment, rel string, mode fs.FileMode) (to, reason string) {
	switch {
	case !mode.IsDir() && !mode.IsRegular():
		return "", "it is neither a regular file nor a folder"
	case !utf8.ValidString(rel) || strings.IndexFunc(rel, unicode.IsControl) >= 0:
		return "", "its name has control characters or is no UTF-8"
	}
	rel = withoutLib64(e, rel)
	parts := strings.Split(rel, string(filepath.Separator))
	site, err := filepath.Rel(e.Tree(), e.site())
	if err != nil {
		return "", err.Error()
	}
	switch top := parts[0]; {
	case len(parts) == 1 && !mode.IsDir():
		return "", "a file has no place at the top"
	case top == scripts():
		if len(parts) > 1 && skeleton.MatchString(parts[1]) {
			return "", "it has the name of a program of the environment itself"
		}
	case top == "share" || top == "etc" || top == "include":
	case !below(rel, []string{site}) && !(mode.IsDir() && below(site, []string{rel})):
		return "", "it lies outside of " + site
	}
	return filepath.Join(e.Tree(), rel), ""
}

// withoutLib64: where the tree's lib64 is a link to lib, both names mean one folder.
func withoutLib64(e *Environment, rel string) string {
	rest, ok := strings.CutPrefix(rel, "lib64")
	if !ok || rest != "" && rest[0] != filepath.Separator {
		return rel
	}
	if target, err := os.Readlink(filepath.Join(e.Tree(), "lib64")); err == nil && target == "lib" {
		return "lib" + rest
	}
	return rel
}
