package config

import (
	"errors"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/mattn/go-shellwords"

	"github.com/kernel-launch/kernel-launch/egress"
)

func oneOf[T ~string](what string, words ...T) func(string) (T, error) {
	return func(s string) (T, error) {
		known := make([]string, len(words))
		for i, w := range words {
			if s == string(w) {
				return w, nil
			}
			known[i] = string(w)
		}
		return "", fmt.Errorf("%s; it is one of: %s", unknown(what, s, known), strings.Join(known, ", "))
	}
}

func boolean(s string) (bool, error) {
	switch s {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, fmt.Errorf("must be true or false, not %s", quote(s))
}

func count(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("must be a whole number from 0, not %s", quote(s))
	}
	return n, nil
}

// positive is for bounds: without a bound a kernel could take all that the launcher has.
func positive(s string) (int, error) {
	n, err := count(s)
	if err == nil && n == 0 {
		return 0, errors.New("must be 1 or more, not 0")
	}
	return n, err
}

func cpus(s string) (float64, error) {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || n < 0 || math.IsInf(n, 0) || math.IsNaN(n) {
		return 0, fmt.Errorf("must be a number of processors from 0, not %s", quote(s))
	}
	return n, nil
}

// age reads a duration in Go's form ("36h") or in days ("7d"); 0 is none.
func age(s string) (time.Duration, error) {
	const day = 24 * time.Hour
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		if err == nil {
			return time.Duration(n) * day, nil
		}
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("must be a duration such as 30s, 10m, 36h or 7d, not %s", quote(s))
	}
	return d, nil
}

func timeout(s string) (time.Duration, error) {
	d, err := age(s)
	if err == nil && d == 0 {
		return 0, errors.New("must be longer than 0")
	}
	return d, err
}

func environment(s string) (string, error) {
	if !environmentName(s) {
		return "", fmt.Errorf("%s is no name of an environment: letters, digits, \".\", \"_\" and \"-\", the first a letter or digit, 64 at most", quote(s))
	}
	return s, nil
}

func variable(s string) (string, error) {
	if !variableName(s) {
		return "", fmt.Errorf("%s is no name of a variable", quote(s))
	}
	return s, nil
}

func variableValue(name, text string) (string, error) {
	if _, err := variable(name); err != nil {
		return "", err
	}
	if strings.ContainsRune(text, 0) {
		return "", errors.New("a value cannot hold a NUL byte")
	}
	return text, nil
}

func port(s string) (uint16, error) {
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil || n == 0 || s[0] == '0' {
		return 0, fmt.Errorf("must be a port from 1 to 65535, not %s", quote(s))
	}
	return uint16(n), nil
}

func group(s string) (string, error) {
	if _, ok := egress.Group(s); !ok {
		return "", fmt.Errorf("%s; there are: %s", unknown("group", s, egress.GroupNames()), strings.Join(egress.GroupNames(), ", "))
	}
	return s, nil
}

func asWritten(s string) string { return s }

// normalRule is the form in which two spellings of one rule are equal.
func normalRule(s string) string {
	r, err := egress.ParseRule(s)
	if err != nil {
		return s
	}
	return r.String()
}

func header(s string) (string, error) {
	if !headerName(s) {
		return "", fmt.Errorf("%s is no name of a header", quote(s))
	}
	return s, nil
}

// command splits a line into arguments. What a shell would do beyond that (pipes, redirections, substitution) is refused: no shell runs it.
func command(s string) ([]string, error) {
	p := shellwords.NewParser()
	args, err := p.Parse(s)
	if err != nil {
		return nil, fmt.Errorf("cannot be split into arguments: %w", err)
	}
	if p.Position >= 0 || strings.ContainsAny(s, "\n`") || strings.Contains(s, "$(") {
		return nil, errors.New("is more than one command with arguments, and no shell runs it")
	}
	if len(args) == 0 || args[0] == "" {
		return nil, errors.New("names no command")
	}
	return args, nil
}

// secretError is about a value that can hold a password: it never repeats the value.
type secretError struct{ problem string }

func (e *secretError) Error() string { return e.problem }

// IndexURL is the address of a package index. It can hold a password, so it prints with that left out.
type IndexURL string

func index(s string) (IndexURL, error) {
	if s == "" {
		return "", nil
	}
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return "", &secretError{"cannot be read as a URL"}
	case u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "":
		return "", &secretError{"must be an http or https URL with a host"}
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", &secretError{"must be a URL without query and fragment"}
	}
	return IndexURL(s), nil
}

// Secret returns the whole address.
func (u IndexURL) Secret() string { return string(u) }

// String returns the address with what stands before "@" replaced.
func (u IndexURL) String() string {
	p, err := url.Parse(string(u))
	if err != nil {
		return "(not a URL)"
	}
	if p.User != nil {
		p.User = url.User("…")
	}
	return p.String()
}

// GoString keeps %#v from showing the password.
func (u IndexURL) GoString() string { return strconv.Quote(u.String()) }

// MarshalText keeps JSON and YAML from showing it.
func (u IndexURL) MarshalText() ([]byte, error) { return []byte(u.String()), nil }
