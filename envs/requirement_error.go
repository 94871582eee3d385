package envs

import (
	"errors"
	"fmt"

	"github.com/kernel-launch/kernel-launch/internal/plain"
)

// RequirementError is a text that names no package that can be asked for.
type RequirementError struct{ Text, Reason string }

func (e *RequirementError) Error() string {
	return fmt.Sprintf("package %q: %s", plain.Line(e.Text, 200), e.Reason)
}

// CheckRequirements says what is wrong with texts that somebody asks for: nil, or a *RequirementError for each, joined.
func CheckRequirements(texts []string) error {
	_, err := parseRequirements(texts)
	return err
}

func parseRequirements(texts []string) (list []requirement, err error) {
	var errs []error
	for _, t := range texts {
		r, err := parseAsked(t)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		list = append(list, r)
	}
	return list, errors.Join(errs...)
}
