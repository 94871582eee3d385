package envs

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync"
)

const (
	pageMost   = 128 << 20 // the longest page of the public index has about 10 MiB
	jsonType   = "application/vnd.pypi.simple.v1+json"
	htmlType   = "application/vnd.pypi.simple.v1+html"
	pageAccept = jsonType + ", " + htmlType + ";q=0.5, text/html;q=0.1"
)

var (
	pagePath = newForm(`\A/simple/([a-z0-9](?:[a-z0-9-]*[a-z0-9])?)/?\z`)
	filePath = newForm(`\A/files/([0-9a-f]{32})/([^/]+)\z`)
)

// Gateway shows one package index to a tool that has no other network. It fetches pages and the files that those pages name, nothing else, so it is
// no way out to other hosts; and it knows why a fetch failed, where a tool only says that there is no such package.
type Gateway struct {
	index  *url.URL
	client *http.Client

	mu     sync.Mutex
	files  map[string]simpleFile
	failed []*UpstreamError
}

// NewGateway returns a gateway to the index of the settings. client nil: one is made from them.
func NewGateway(i IndexSettings, client *http.Client) (*Gateway, error) {
	u, err := i.url()
	if err != nil {
		return nil, err
	}
	if client == nil {
		if client, err = i.NewClient(); err != nil {
			return nil, err
		}
	}
	return &Gateway{index: u, client: guard(client, u, i.Credentials), files: map[string]simpleFile{}}, nil
}

// Failures lists what could not be fetched, in the order of events.
func (g *Gateway) Failures() []*UpstreamError {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]*UpstreamError(nil), g.failed...)
}

func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
		return
	}
	if m := pagePath.FindStringSubmatch(r.URL.Path); m != nil {
		g.servePage(w, r, m[1])
		return
	}
	if m := filePath.FindStringSubmatch(r.URL.Path); m != nil {
		g.serveFile(w, r, m[1], m[2])
		return
	}
	http.NotFound(w, r)
}

func (g *Gateway) servePage(w http.ResponseWriter, r *http.Request, name string) {
	page, failed := g.fetchPage(r, name)
	if failed != nil {
		g.refuse(w, r, failed)
		return
	}
	g.learn(page)
	form, kind := page.html, "text/html; charset=utf-8"
	if strings.Contains(r.Header.Get("Accept"), jsonType) {
		form, kind = page.json, jsonType
	}
	body, err := form()
	if err != nil {
		http.Error(w, "the page cannot be written", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", fmt.Sprint(len(body)))
	if r.Method == http.MethodGet {
		_, _ = w.Write(body)
	}
}

func (g *Gateway) fetchPage(r *http.Request, name string) (simplePage, *UpstreamError) {
	u := g.index.JoinPath(name, "/")
	req, err := http.NewRequestWithContext(r.Context(), http.MethodGet, u.String(), nil)
	if err != nil {
		return simplePage{}, upstreamError(u, err)
	}
	req.Header.Set("Accept", pageAccept)
	resp, err := g.client.Do(req)
	if err != nil {
		return simplePage{}, upstreamError(u, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return simplePage{}, statusError(u, resp.StatusCode)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, pageMost+1))
	if err == nil && len(data) > pageMost {
		err = fmt.Errorf("the page is longer than %d bytes", pageMost)
	}
	if err != nil {
		return simplePage{}, upstreamError(u, err)
	}
	page, err := parsePage(resp, name, data)
	if err != nil {
		return simplePage{}, &UpstreamError{URL: bare(u), Host: u.Host, Cause: CauseFormat, Err: err}
	}
	return page, nil
}

func parsePage(resp *http.Response, name string, data []byte) (simplePage, error) {
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case err != nil:
		return simplePage{}, errors.New("the page does not say what type it has")
	case kind == jsonType || kind == "application/json":
		return parseJSONPage(resp.Request.URL, data)
	case kind == htmlType || kind == "text/html":
		return parseHTMLPage(resp.Request.URL, name, data)
	}
	return simplePage{}, fmt.Errorf("the page has the type %q", kind)
}

func (g *Gateway) refuse(w http.ResponseWriter, r *http.Request, e *UpstreamError) {
	if r.Context().Err() != nil {
		return // the tool left; its reason is its own
	}
	g.mu.Lock()
	g.failed = append(g.failed, e)
	g.mu.Unlock()
	http.Error(w, e.Error(), replyStatus(e))
}

// replyStatus passes on what a tool can act on. The rest becomes 424, which no tool tries again: the cause is known and stays the same.
func replyStatus(e *UpstreamError) int {
	switch {
	case e.Status == http.StatusNotFound || e.Status == http.StatusGone || e.Status == http.StatusTooManyRequests || e.Status >= 500:
		return e.Status
	case e.Cause == CauseTimeout:
		return http.StatusGatewayTimeout
	}
	return http.StatusFailedDependency
}
