package envs

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"strings"
	"unicode"
)

// simplePage is one project of an index, whichever form it came in.
type simplePage struct {
	Name  string
	Files []simpleFile
}

// simpleFile is one file of a project. Nil means that the index said nothing.
type simpleFile struct {
	Filename       string
	URL            *url.URL // upstream, without user and fragment
	Hashes         map[string]string
	RequiresPython string
	Metadata       *fileMetadata // the index serves its METADATA beside it (PEP 658, PEP 714)
	Yanked         *string       // the reason, perhaps empty
	Size           int64
	UploadTime     string
}

type fileMetadata struct{ Hashes map[string]string }

// id names the upstream URL in ours. It is the same on each run, so that a tool's cache can work, and leads nowhere unless a page named the URL.
func (f simpleFile) id() string {
	sum := sha256.Sum256([]byte(f.URL.String()))
	return hex.EncodeToString(sum[:16])
}

func (f simpleFile) path() string { return "/files/" + f.id() + "/" + url.PathEscape(f.Filename) }

// newSimpleFile resolves href. ok is false for what is no file that can be fetched here.
func newSimpleFile(base *url.URL, href string) (f simpleFile, ok bool) {
	u, err := base.Parse(strings.TrimSpace(href))
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return f, false
	}
	f.Hashes = fragmentHash(u.Fragment)
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	f.URL = u
	f.Filename, err = url.PathUnescape(path.Base(u.EscapedPath()))
	return f, err == nil && goodFilename(f.Filename)
}

func fragmentHash(fragment string) map[string]string {
	if name, digest, ok := strings.Cut(fragment, "="); ok && isHash(name, digest) {
		return map[string]string{name: digest}
	}
	return nil
}

func isHash(name, digest string) bool {
	_, err := hex.DecodeString(digest)
	return err == nil && digest != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == "" && name != ""
}

func goodFilename(name string) bool {
	if name == "" || name == "." || name == ".." || name == "/" || len(name) > 255 || strings.ContainsAny(name, `/\`) {
		return false
	}
	return strings.IndexFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }) < 0
}

// simpleJSON and its parts are PEP 691, 700 and 714.
type simpleJSON struct {
	Meta     map[string]string `json:"meta"`
	Name     string            `json:"name"`
	Versions []string          `json:"versions,omitempty"`
	Files    []fileJSON        `json:"files"`
}

type fileJSON struct {
	Filename       string            `json:"filename"`
	URL            string            `json:"url"`
	Hashes         map[string]string `json:"hashes"`
	RequiresPython *string           `json:"requires-python,omitempty"`
	CoreMetadata   json.RawMessage   `json:"core-metadata,omitempty"`
	OldMetadata    json.RawMessage   `json:"dist-info-metadata,omitempty"`
	Yanked         json.RawMessage   `json:"yanked,omitempty"`
	Size           int64             `json:"size,omitempty"`
	UploadTime     string            `json:"upload-time,omitempty"`
}

func parseJSONPage(base *url.URL, data []byte) (simplePage, error) {
	var j simpleJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return simplePage{}, fmt.Errorf("JSON page: %w", err)
	}
	if v := j.Meta["api-version"]; !strings.HasPrefix(v, "1.") {
		return simplePage{}, fmt.Errorf("JSON page: api-version is %q, not 1.x", v)
	}
	p := simplePage{Name: j.Name}
	for _, x := range j.Files {
		if f, ok := x.file(base); ok {
			p.Files = append(p.Files, f)
		}
	}
	return p, nil
}

func (x fileJSON) file(base *url.URL) (simpleFile, bool) {
	f, ok := newSimpleFile(base, x.URL)
	if !ok {
		return f, false
	}
	if f.Hashes == nil {
		f.Hashes = map[string]string{}
	}
	for name, digest := range x.Hashes {
		if isHash(name, digest) {
			f.Hashes[name] = digest
		}
	}
	if x.RequiresPython != nil {
		f.RequiresPython = *x.RequiresPython
	}
	f.Metadata, f.Yanked = metadataJSON(x.CoreMetadata, x.OldMetadata), yankedJSON(x.Yanked)
	f.Size, f.UploadTime = x.Size, x.UploadTime
	return f, true
}

// metadataJSON: the value is true or a table of hashes; the key had another name once.
func metadataJSON(values ...json.RawMessage) *fileMetadata {
	for _, v := range values {
		var hashes map[string]string
		var yes bool
		if json.Unmarshal(v, &yes) == nil && yes {
			return &fileMetadata{}
		}
		if json.Unmarshal(v, &hashes) == nil && hashes != nil {
			return &fileMetadata{hashes}
		}
	}
	return nil
}

func yankedJSON(v json.RawMessage) *string {
	var reason string
	var yes bool
	if json.Unmarshal(v, &yes) == nil && yes {
		return &reason
	}
	if json.Unmarshal(v, &reason) == nil && string(v) != "null" {
		return &reason
	}
	return nil
}

// json renders the page with our own links.
func (p simplePage) json() ([]byte, error) {
	out := simpleJSON{Meta: map[string]string{"api-version": "1.0"}, Name: p.Name, Files: []fileJSON{}}
	for _, f := range p.Files {
		x := fileJSON{Filename: f.Filename, URL: f.path(), Hashes: f.Hashes, Size: f.Size, UploadTime: f.UploadTime}
		if x.Hashes == nil {
			x.Hashes = map[string]string{}
		}
		if f.RequiresPython != "" {
			x.RequiresPython = &f.RequiresPython
		}
		if f.Metadata != nil {
			x.CoreMetadata = f.Metadata.json()
			x.OldMetadata = x.CoreMetadata
		}
		if f.Yanked != nil {
			x.Yanked, _ = json.Marshal(*f.Yanked)
			if *f.Yanked == "" {
				x.Yanked = json.RawMessage("true")
			}
		}
		out.Files = append(out.Files, x)
	}
	return json.Marshal(out)
}

func (m fileMetadata) json() json.RawMessage {
	if len(m.Hashes) == 0 {
		return json.RawMessage("true")
	}
	b, err := json.Marshal(m.Hashes)
	if err != nil {
		return json.RawMessage("true")
	}
	return b
}
