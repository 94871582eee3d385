package envs

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// find returns the file that a page names. A tool that has the page in its cache asks for files of pages that this gateway has not seen.
func (g *Gateway) find(ctx context.Context, id, filename string) (simpleFile, error) {
	if f, ok := g.known(id); ok {
		return f, nil
	}
	project := projectOf(filename)
	if !distName.MatchString(project) {
		return simpleFile{}, fmt.Errorf("%s is the name of no file of a project", value(filename))
	}
	page, err := g.page(ctx, project)
	if err != nil {
		return simpleFile{}, err
	}
	g.learn(page)
	if f, ok := g.known(id); ok {
		return f, nil
	}
	return simpleFile{}, fmt.Errorf("%s does not have %s any more", g.index.Host, value(filename))
}

func (g *Gateway) known(id string) (simpleFile, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f, ok := g.files[id]
	return f, ok
}

func (g *Gateway) learn(page simplePage) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, f := range page.Files {
		g.files[f.id()] = f
	}
}

// projectOf reads the project's name from a file's: of a wheel up to the first "-", of source up to the last.
func projectOf(filename string) string {
	filename = strings.TrimSuffix(filename, ".metadata")
	end := strings.LastIndexByte(filename, '-')
	if hasSuffixFold(filename, ".whl") {
		end = strings.IndexByte(filename, '-')
	}
	return normalName(filename[:max(0, end)])
}

// page fetches a project's page for callers that are no tool.
func (g *Gateway) page(ctx context.Context, project string) (simplePage, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, g.index.String(), nil)
	if err != nil {
		return simplePage{}, err
	}
	page, failed := g.fetchPage(r, project)
	if failed != nil { // a nil pointer in an error would be none
		return page, failed
	}
	return page, nil
}

// get fetches a file, or a part of it.
func (g *Gateway) get(ctx context.Context, u *url.URL, byteRange string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, g.index.String(), nil)
	if err != nil {
		return nil, err
	}
	if byteRange != "" {
		r.Header.Set("Range", byteRange)
	}
	resp, err := g.fetchFile(r, u)
	if err != nil {
		return nil, upstreamError(u, err)
	}
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusPartialContent {
		resp.Body.Close()
		return nil, statusError(u, resp.StatusCode)
	}
	return resp, nil
}
