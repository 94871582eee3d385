package envs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"path/filepath"
	"sync"

	"github.com/kernel-launch/kernel-launch/internal/dirs"
)

const (
	metadataMost = 16 << 20
	describers   = 8 // files that are asked about at once
)

// fileFacts is what is kept of a planned file, by its hash and so for ever.
type fileFacts struct {
	Schema   int      `json:"schema"`
	Size     int64    `json:"size"`
	Requires []string `json:"requires"`
}

// describe fills in what a plan says about its files beside their names: sizes and requirements, and hashes where the index gives none. A file whose
// metadata cannot be had stays without: it comes whole, with its hash, when the plan is carried out.
func (r *resolver) describe(ctx context.Context, files []PlannedFile) error {
	errs := make([]error, len(files))
	slots := make(chan struct{}, describers)
	var wg sync.WaitGroup
	for i := range files {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			errs[i] = r.describeOne(ctx, &files[i])
		})
	}
	wg.Wait()
	return errors.Join(append(errs, ctx.Err())...)
}

func (r *resolver) describeOne(ctx context.Context, f *PlannedFile) error {
	if facts, ok := r.work.store.keptFacts(f.SHA256); ok {
		f.Requires, f.Size = facts.Requires, facts.Size
		return nil
	}
	at, err := r.gateway.find(ctx, path.Base(path.Dir(f.URL)), f.Filename)
	switch {
	case err != nil && f.SHA256 == "":
		return err
	case err != nil:
		return nil
	}
	if sum, ok := at.Hashes["sha256"]; ok && f.SHA256 != "" && sum != f.SHA256 {
		return &ResolveError{Requested: r.work.request.Add, Text: fmt.Sprintf("%s has the sha256 %s on the index, not %s", f.Filename, value(sum), f.SHA256)}
	}
	facts := fileFacts{Schema: 1, Size: max(at.Size, f.Size)}
	if f.SHA256 == "" {
		if f.SHA256, facts.Size, err = r.gateway.sum(ctx, at); err != nil {
			return err
		}
	}
	if !f.Source {
		r.gateway.readFacts(ctx, at, &facts)
	}
	f.Requires, f.Size = facts.Requires, facts.Size
	if facts.Requires != nil && facts.Size > 0 {
		r.work.store.keepFacts(f.SHA256, facts)
	}
	return nil
}

func (s *Store) factsFile(sum string) string { return filepath.Join(s.Work, "metadata", sum+".json") }

func (s *Store) keptFacts(sum string) (f fileFacts, ok bool) {
	if sum == "" {
		return f, false
	}
	data := readSome(s.factsFile(sum))
	return f, data != nil && json.Unmarshal(data, &f) == nil && f.Schema == 1
}

func (s *Store) keepFacts(sum string, f fileFacts) {
	file := s.factsFile(sum)
	if data, err := json.Marshal(f); err == nil && dirs.MakePrivate(filepath.Dir(file)) == nil {
		_ = dirs.WriteVolatile(file, data, 0o600) // what is not kept is asked for again
	}
}

// sum fetches the whole file for the hash that the index does not give.
func (g *Gateway) sum(ctx context.Context, f simpleFile) (sum string, size int64, err error) {
	resp, err := g.get(ctx, f.URL, "")
	if err != nil {
		return "", 0, err
	}
	defer resp.Body.Close()
	h := sha256.New()
	if size, err = io.Copy(h, resp.Body); err != nil {
		return "", 0, upstreamError(f.URL, err)
	}
	return hex.EncodeToString(h.Sum(nil)), size, nil
}

// readFacts asks for the metadata that stands beside a wheel, else for the parts of the wheel that hold it.
func (g *Gateway) readFacts(ctx context.Context, f simpleFile, facts *fileFacts) {
	if u, ok := f.target(f.Filename + ".metadata"); ok && facts.Size > 0 {
		if data, err := g.beside(ctx, f, u); err == nil {
			facts.Requires = requiresFrom(data)
			return
		}
	}
	wheel, err := g.openWheel(ctx, f.URL)
	if err != nil {
		return
	}
	facts.Size = wheel.size
	if data, err := wheel.metadata(); err == nil {
		facts.Requires = requiresFrom(data)
	}
}

// beside returns the metadata at u, when it is the one that f's page announced.
func (g *Gateway) beside(ctx context.Context, f simpleFile, u *url.URL) ([]byte, error) {
	resp, err := g.get(ctx, u, "")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, metadataMost))
	sum := sha256.Sum256(data)
	if want, ok := f.Metadata.Hashes["sha256"]; err == nil && ok && want != hex.EncodeToString(sum[:]) {
		err = errors.New("the metadata is not what the page announced")
	}
	return data, err
}

// requiresFrom is never nil: nil is not known.
func requiresFrom(metadata []byte) []string {
	list, _ := listedFields(metadata)
	return append([]string{}, list...)
}
