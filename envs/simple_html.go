package envs

import (
	"bytes"
	"fmt"
	"html/template"
	"net/url"
	"strings"

	"golang.org/x/net/html"
)

// parseHTMLPage reads the anchors of a PEP 503 page.
func parseHTMLPage(base *url.URL, name string, data []byte) (simplePage, error) {
	p := simplePage{Name: name}
	z := html.NewTokenizer(bytes.NewReader(data))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return p, nil // the end; a page that is cut off was noticed by its length
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			switch t.Data {
			case "base":
				if u, err := base.Parse(attribute(t, "href")); err == nil && attribute(t, "href") != "" {
					base = u
				}
			case "a":
				if f, ok := anchorFile(base, t); ok {
					p.Files = append(p.Files, f)
				}
			case "meta":
				if v := attribute(t, "content"); attribute(t, "name") == "pypi:repository-version" && !strings.HasPrefix(v, "1.") {
					return p, fmt.Errorf("HTML page: repository version is %q, not 1.x", v)
				}
			}
		}
	}
}

func anchorFile(base *url.URL, t html.Token) (simpleFile, bool) {
	href := attribute(t, "href")
	if href == "" {
		return simpleFile{}, false
	}
	f, ok := newSimpleFile(base, href)
	for _, a := range t.Attr {
		switch a.Key {
		case "data-requires-python":
			f.RequiresPython = a.Val
		case "data-core-metadata", "data-dist-info-metadata":
			f.Metadata = metadataAttribute(a.Val)
		case "data-yanked":
			reason := a.Val
			f.Yanked = &reason
		}
	}
	return f, ok
}

func metadataAttribute(v string) *fileMetadata {
	if v == "false" {
		return nil
	}
	return &fileMetadata{fragmentHash(v)}
}

func attribute(t html.Token, key string) string {
	for _, a := range t.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

var pageForm = template.Must(template.New("simple").Parse(`<!DOCTYPE html>
<html><head><meta name="pypi:repository-version" content="1.0"><title>Links for {{.Name}}</title></head><body>
{{range .Files}}<a href="{{.Href}}"{{if .Requires}} data-requires-python="{{.Requires}}"{{end}}{{if .Metadata}} data-core-metadata="{{.Metadata}}" data-dist-info-metadata="{{.Metadata}}"{{end}}{{with .Yanked}} data-yanked="{{.}}"{{end}}>{{.Filename}}</a><br>
{{end}}</body></html>
`))

type anchor struct {
	Href, Requires, Metadata, Filename string
	Yanked                             *string
}

// html renders the page with our own links.
func (p simplePage) html() ([]byte, error) {
	var out struct {
		Name  string
		Files []anchor
	}
	out.Name = p.Name
	for _, f := range p.Files {
		a := anchor{Href: f.path(), Requires: f.RequiresPython, Filename: f.Filename, Yanked: f.Yanked}
		if h := bestHash(f.Hashes); h != "" {
			a.Href += "#" + h
		}
		if f.Metadata != nil {
			if a.Metadata = bestHash(f.Metadata.Hashes); a.Metadata == "" {
				a.Metadata = "true"
			}
		}
		out.Files = append(out.Files, a)
	}
	var b bytes.Buffer
	err := pageForm.Execute(&b, out)
	return b.Bytes(), err
}

// bestHash: a link has room for one.
func bestHash(hashes map[string]string) string {
	for _, name := range []string{"sha256", "sha512", "sha384", "blake2b", "sha1", "md5"} {
		if d, ok := hashes[name]; ok {
			return name + "=" + d
		}
	}
	return ""
}
