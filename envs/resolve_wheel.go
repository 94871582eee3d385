package envs

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
)

const (
	wheelEnd   = 64 << 10 // of most wheels this is the list of what they hold, and the metadata as well
	wheelPart  = 16 << 10
	wheelWhole = 64 << 20 // of an index that gives no parts
)

// remoteWheel reads parts of a wheel that stands on the index. The part that was fetched last is kept.
type remoteWheel struct {
	fetch func(byteRange string) (*http.Response, error)
	size  int64
	from  int64 // where kept begins
	kept  []byte
}

func (g *Gateway) openWheel(ctx context.Context, u *url.URL) (*remoteWheel, error) {
	w := &remoteWheel{fetch: func(byteRange string) (*http.Response, error) { return g.get(ctx, u, byteRange) }}
	resp, err := w.fetch(fmt.Sprintf("bytes=-%d", wheelEnd))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if w.kept, err = io.ReadAll(io.LimitReader(resp.Body, wheelWhole+1)); err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusOK {
		if w.size = int64(len(w.kept)); w.size > wheelWhole {
			return nil, errors.New("the wheel is too long to be fetched for its metadata")
		}
		return w, nil
	}
	var last int64
	if _, err := fmt.Sscanf(resp.Header.Get("Content-Range"), "bytes %d-%d/%d", &w.from, &last, &w.size); err != nil {
		return nil, fmt.Errorf("Content-Range: %w", err)
	}
	return w, nil
}

// ReadAt is io.ReaderAt for one reader at a time.
func (w *remoteWheel) ReadAt(p []byte, off int64) (int, error) {
	if off >= w.size {
		return 0, io.EOF
	}
	want := min(int64(len(p)), w.size-off)
	if off < w.from || off+want > w.from+int64(len(w.kept)) {
		if err := w.load(off, max(want, wheelPart)); err != nil {
			return 0, err
		}
	}
	n := copy(p, w.kept[off-w.from:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (w *remoteWheel) load(off, n int64) error {
	resp, err := w.fetch(fmt.Sprintf("bytes=%d-%d", off, min(off+n, w.size)-1))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusPartialContent {
		return errors.New("the index gives parts of the wheel no longer")
	}
	kept, err := io.ReadAll(io.LimitReader(resp.Body, n))
	if err == nil && int64(len(kept)) < min(n, w.size-off) {
		err = io.ErrUnexpectedEOF
	}
	if err == nil {
		w.from, w.kept = off, kept
	}
	return err
}

// metadata returns the wheel's METADATA.
func (w *remoteWheel) metadata() ([]byte, error) {
	z, err := zip.NewReader(w, w.size)
	if err != nil {
		return nil, err
	}
	for _, f := range z.File {
		if dir, name := path.Split(f.Name); name != "METADATA" || strings.Count(dir, "/") != 1 || !hasSuffixFold(dir, ".dist-info/") {
			continue
		}
		part, err := f.Open()
		if err != nil {
			return nil, err
		}
		defer part.Close()
		return io.ReadAll(io.LimitReader(part, metadataMost))
	}
	return nil, errors.New("the wheel holds no METADATA")
}
