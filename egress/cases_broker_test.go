package egress

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/internal/cases"
)

// brokerRequest is one request of a kernel's and the certificate that its host shows, of its own name unless another is said.
type brokerRequest struct{ URL, Authorization, Certificate, Connect string }

func brokerCase(t *testing.T, row oneCase) {
	want, requests := cases.As[[]any](t, row.Expected.Verdict), cases.As[[]brokerRequest](t, row.Input.Requests)
	require.Len(t, want, len(requests))
	for i, request := range requests {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			w, got := brokered(t, row, request)
			if request.Connect != "" {
				w.call("CONNECT " + request.Connect + " HTTP/1.1\r\n\r\n").opened()
				assert.Equal(t, "tunnel without", want[i])
				report := w.proxy.Check(t.Context(), mustTarget(t, request.Connect))
				assert.Equal(t, []string{row.Input.Rule.Header}, report.Credentials, "a check says what a tunnel goes without")
				return
			}
			fields := ""
			if request.Authorization != "" {
				fields = row.Input.Rule.Header + ": " + request.Authorization + "\r\n"
			}
			resp, body := w.call(fetch(request.URL, fields)).answer()
			row.judge(t, want[i], resp, *got)
			logged, err := json.Marshal(w.waitEvent(0))
			require.NoError(t, err)
			for _, secret := range row.Expected.NeverLogged {
				assert.NotContains(t, string(logged)+body+resp.Status, secret)
			}
		})
	}
}

// judge reads a verdict: a status, a redirect that went back, or what the host got in the header.
func (row oneCase) judge(t *testing.T, want any, resp *http.Response, got []string) {
	switch want := want.(type) {
	case float64:
		assert.EqualValues(t, want, resp.StatusCode)
		assert.Empty(t, got, "the host was asked nothing")
	case string:
		if want == "302 to the client" {
			assert.Equal(t, 302, resp.StatusCode)
			assert.Equal(t, "https://other.example.org/", resp.Header.Get("Location"))
			assert.Len(t, got, 1, "only the first host was asked")
			return
		}
		require.Len(t, got, 1)
		assert.Equal(t, want == "none", got[0] != row.Input.Rule.Secret)
	}
}

// brokered is a proxy that knows the row's credential, and what its hosts got in that header. All names lead to one TLS server.
func brokered(t *testing.T, row oneCase, request brokerRequest) (*world, *[]string) {
	var got []string
	name := request.Certificate
	if name == "" {
		name = strings.Split(strings.TrimPrefix(request.URL, "http://"), "/")[0]
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header.Get(row.Input.Rule.Header))
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, "https://other.example.org/", http.StatusFound)
		}
	}))
	cert, roots := certificateFor(t, name)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	if name == "other.example.org" { // no credential goes there, so it is spoken to in the clear
		s.Start()
	} else {
		s.StartTLS()
	}
	t.Cleanup(s.Close)
	return newWorld(t, withOrigin(s.Listener.Addr().String()), func(w *world) {
		w.rules, w.proxy.TLS = mustRules(row.Input.Allow...), &tls.Config{RootCAs: roots}
		rule := row.Input.Rule
		w.proxy.Credentials = func() []Credential {
			return []Credential{{Host: rule.Host, Header: rule.Header, Value: func(context.Context) (Secret, error) { return Secret(rule.Secret), nil }}}
		}
	}), &got
}

// certificateFor is a certificate that signs itself for one name, and the pool that trusts it.
func certificateFor(t *testing.T, name string) (tls.Certificate, *x509.CertPool) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	leaf, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	roots := x509.NewCertPool()
	roots.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, roots
}
