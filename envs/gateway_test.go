package envs

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/http/httpproxy"
)

// gatewayTo serves a gateway to the settings' index.
func gatewayTo(t *testing.T, i IndexSettings) (*Gateway, string) {
	t.Helper()
	g, err := NewGateway(i, nil)
	require.NoError(t, err)
	server := httptest.NewServer(g)
	t.Cleanup(server.Close)
	return g, server.URL
}

func get(t *testing.T, url string, header ...string) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, resp.Header, string(body)
}

func answer(kind, body string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasPrefix(r.URL.Path, "/simple/") {
			return false
		}
		w.Header().Set("Content-Type", kind)
		fmt.Fprint(w, body)
		return true
	}
}

const digest = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

const jsonBody = `{"meta":{"api-version":"1.1"},"name":"x","files":[
 {"filename":"x-1-py3-none-any.whl","url":"../../packages/x-1-py3-none-any.whl","hashes":{"sha256":"` + digest + `","bad hash":"zz"},"requires-python":">=3.8","core-metadata":{"sha256":"` + digest + `"},"size":7,"upload-time":"2026-01-01T00:00:00Z","yanked":false},
 {"filename":"x-2-py3-none-any.whl","url":"https://user:pw@cdn.test/x-2-py3-none-any.whl?sig=1","hashes":{},"dist-info-metadata":true,"yanked":"broken <b>"},
 {"filename":"x-3.tar.gz","url":"https://cdn.test/x-3.tar.gz","hashes":{},"yanked":true},
 {"filename":"x-4.zip","url":"file:///etc/passwd","hashes":{}}]}`

const htmlBody = `<html><body><a href="../../packages/x-1-py3-none-any.whl#sha256=` + digest + `" data-requires-python="&gt;=3.8" data-core-metadata="sha256=` + digest + `">x-1</a>
<a href="https://user:pw@cdn.test/x-2-py3-none-any.whl?sig=1" data-dist-info-metadata="true" data-yanked="broken &lt;b&gt;">x</a>
<A HREF="https://cdn.test/x-3.tar.gz" data-yanked>x-3</A><a href="javascript:alert(1)">js</a><a>none</a><a href="https://cdn.test/a%2fb">slash</a></body></html>`

func TestPagesInBothForms(t *testing.T) {
	for kind, body := range map[string]string{jsonType: jsonBody, "text/html; charset=utf-8": htmlBody, htmlType: htmlBody} {
		x := newIndex(t)
		x.Answer = answer(kind, body)
		_, at := gatewayTo(t, IndexSettings{URL: x.simple()})
		status, header, page := get(t, at+"/simple/x/", "Accept", jsonType+", text/html;q=0.1")
		require.Equal(t, 200, status, page)
		assert.Equal(t, jsonType, header.Get("Content-Type"))
		var p simpleJSON
		require.NoError(t, json.Unmarshal([]byte(page), &p))
		require.Len(t, p.Files, 3, "links that cannot be fetched are left out")
		assert.Equal(t, map[string]string{"sha256": digest}, p.Files[0].Hashes)
		assert.Equal(t, ">=3.8", *p.Files[0].RequiresPython)
		assert.JSONEq(t, `{"sha256":"`+digest+`"}`, string(p.Files[0].CoreMetadata))
		assert.Equal(t, "true", string(p.Files[1].OldMetadata))
		assert.JSONEq(t, `"broken <b>"`, string(p.Files[1].Yanked))
		assert.Equal(t, "true", string(p.Files[2].Yanked))
		assert.Nil(t, p.Files[0].Yanked)
		for _, f := range p.Files {
			assert.Regexp(t, `\A/files/[0-9a-f]{32}/`+regexp.QuoteMeta(f.Filename)+`\z`, f.URL)
		}
		assert.NotContains(t, page, "pw")
		assert.NotContains(t, page, "sig=1")

		status, header, page = get(t, at+"/simple/x", "Accept", "text/html")
		require.Equal(t, 200, status)
		assert.Contains(t, header.Get("Content-Type"), "text/html")
		again, err := parseHTMLPage(urlOf(t, at), "x", []byte(page))
		require.NoError(t, err)
		require.Len(t, again.Files, 3)
		assert.Equal(t, digest, again.Files[0].Hashes["sha256"])
		assert.Equal(t, ">=3.8", again.Files[0].RequiresPython)
		assert.Equal(t, digest, again.Files[0].Metadata.Hashes["sha256"])
		require.NotNil(t, again.Files[1].Yanked)
		assert.Equal(t, "broken <b>", *again.Files[1].Yanked)
		require.NotNil(t, again.Files[2].Yanked)
		assert.Empty(t, *again.Files[2].Yanked)
	}
}

