package envs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// pyvenvConfig is a pyvenv.cfg: keys in lower case. Python splits at the first "=" and takes a missing key about site-packages as "true".
type pyvenvConfig map[string]string

func parsePyvenv(data string) pyvenvConfig {
	c := pyvenvConfig{}
	for line := range strings.SplitSeq(strings.TrimPrefix(data, "\ufeff"), "\n") {
		if k, v, ok := strings.Cut(line, "="); ok {
			c[strings.ToLower(strings.TrimSpace(k))] = strings.TrimSpace(v)
		}
	}
	return c
}

func (c pyvenvConfig) inherits() bool {
	v, ok := c["include-system-site-packages"]
	return !ok || strings.EqualFold(v, "true")
}

// findPyvenv looks where Python looks: beside the program and one folder up. ok is false for a program that is in no virtual environment.
func findPyvenv(program string) (c pyvenvConfig, ok bool, err error) {
	dir := filepath.Dir(program)
	for _, d := range []string{dir, filepath.Dir(dir)} {
		data, err := os.ReadFile(filepath.Join(d, "pyvenv.cfg"))
		switch {
		case err == nil:
			return parsePyvenv(string(data)), true, nil
		case !errors.Is(err, fs.ErrNotExist):
			return nil, false, err
		}
	}
	return nil, false, nil
}

// baseOf follows the program of a virtual environment to the interpreter that it was made from, without starting either.
func baseOf(program string) (string, error) {
	for range probeSteps {
		c, ok, err := findPyvenv(program)
		if err != nil || !ok {
			return program, err
		}
		next, err := c.base(program)
		if err != nil {
			return "", err
		}
		program = next
	}
	return "", fmt.Errorf("%s: virtual environments that stand on each other, %d of them", program, probeSteps)
}

func (c pyvenvConfig) base(program string) (string, error) {
	home := c["home"]
	if !filepath.IsAbs(home) {
		return "", fmt.Errorf("pyvenv.cfg of %s: home is %q, not an absolute path", program, home)
	}
	choices := []string{filepath.Join(home, filepath.Base(program)), filepath.Join(home, "python3"), filepath.Join(home, "python"), filepath.Join(home, "python.exe")}
	if e := c["executable"]; filepath.IsAbs(e) { // written since Python 3.11
		choices = append([]string{e}, choices...)
	}
	for _, p := range choices {
		if filepath.Clean(p) != filepath.Clean(program) && isExecutable(p) == nil {
			return p, nil
		}
	}
	return "", fmt.Errorf("pyvenv.cfg of %s: there is no interpreter in its home %s", program, home)
}
