package envs

import (
	"fmt"
	"net/url"
	"os"
	"strings"

	"golang.org/x/net/http/httpproxy"

	"github.com/kernel-launch/kernel-launch/internal/plain"
)

const defaultIndex = "https://pypi.org/simple"

// IndexSettings say where packages come from. The zero value is the public index, reached directly.
type IndexSettings struct {
	URL          string      // of the simple pages, without credentials; empty: https://pypi.org/simple
	Source       string      // what named it: "install.index", "PIP_INDEX_URL", a file, "default"
	Credentials  Credentials // sent to the URL's own host only
	Certificates []string    // PEM files whose certificates are trusted beside the system's

	proxy httpproxy.Config
}

// IndexSources are where FindIndex looks. Goos, Getenv and Home are facts of the machine; ReadFile nil is os.ReadFile.
type IndexSources struct {
	Configured string // install.index; wins when set
	Goos       string
	Getenv     func(string) string
	Home       string
	ReadFile   func(string) ([]byte, error)
}

// IndexError is a setting about the index that cannot be used. It never shows the URL: that may hold a password.
type IndexError struct{ Source, Reason string }

func (e *IndexError) Error() string {
	return fmt.Sprintf("package index from %s: %s", e.Source, e.Reason)
}

// FindIndex reads the operator's settings in the order install.index, PIP_INDEX_URL, UV_DEFAULT_INDEX, UV_INDEX_URL, pip.conf (user, then machine),
// the public index; certificates, netrc and proxy beside it. PIP_FIND_LINKS and extra indexes are not taken: one index answers for every name.
func FindIndex(s IndexSources) (IndexSettings, error) {
	if s.ReadFile == nil {
		s.ReadFile = os.ReadFile
	}
	conf := s.pipConfig()
	raw, source := s.indexURL(conf)
	i, err := parseIndex(raw, source)
	if err != nil {
		return IndexSettings{}, err
	}
	if i.Credentials.empty() {
		i.Credentials = s.netrc(i.URL)
	}
	i.Certificates = s.certificates(conf)
	i.proxy = s.proxyConfig()
	return i, nil
}

func (s IndexSources) indexURL(conf pipConfig) (raw, source string) {
	if s.Configured != "" {
		return s.Configured, "install.index"
	}
	for _, key := range []string{"PIP_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL"} {
		if v := strings.TrimSpace(s.Getenv(key)); v != "" {
			return v, key
		}
	}
	if v, ok := conf["index-url"]; ok {
		return v.text, v.file
	}
	return defaultIndex, "default"
}

func parseIndex(raw, source string) (IndexSettings, error) {
	bad := func(reason string) (IndexSettings, error) { return IndexSettings{}, &IndexError{source, reason} }
	if _, rest, named := strings.Cut(raw, "="); named && !strings.Contains(strings.SplitN(raw, "=", 2)[0], ":") {
		raw = rest // uv allows NAME=URL
	}
	u, err := url.Parse(strings.TrimSpace(raw))
	switch {
	case err != nil:
		return bad("it cannot be read as a URL")
	case u.Scheme != "https" && u.Scheme != "http":
		return bad("its scheme is " + fmt.Sprintf("%q", plain.Line(u.Scheme, 20)) + ", not https or http")
	case u.Hostname() == "":
		return bad("it names no host")
	case u.RawQuery != "" || u.Fragment != "":
		return bad("it has a query or a fragment")
	}
	i := IndexSettings{Source: source}
	if u.User != nil {
		pw, _ := u.User.Password()
		i.Credentials = Credentials{u.User.Username(), Secret(pw)}
	}
	u.User = nil
	i.URL = strings.TrimRight(u.String(), "/")
	return i, nil
}

func (s IndexSources) certificates(conf pipConfig) (files []string) {
	for _, key := range []string{"SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "PIP_CERT", "CURL_CA_BUNDLE"} {
		if v := s.Getenv(key); v != "" && !has(files, v) {
			files = append(files, v)
		}
	}
	if v, ok := conf["cert"]; ok && v.text != "" && !has(files, v.text) {
		files = append(files, v.text)
	}
	return files
}

func (s IndexSources) proxyConfig() httpproxy.Config {
	either := func(a, b string) string {
		if v := s.Getenv(a); v != "" {
			return v
		}
		return s.Getenv(b)
	}
	return httpproxy.Config{
		HTTPProxy: either("http_proxy", "HTTP_PROXY"), HTTPSProxy: either("https_proxy", "HTTPS_PROXY"), NoProxy: either("no_proxy", "NO_PROXY"),
	}
}

// url returns the parsed URL of the settings.
func (i IndexSettings) url() (*url.URL, error) {
	raw := i.URL
	if raw == "" {
		raw = defaultIndex
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return nil, &IndexError{i.Source, "it cannot be read as a URL"}
	}
	u.User = nil
	return u, nil
}
