package envs

import (
	"fmt"
	"strings"

	"github.com/kernel-launch/kernel-launch/internal/plain"
)

// NameError is a text that cannot name an environment.
type NameError struct{ Name, Reason string }

func (e *NameError) Error() string {
	return fmt.Sprintf("environment name %q: %s", plain.Line(e.Name, 80), e.Reason)
}

// LanguageError is a language that environments are not made for.
type LanguageError struct{ Language string }

func (e *LanguageError) Error() string {
	return fmt.Sprintf("language %q: there are environments for %s", plain.Line(e.Language, 40), strings.Join(Languages(), " and "))
}

// NotFoundError is a name without an environment.
type NotFoundError struct{ Name string }

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("no environment %q", plain.Line(e.Name, 80))
}

// ExistsError is a name that is taken, perhaps in other letters or by another language.
type ExistsError struct{ Name, Language string }

func (e *ExistsError) Error() string {
	return fmt.Sprintf("environment %q (%s) exists already", e.Name, e.Language)
}

// BusyError is an environment that is in use.
type BusyError struct{ Name, What string }

func (e *BusyError) Error() string { return fmt.Sprintf("environment %q is busy: %s", e.Name, e.What) }

// BrokenError is an environment that cannot be used as it is.
type BrokenError struct {
	Name string
	What string // what is wrong, with its path
	Path string // the file or folder that it is about
	Err  error  // may be nil
}

func (e *BrokenError) Error() string {
	s := fmt.Sprintf("environment %q is broken: %s", e.Name, e.What)
	if e.Err != nil {
		s += ": " + plain.Line(e.Err.Error(), 400)
	}
	return s
}

func (e *BrokenError) Unwrap() error { return e.Err }

// Candidate is a program that was looked at as an interpreter, and why it was not taken.
type Candidate struct {
	Path   string
	Reason string
	Err    error // may be nil
}

func (c *Candidate) Error() string {
	s := plain.Line(c.Path, 300) + ": " + c.Reason
	if c.Err != nil {
		s += ": " + plain.Line(c.Err.Error(), 400)
	}
	return s
}

func (c *Candidate) Unwrap() error { return c.Err }

// InterpreterError is a search for an interpreter that found none.
type InterpreterError struct {
	Language   string
	Wanted     string // what was asked for; empty: any
	Candidates []*Candidate
}

func (e *InterpreterError) Error() string {
	what := e.Language
	if e.Wanted != "" {
		what += " " + fmt.Sprintf("%q", plain.Line(e.Wanted, 200))
	}
	if len(e.Candidates) == 0 {
		return "no interpreter for " + what + ": none is on PATH"
	}
	reasons := make([]string, len(e.Candidates))
	for i, c := range e.Candidates {
		reasons[i] = c.Error()
	}
	return "no interpreter for " + what + ": " + strings.Join(reasons, "; ")
}

func (e *InterpreterError) Unwrap() []error {
	errs := make([]error, len(e.Candidates))
	for i, c := range e.Candidates {
		errs[i] = c
	}
	return errs
}

// NoKernelError is an environment whose kernel package is nowhere to be seen.
type NoKernelError struct {
	Package string   // "ipykernel", "IRkernel"
	Looked  []string // folders that were read
	Err     error    // why it could not be brought in; nil: it was not tried
}

func (e *NoKernelError) Error() string {
	s := fmt.Sprintf("%s is in none of %s", e.Package, strings.Join(e.Looked, ", "))
	if e.Err != nil {
		s += " and could not be brought in: " + e.Err.Error()
	}
	return s
}

func (e *NoKernelError) Unwrap() error { return e.Err }

// InstallerError says that there is no program that could install packages.
type InstallerError struct {
	Interpreter string
	Looked      []string
}

func (e *InstallerError) Error() string {
	return fmt.Sprintf("%s has no pip: looked in %s", e.Interpreter, strings.Join(e.Looked, ", "))
}
