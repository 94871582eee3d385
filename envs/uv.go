package envs

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// The two words that Store.UV takes beside a path.
const (
	UVAuto = "auto" // the one on PATH when it is recent enough, else one that is brought in
	UVOff  = "off"
)

// NoUVError says that there is no uv, the program that finds out what a request needs and fetches it.
type NoUVError struct {
	Setting string       // Store.UV
	Looked  []*Candidate // programs that were not taken, and why
	Err     error        // why it could not be brought in; nil when that was not tried
}

func (e *NoUVError) Error() string {
	if e.Setting == UVOff {
		return "there is no uv: it is switched off"
	}
	parts := []string{"there is no uv"}
	for _, c := range e.Looked {
		parts = append(parts, c.Error())
	}
	if e.Err != nil {
		parts = append(parts, fmt.Sprintf("%s could not be brought in: %v", uvVersion, e.Err))
	}
	return strings.Join(parts, ": ")
}

func (e *NoUVError) Unwrap() []error {
	var errs []error
	for _, c := range e.Looked {
		errs = append(errs, c)
	}
	if e.Err != nil {
		errs = append(errs, e.Err)
	}
	return errs
}

// BringUV makes sure that there is a uv, so that the first install need not wait for it. The error is a *NoUVError.
func (s *Store) BringUV(ctx context.Context) error {
	_, err := s.uv(ctx)
	return err
}

// uv is the path of the program on the host.
func (s *Store) uv(ctx context.Context) (string, error) {
	missing := &NoUVError{Setting: s.UV}
	switch s.UV {
	case UVOff:
		return "", missing
	case "", UVAuto:
		if path, ok := s.uvOnPath(ctx, missing); ok {
			return path, nil
		}
		path, err := s.broughtUV(ctx)
		if err != nil {
			missing.Err = err
			return "", missing
		}
		return path, nil
	}
	path, c := s.checkUV(ctx, s.UV)
	if c != nil {
		missing.Looked = []*Candidate{c}
		return "", missing
	}
	return path, nil
}

// uvOnPath takes the first one that will do.
func (s *Store) uvOnPath(ctx context.Context, missing *NoUVError) (string, bool) {
	here, err := os.Getwd()
	if err != nil || here == filepath.Dir(here) {
		here = ""
	}
	for _, dir := range filepath.SplitList(s.getenv("PATH")) {
		path := filepath.Join(dir, "uv"+exeSuffix(runtime.GOOS))
		if !filepath.IsAbs(dir) || isExecutable(path) != nil {
			continue
		}
		if here != "" && below(path, []string{here}) { // a notebook's folder, perhaps: its kernels can write there
			missing.Looked = append(missing.Looked, &Candidate{path, "it lies in the working folder", nil})
			continue
		}
		real, c := s.checkUV(ctx, path)
		if c == nil {
			return real, true
		}
		missing.Looked = append(missing.Looked, c)
	}
	return "", false
}

func exeSuffix(goos string) string {
	if goos == "windows" {
		return ".exe"
	}
	return ""
}
