package envs

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/kernel-launch/kernel-launch/internal/dirs"
)

const (
	uvWheelMost   = 100 << 20
	uvProgramMost = 400 << 20
)

// broughtUV returns the uv below Tools, and fetches it the first time: from the operator's index, and when that does not have this very file, from
// the public one. The sum is compiled in, so it does not matter who sends it.
func (s *Store) broughtUV(ctx context.Context) (string, error) {
	dir := filepath.Join(s.tools(), "uv", uvVersion)
	path := filepath.Join(dir, "uv"+exeSuffix(runtime.GOOS))
	if isExecutable(path) == nil {
		return path, nil
	}
	wheel, ok := uvWheel(runtime.GOOS, runtime.GOARCH, onMusl())
	if !ok {
		return "", fmt.Errorf("there is none for %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	for _, d := range []string{s.tools(), filepath.Dir(dir), dir} {
		if err := dirs.MakePrivate(d); err != nil {
			return "", err
		}
	}
	var errs []error
	for _, index := range s.uvSources() {
		err := s.bringUV(ctx, index, wheel, path)
		if err == nil {
			return path, nil
		}
		errs = append(errs, err)
	}
	return "", errors.Join(errs...)
}

// uvSources: the public index gets the operator's certificates and proxy, never the credentials.
func (s *Store) uvSources() []IndexSettings {
	list := []IndexSettings{s.Index}
	if s.Index.URL != "" && s.Index.URL != defaultIndex {
		public := s.Index
		public.URL, public.Credentials, public.Source = defaultIndex, Credentials{}, "default"
		list = append(list, public)
	}
	return list
}

func (s *Store) bringUV(ctx context.Context, index IndexSettings, wheel uvFile, to string) (err error) {
	g, err := NewGateway(index, s.Client)
	if err != nil {
		return err
	}
	body, err := g.open(ctx, "uv", wheel.name)
	if err != nil {
		return err
	}
	defer body.Close()
	temp, err := os.CreateTemp(filepath.Dir(to), ".wheel-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, temp.Close(), os.Remove(temp.Name())) }()
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(temp, sum), io.LimitReader(body, uvWheelMost))
	if err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != wheel.sha256 {
		return fmt.Errorf("%s from %s has the sha256 %s, not %s", wheel.name, g.index.Host, got, wheel.sha256)
	}
	return unpackUV(temp, n, to)
}

// open fetches one file of a project by its name.
func (g *Gateway) open(ctx context.Context, project, filename string) (io.ReadCloser, error) {
	page, err := g.page(ctx, project)
	if err != nil {
		return nil, err
	}
	for _, f := range page.Files {
		if f.Filename == filename {
			resp, err := g.get(ctx, f.URL, "")
			if err != nil {
				return nil, err
			}
			return resp.Body, nil
		}
	}
	return nil, fmt.Errorf("%s does not have %s", g.index.Host, filename)
}

// unpackUV puts the program in place: whole, or not at all.
func unpackUV(wheel io.ReaderAt, size int64, to string) (err error) {
	z, err := zip.NewReader(wheel, size)
	if err != nil {
		return err
	}
	from, err := z.Open("uv-" + uvVersion + ".data/scripts/" + filepath.Base(to))
	if err != nil {
		return err
	}
	defer from.Close()
	temp, err := os.CreateTemp(filepath.Dir(to), ".uv-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(temp.Name()))
		}
	}()
	_, err = io.Copy(temp, io.LimitReader(from, uvProgramMost))
	if err = errors.Join(err, temp.Chmod(0o755), temp.Sync(), temp.Close()); err != nil {
		return err
	}
	return os.Rename(temp.Name(), to)
}

// onMusl looks for the loader of glibc, which every program that is linked against it names.
func onMusl() bool {
	for _, pattern := range []string{"/lib64/ld-linux*", "/lib/ld-linux*", "/lib/*/ld-linux*", "/lib64/ld64.so*", "/lib/ld64.so*"} {
		if found, err := filepath.Glob(pattern); err == nil && len(found) > 0 {
			return false
		}
	}
	return true
}
