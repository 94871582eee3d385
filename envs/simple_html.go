package envs

import (
	"fmt"
	"html"
	"net/url"
	"strings"
)

// parseHTMLPage reads the anchors of a PEP 503 page.
func parseHTMLPage(base *url.URL, name string, data []byte) (simplePage, error) {
	p := simplePage{Name: name}
	for t := range tags(string(data)) { // a page that is cut off was noticed by its length
		switch t.name {
		case "base":
			if u, err := base.Parse(t.attributes["href"]); err == nil && t.attributes["href"] != "" {
				base = u
			}
		case "a":
			if f, ok := anchorFile(base, t); ok {
				p.Files = append(p.Files, f)
			}
		case "meta":
			if v := t.attributes["content"]; t.attributes["name"] == "pypi:repository-version" && !strings.HasPrefix(v, "1.") {
				return p, fmt.Errorf("HTML page: repository version is %q, not 1.x", v)
			}
		}
	}
	return p, nil
}

func anchorFile(base *url.URL, t tag) (simpleFile, bool) {
	href := t.attributes["href"]
	if href == "" {
		return simpleFile{}, false
	}
	f, ok := newSimpleFile(base, href)
	f.RequiresPython = t.attributes["data-requires-python"]
	for _, key := range []string{"data-core-metadata", "data-dist-info-metadata"} { // the newer name first
		if v, given := t.attributes[key]; given && f.Metadata == nil {
			f.Metadata = metadataAttribute(v)
		}
	}
	if reason, yanked := t.attributes["data-yanked"]; yanked {
		f.Yanked = &reason
	}
	return f, ok
}

func metadataAttribute(v string) *fileMetadata {
	if v == "false" {
		return nil
	}
	return &fileMetadata{fragmentHash(v)}
}

// html renders the page with our own links.
func (p simplePage) html() ([]byte, error) {
	var b strings.Builder
	fmt.Fprintf(&b, `<!DOCTYPE html>
<html><head><meta name="pypi:repository-version" content="1.0"><title>Links for %s</title></head><body>
`, html.EscapeString(p.Name))
	for _, f := range p.Files {
		f.anchor(&b)
	}
	b.WriteString("</body></html>\n")
	return []byte(b.String()), nil
}

func (f simpleFile) anchor(b *strings.Builder) {
	set := func(key, value string) { fmt.Fprintf(b, ` %s="%s"`, key, html.EscapeString(value)) }
	href := f.path()
	if h := bestHash(f.Hashes); h != "" {
		href += "#" + h
	}
	b.WriteString("<a")
	set("href", href)
	if f.RequiresPython != "" {
		set("data-requires-python", f.RequiresPython)
	}
	if f.Metadata != nil {
		known := bestHash(f.Metadata.Hashes)
		if known == "" {
			known = "true"
		}
		set("data-core-metadata", known)
		set("data-dist-info-metadata", known)
	}
	if f.Yanked != nil {
		set("data-yanked", *f.Yanked)
	}
	fmt.Fprintf(b, ">%s</a><br>\n", html.EscapeString(f.Filename))
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
