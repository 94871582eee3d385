package envs

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// The fields that pass through: enough for ranges, resumption and a tool's cache.
var (
	askedFields    = []string{"Range", "If-Range", "If-None-Match", "If-Modified-Since"}
	answeredFields = []string{"Content-Type", "Content-Encoding", "Content-Length", "Content-Range", "Accept-Ranges", "Etag", "Last-Modified", "Cache-Control"}
)

// serveFile fetches a file that a page names, or its metadata.
func (g *Gateway) serveFile(w http.ResponseWriter, r *http.Request, id, name string) {
	f, err := g.find(r.Context(), id, name)
	u, ok := f.target(name)
	if err != nil || !ok {
		g.noFile(w, r, err)
		return
	}
	resp, err := g.fetchFile(r, u)
	if err != nil {
		g.refuse(w, r, upstreamError(u, err))
		return
	}
	defer resp.Body.Close()
	if !passes(resp.StatusCode) {
		g.refuse(w, r, statusError(u, resp.StatusCode))
		return
	}
	g.pass(w, r, u, resp)
}

func (g *Gateway) fetchFile(r *http.Request, u *url.URL) (*http.Response, error) {
	req, err := http.NewRequestWithContext(r.Context(), r.Method, u.String(), nil)
	if err != nil {
		return nil, err
	}
	for _, k := range askedFields {
		if v := r.Header.Get(k); v != "" {
			req.Header.Set(k, v)
		}
	}
	req.Header.Set("Accept-Encoding", "identity") // lengths, ranges and hashes are those of the file
	return g.client.Do(req)
}

// noFile tells a page that could not be fetched from a file that no page names.
func (g *Gateway) noFile(w http.ResponseWriter, r *http.Request, err error) {
	var failed *UpstreamError
	if errors.As(err, &failed) {
		g.refuse(w, r, failed)
		return
	}
	http.NotFound(w, r)
}

// target: metadata stands beside the file, under its name with ".metadata" (PEP 658).
func (f simpleFile) target(name string) (*url.URL, bool) {
	if f.URL == nil || name == f.Filename {
		return f.URL, f.URL != nil
	}
	if base, ok := strings.CutSuffix(name, ".metadata"); !ok || base != f.Filename || f.Metadata == nil {
		return nil, false
	}
	u := *f.URL
	u.Path += ".metadata"
	if u.RawPath != "" {
		u.RawPath += ".metadata"
	}
	return &u, true
}

func passes(status int) bool {
	return status == http.StatusOK || status == http.StatusPartialContent || status == http.StatusNotModified || status == http.StatusRequestedRangeNotSatisfiable
}

func (g *Gateway) pass(w http.ResponseWriter, r *http.Request, u *url.URL, resp *http.Response) {
	for _, k := range answeredFields {
		if v := resp.Header.Get(k); v != "" {
			w.Header().Set(k, v)
		}
	}
	w.WriteHeader(resp.StatusCode)
	if r.Method == http.MethodHead {
		return
	}
	if _, err := io.Copy(w, resp.Body); err != nil {
		if r.Context().Err() == nil {
			g.mu.Lock()
			g.failed = append(g.failed, upstreamError(u, err))
			g.mu.Unlock()
		}
		panic(http.ErrAbortHandler) // a short body must not look like a whole one
	}
}