func TestFilesRangesAndMetadata(t *testing.T) {
	x := newIndex(t)
	x.put("x-1-py3-none-any.whl", []byte("0123456789"))
	x.put("x-1-py3-none-any.whl.metadata", []byte("Name: x\n"))
	x.Answer = answer(jsonType, jsonBody)
	g, at := gatewayTo(t, IndexSettings{URL: x.simple()})
	sum := sha256.Sum256([]byte(x.URL + "/packages/x-1-py3-none-any.whl"))
	file := at + "/files/" + hex.EncodeToString(sum[:16]) + "/x-1-py3-none-any.whl"
	status, header, body := get(t, file) // a tool may have the page from another day
	require.Equal(t, 200, status)
	status, _, _ = get(t, strings.Replace(file, hex.EncodeToString(sum[:16]), strings.Repeat("0", 32), 1))
	require.Equal(t, 404, status, "no page names it")
	assert.Equal(t, "0123456789", body)
	assert.Equal(t, "bytes", header.Get("Accept-Ranges"))
	status, header, body = get(t, file, "Range", "bytes=2-4")
	assert.Equal(t, 206, status)
	assert.Equal(t, "234", body)
	assert.Equal(t, "bytes 2-4/10", header.Get("Content-Range"))
	status, _, _ = get(t, file, "Range", "bytes=99-")
	assert.Equal(t, 416, status)
	status, _, body = get(t, file+".metadata")
	require.Equal(t, 200, status)
	assert.Equal(t, "Name: x\n", body)
	head, err := http.Head(file)
	require.NoError(t, err)
	defer head.Body.Close()
	assert.Equal(t, int64(10), head.ContentLength)
	for _, other := range []string{file + ".asc", strings.Replace(file, "x-1", "x-2", 1), at + "/files/" + strings.Repeat("0", 32) + "/x", at + "/files/http%3A%2F%2Fx/y", at + "/simple/", at + "/simple/../x/", at + "/simple/X_y/", at + "/"} {
		status, _, _ := get(t, other)
		assert.Equal(t, 404, status, other)
	}
	resp, err := http.Post(file, "text/plain", strings.NewReader("x"))
	require.NoError(t, err)
	defer resp.Body.Close()
	assert.Equal(t, 405, resp.StatusCode)
	assert.Empty(t, g.Failures())
}

