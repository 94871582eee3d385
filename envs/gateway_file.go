package envs

import (
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

// serveFile fetches a file that a page named before, or its metadata.
func (g *Gateway) serveFile(w http.ResponseWriter, r *http.Request, id, name string) {
	g.mu.Lock()
	f, known := g.files[id]
	g.mu.Unlock()
	u, ok := f.target(name)
	if !known || !ok {
		http.NotFound(w, r)
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
