package egress

import (
	"net/http"
	"slices"
	"strings"
)

// hop are the fields that belong to one connection, and those that the proxy
// writes itself.
var hop = []string{
	"connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "content-length", "host", "expect",
}

// telling are fields by which a client could say where it came from, or
// choose the way that other proxies take.
var telling = []string{"via", "forwarded", "x-real-ip", "x-unix-socket", "x-upstream-https-proxy"}

var hopPrefixes = []string{"proxy-", "x-forwarded-", "x-kernel-launch-"}

// OwnField is true for a request field that belongs to one connection or that
// the proxy writes itself. A Credential under such a name would never arrive.
func OwnField(name string) bool {
	name = strings.ToLower(name)
	return slices.Contains(hop, name) || strings.HasPrefix(name, "proxy-")
}

// stripped is true for a request field that stays here. An underscore counts
// as a hyphen, since servers that speak CGI cannot tell them apart.
func stripped(name string, named []string) bool {
	if slices.Contains(named, name) {
		return true
	}
	name = strings.ReplaceAll(name, "_", "-")
	return slices.Contains(hop, name) || slices.Contains(telling, name) || hasPrefix(name, hopPrefixes)
}

func hasPrefix(name string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// upstreamHeader gives what the origin gets of the client's fields. What the
// Connection field names goes too, but that field is taken at its word only
// for fields that the proxy does not write itself.
func (h *head) upstreamHeader() http.Header {
	out := http.Header{}
	for _, f := range h.fields {
		if !stripped(f.name, h.connection) {
			out.Add(f.name, f.value)
		}
	}
	if _, ok := out["User-Agent"]; !ok {
		out["User-Agent"] = nil // or net/http adds its own
	}
	if h.expect {
		out.Set("Expect", "100-continue")
	}
	return out
}

// clientHeader gives what the client gets of the origin's fields.
func clientHeader(in http.Header) http.Header {
	var named []string
	for _, v := range in.Values("Connection") {
		for t := range strings.SplitSeq(v, ",") {
			named = append(named, strings.ToLower(strings.TrimSpace(t)))
		}
	}
	out := http.Header{}
	for name, values := range in {
		lower := strings.ToLower(name)
		if slices.Contains(named, lower) || slices.Contains(hop, lower) || hasPrefix(lower, []string{"proxy-", "x-kernel-launch-"}) {
			continue
		}
		out[name] = values
	}
	return out
}