func TestCredentialsGoToTheIndexAlone(t *testing.T) {
	other := newIndex(t)
	other.put("x-1-py3-none-any.whl", []byte("whl"))
	x := newIndex(t)
	x.Answer = func(w http.ResponseWriter, r *http.Request) bool {
		if u, p, ok := r.BasicAuth(); !ok || u != "ann" || p != "hunter2" {
			w.WriteHeader(http.StatusUnauthorized)
			return true
		}
		if strings.HasPrefix(r.URL.Path, "/packages/") {
			http.Redirect(w, r, other.URL+r.URL.Path, http.StatusFound)
			return true
		}
		return answer(jsonType, jsonBody)(w, r)
	}
	_, at := gatewayTo(t, IndexSettings{URL: x.simple(), Credentials: Credentials{"ann", "hunter2"}})
	_, _, page := get(t, at+"/simple/x/", "Accept", jsonType, "Authorization", "Basic dG9vbDp0b29s", "Cookie", "a=b")
	assert.NotContains(t, page, "hunter2")
	var p simpleJSON
	require.NoError(t, json.Unmarshal([]byte(page), &p))
	status, _, body := get(t, at+p.Files[0].URL)
	require.Equal(t, 200, status)
	assert.Equal(t, "whl", body)
	require.Len(t, other.requests(), 1)
	assert.Empty(t, other.requests()[0].Header.Get("Authorization"))
	for _, r := range x.requests() {
		assert.Empty(t, r.Header.Get("Cookie"), "nothing of the tool's passes")
	}

	g, at := gatewayTo(t, IndexSettings{URL: x.simple(), Credentials: Credentials{"ann", "wrong-hunter3"}})
	status, _, body = get(t, at+"/simple/x/")
	assert.Equal(t, http.StatusFailedDependency, status)
	require.Len(t, g.Failures(), 1)
	assert.Equal(t, 401, g.Failures()[0].Status)
	assert.NotContains(t, body+g.Failures()[0].Error(), "hunter3")
}

func TestTheCauseOfEachFailure(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	nobody := "http://" + closed.Addr().String()
	require.NoError(t, closed.Close())
	tls := httptest.NewUnstartedServer(http.NotFoundHandler())
	tls.Config.ErrorLog = log.New(io.Discard, "", 0)
	tls.StartTLS()
	t.Cleanup(tls.Close)
	plain := newIndex(t)
	odd := func(kind, body string) IndexSettings {
		x := newIndex(t)
		x.Answer = answer(kind, body)
		return IndexSettings{URL: x.simple()}
	}
	status := func(code int) IndexSettings {
		x := newIndex(t)
		x.Answer = func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(code); return true }
		return IndexSettings{URL: x.simple()}
	}
	loop := newIndex(t)
	loop.Answer = func(w http.ResponseWriter, r *http.Request) bool {
		http.Redirect(w, r, r.URL.Path, http.StatusFound)
		return true
	}
	for what, c := range map[string]struct {
		index  IndexSettings
		cause  string
		status int
		reply  int
	}{
		"nobody answers":    {IndexSettings{URL: nobody}, CauseConnect, 0, 424},
		"no such name":      {IndexSettings{URL: "http://no-such-host.invalid/simple"}, CauseDNS, 0, 424},
		"unknown authority": {IndexSettings{URL: tls.URL}, CauseTLS, 0, 424},
		"no TLS":            {IndexSettings{URL: "https" + strings.TrimPrefix(plain.URL, "http")}, CauseTLS, 0, 424},
		"proxy is down":     {IndexSettings{URL: "http://index.invalid/simple", proxy: httpproxy.Config{HTTPProxy: nobody}}, CauseProxy, 0, 424},
		"404":               {status(404), CauseStatus, 404, 404},
		"401":               {status(401), CauseStatus, 401, 424},
		"403":               {status(403), CauseStatus, 403, 424},
		"503":               {status(503), CauseStatus, 503, 503},
		"no type":           {odd("", "x"), CauseFormat, 0, 424},
		"another type":      {odd("image/png", "x"), CauseFormat, 0, 424},
		"damaged JSON":      {odd(jsonType, "{"), CauseFormat, 0, 424},
		"another API":       {odd(jsonType, `{"meta":{"api-version":"2.0"}}`), CauseFormat, 0, 424},
		"another HTML":      {odd("text/html", `<meta name="pypi:repository-version" content="2.0">`), CauseFormat, 0, 424},
		"a loop":            {IndexSettings{URL: loop.simple()}, CauseOther, 0, 424},
	} {
		t.Run(what, func(t *testing.T) {
			g, at := gatewayTo(t, c.index)
			reply, _, body := get(t, at+"/simple/x/")
			require.Len(t, g.Failures(), 1, body)
			f := g.Failures()[0]
			assert.Equal(t, c.cause, f.Cause, f.Error())
			assert.Equal(t, c.status, f.Status)
			assert.Equal(t, c.reply, reply)
			assert.Contains(t, f.URL, "/x/")
		})
	}
}

