package egress

import (
	"net/url"
	"strings"
)

// cutAbsolute cuts "http://AUTHORITY/path?query" into its authority and what
// an origin server gets as its request target.
func cutAbsolute(method, target string) (authority, path string, err error) {
	scheme, rest, ok := strings.Cut(target, "://")
	switch {
	case !ok:
		return "", "", malformed("not a request to a proxy: the target is no http:// URL")
	case strings.EqualFold(scheme, "https"):
		return "", "", malformed("https goes through CONNECT")
	case !strings.EqualFold(scheme, "http"):
		return "", "", malformed("the scheme is not http")
	}
	end := strings.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}
	authority, path = rest[:end], rest[end:]
	if strings.Contains(authority, `\`) {
		return "", "", malformed("a backslash in the target")
	}
	switch {
	case path == "" && method == "OPTIONS":
		path = "*"
	case path == "" || path[0] == '?':
		path = "/" + path
	}
	return authority, path, nil
}

// plainTarget reads the authority of an http:// URL. A user in front of the
// host is malformed; when it dresses up as a host name, bare gives the host
// behind it, so that a denied one is refused as what it is.
func plainTarget(authority string) (t Target, bare bool, err error) {
	user, host, found := cutLast(authority, '@')
	if found && checkBytes(user) != nil {
		return Target{}, false, malformed("user and password in the target")
	}
	t, err = parseTarget(host, 80)
	return t, !found, err
}

func cutLast(s string, sep byte) (before, after string, found bool) {
	if i := strings.LastIndexByte(s, sep); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return "", s, false
}

// originURL makes net/http send path byte for byte.
func originURL(scheme string, t Target, path string) (*url.URL, error) {
	u := &url.URL{Scheme: scheme, Host: t.String()}
	if !strings.HasPrefix(path, "//") {
		u.Opaque = path
		return u, nil
	}
	// Opaque with two slashes would be taken for a host.
	raw, query, hasQuery := strings.Cut(path, "?")
	u.RawPath, u.RawQuery, u.ForceQuery = raw, query, hasQuery && query == ""
	var err error
	if u.Path, err = url.PathUnescape(raw); err != nil || u.RequestURI() != path {
		return nil, malformed("the path has a byte that has to be escaped")
	}
	return u, nil
}

// hostField is the Host that the origin gets: the target, never what the
// client wrote.
func hostField(scheme string, t Target) string {
	if scheme == "http" && t.Port != 80 || scheme == "https" && t.Port != 443 {
		return t.String()
	}
	if t.Addr.Is6() {
		return "[" + t.Host() + "]"
	}
	return t.Host()
}
