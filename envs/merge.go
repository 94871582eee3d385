package envs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
var skeleton = newForm(`\A(?i:(python|pip)[0-9.]*w?(\.exe)?|activate.*)\z`)

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
	case top == "lib" && (len(parts) == 1 || !strings.HasPrefix(parts[1], "python")): // shared libraries that come as packages
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
