package envs

import (
	"context"
	"errors"
	"os"
)

// kernelPackages: the first is what is asked for, the others are what it cannot run without and what distributions pack apart.
func kernelPackages(language string) []string {
	if language == R {
		return []string{"IRkernel"}
	}
	return []string{"ipykernel", "jupyter-client"}
}

// ensureKernel brings the kernel package in when the environment does not see it already.
func (s *Store) ensureKernel(ctx context.Context, e *Environment) error {
	seen, err := e.seesKernel()
	if seen || err != nil {
		return err
	}
	missing := &NoKernelError{Package: kernelPackages(e.Language)[0], Looked: paths(e.places())}
	if e.Language == R {
		return missing
	}
	if missing.Err = s.bringKernel(ctx, e); missing.Err != nil {
		return missing
	}
	if err := s.compileFresh(ctx, e); err != nil {
		return err
	}
	e.Requested = []string{missing.Package}
	if seen, err = e.seesKernel(); err == nil && !seen {
		missing.Err = errors.New("it was installed and is still not there")
		err = missing
	}
	return err
}

// bringKernel takes the way of every install. Where there is no uv, pip does it: a kernel that can be started is worth more than a plan of it.
func (s *Store) bringKernel(ctx context.Context, e *Environment) error {
	if s.Exec == nil {
		return &InstallError{Packages: kernelPackages(e.Language)[:1], Err: errNoSandbox}
	}
	err := s.bringFresh(ctx, e, kernelPackages(e.Language)...)
	var none *NoUVError
	if !errors.As(err, &none) {
		return err
	}
	return s.bring(ctx, e, kernelPackages(e.Language)[0])
}

func (e *Environment) seesKernel() (bool, error) {
	list, _, err := e.Packages()
	if err != nil {
		return false, err
	}
	whole := map[string]bool{}
	for _, p := range list {
		whole[p.Name] = p.Broken == ""
	}
	for _, name := range kernelPackages(e.Language) {
		if !whole[name] {
			return false, nil
		}
	}
	return true, nil
}

// places are the folders that packages are looked for in.
func (e *Environment) places() []folder {
	if e.Language == R {
		return e.libraries()
	}
	return e.sites()
}

// paths names the folders that are there.
func paths(folders []folder) (list []string) {
	for _, f := range folders {
		if fi, err := os.Stat(f.path); err == nil && fi.IsDir() {
			list = append(list, f.path)
		}
	}
	return list
}