func TestTheOperatorsCertificatesAreTrusted(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer(jsonType, jsonBody)(w, r)
	}))
	t.Cleanup(server.Close)
	bundle := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(bundle, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600))
	_, at := gatewayTo(t, IndexSettings{URL: server.URL + "/simple", Certificates: []string{bundle}})
	status, _, body := get(t, at+"/simple/x/")
	assert.Equal(t, 200, status, body)
}

func TestTheHostsProxyIsUsed(t *testing.T) {
	x := newIndex(t) // plays the proxy: it sees the absolute form
	x.Answer = answer(jsonType, jsonBody)
	_, at := gatewayTo(t, IndexSettings{URL: "http://index.invalid/simple", proxy: httpproxy.Config{HTTPProxy: x.URL}})
	status, _, body := get(t, at+"/simple/x/")
	require.Equal(t, 200, status, body)
	assert.Equal(t, "index.invalid", x.requests()[0].Host)
}

func TestARedirectToPlainHTTPIsRefused(t *testing.T) {
	x := newIndex(t)
	server := httptest.NewTLSServer(http.RedirectHandler(x.simple()+"/x/", http.StatusFound))
	t.Cleanup(server.Close)
	g, err := NewGateway(IndexSettings{URL: server.URL}, server.Client())
	require.NoError(t, err)
	front := httptest.NewServer(g)
	t.Cleanup(front.Close)
	get(t, front.URL+"/simple/x/")
	require.Len(t, g.Failures(), 1)
	assert.ErrorContains(t, g.Failures()[0], "redirects from https to http")
	assert.Empty(t, x.requests())
}

func TestABodyThatIsCutOffIsNotPassedOnAsWhole(t *testing.T) {
	x := newIndex(t)
	x.Answer = func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasPrefix(r.URL.Path, "/packages/") {
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "short")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
		return answer(jsonType, jsonBody)(w, r)
	}
	g, err := NewGateway(IndexSettings{URL: x.simple()}, nil)
	require.NoError(t, err)
	server := httptest.NewServer(g)
	t.Cleanup(server.Close)
	_, _, page := get(t, server.URL+"/simple/x/", "Accept", jsonType)
	var p simpleJSON
	require.NoError(t, json.Unmarshal([]byte(page), &p))
	resp, err := http.Get(server.URL + p.Files[0].URL)
	if err == nil {
		_, err = io.ReadAll(resp.Body)
		resp.Body.Close()
	}
	require.Error(t, err)
	server.Close() // waits for the handler, which notes the failure last
	require.NotEmpty(t, g.Failures())
	assert.Equal(t, CauseCut, g.Failures()[0].Cause)
}

func FuzzPages(f *testing.F) {
	f.Add([]byte(jsonBody), true)
	f.Add([]byte(htmlBody), false)
	base := urlOf(f, "https://index.test/simple/x/")
	f.Fuzz(func(t *testing.T, data []byte, asJSON bool) {
		p, err := parseHTMLPage(base, "x", data)
		if asJSON {
			p, err = parseJSONPage(base, data)
		}
		if err != nil {
			return
		}
		page, err := p.html()
		require.NoError(t, err)
		again, err := parseHTMLPage(urlOf(t, "http://127.0.0.1:3141/simple/x/"), "x", page)
		require.NoError(t, err)
		require.Len(t, again.Files, len(p.Files))
		for i, file := range again.Files {
			assert.Equal(t, "127.0.0.1:3141", file.URL.Host, "every link leads to the gateway")
			assert.Equal(t, p.Files[i].Filename, file.Filename)
		}
		_, err = p.json()
		require.NoError(t, err)
	})
}
