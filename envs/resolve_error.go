package envs

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/kernel-launch/kernel-launch/internal/plain"
)

// ResolveError is a request that no set of packages can answer, or that the index kept from being answered.
type ResolveError struct {
	Requested []string
	Text      string           // why, in a sentence
	Causes    []*UpstreamError // what the gateway could not fetch, as measured; when there are any, Text is about them
	Said      string           // what the resolver said, on one line
	Err       error            // how it ended; may be nil
}

func (e *ResolveError) Error() string {
	return plain.Line(strings.Join(e.Requested, ", "), 300) + ": " + e.Text
}

func (e *ResolveError) Unwrap() []error {
	var errs []error
	for _, c := range e.Causes {
		errs = append(errs, c)
	}
	if e.Err != nil {
		errs = append(errs, e.Err)
	}
	return errs
}

// newResolveError prefers what was measured to what was said: resolvers call a package that they may not read a package that does not exist.
func newResolveError(requested []string, said string, failures []*UpstreamError, err error) *ResolveError {
	e := &ResolveError{Requested: requested, Said: resolverText(said), Err: err}
	seen := map[string]bool{}
	for _, f := range failures {
		if f.Status == http.StatusNotFound || f.Status == http.StatusGone || seen[f.Error()] {
			continue
		}
		seen[f.Error()] = true
		e.Causes = append(e.Causes, f)
	}
	e.Text = translate(e.Said)
	if len(e.Causes) > 0 {
		e.Text = causesText(e.Causes)
	}
	return e
}

const causesShown = 3

func causesText(causes []*UpstreamError) string {
	var parts []string
	for _, c := range causes[:min(len(causes), causesShown)] {
		parts = append(parts, c.Error())
	}
	if more := len(causes) - causesShown; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, "; ")
}

// resolverText takes the drawing out of what uv writes for people.
func resolverText(said string) string {
	said = strings.NewReplacer("×", " ", "╰─▶", " ", "├─▶", " ", "│", " ").Replace(said)
	var parts []string
	for line := range strings.SplitSeq(said, "\n") {
		line = strings.TrimSpace(line)
		for _, head := range []string{"error:", "cause:", "Caused by:"} {
			line = strings.TrimSpace(strings.TrimPrefix(line, head))
		}
		if line != "" && !strings.HasPrefix(line, "warning:") {
			parts = append(parts, line)
		}
	}
	return plain.Line(strings.Join(parts, " "), 2000)
}

const (
	packageIn = `([A-Za-z0-9][A-Za-z0-9._-]*)`
	onlyText  = "$1 is published only as source code: there is no wheel of it, and building was not allowed"
)

// translations are what uv says and what it means, the more telling first. $1 and on are parts of what it said.
var translations = []struct {
	said *form
	text string
}{
	{newForm("Failed to build `?([^`\\s]+)`?(.*)"), "building $1 failed:$2"},
	{newForm("Wheels are required for `([^`]+)` because building from source is disabled"), onlyText},
	{newForm(packageIn + `(?:[=<>!~][^ ]*)? has no usable wheels`), onlyText},
	{newForm(packageIn + `(?:[=<>!~][^ ]*)? has no wheels with a matching ([A-Za-z ]+?) tag`), "$1 has wheels, but none for this $2"},
	{newForm(`the (?:current|requested) Python version \(([^)]+)\) does not satisfy (Python[^ ]+?),? and (` + packageIn + `[^ ]*)`), "$2 is needed for $3, and the environment has $1"},
	{newForm(packageIn + ` was not found in the (?:package registry|cache|provided package locations)`), "there is no package $1 on the index"},
	{newForm(`there (?:is|are) no versions? of ([^ ]+)`), "there is no version on the index for $1"},
	{newForm(`(?i)no space left on device`), "the disk is full"},
	{newForm("Hash mismatch for `([^`]+)`"), "the file of $1 is not the one that the index announced"},
	{newForm(`No solution found when resolving dependencies:? *(.+)`), "$1"},
}

// translate returns the meaning of what was said, else what was said.
func translate(said string) string {
	for _, t := range translations {
		if m := t.said.FindStringSubmatchIndex(said); m != nil {
			return plain.Line(string(t.said.ExpandString(nil, t.text, said, m)), 1000)
		}
	}
	if said == "" {
		return "the resolver gave no reason"
	}
	return plain.Line(said, 1000)
}
