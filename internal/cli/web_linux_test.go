package cli

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	mathrand "math/rand/v2"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// web is what stands behind www.example.com and other.example.com, on loopback, by TLS and without: a file, a package index for Python, one for R, and a
// git repository.
type web struct {
	t          *testing.T
	dir        string
	data       []byte
	authority  []byte // the certificate that a client has to know, as PEM
	tls, plain string // HOST:PORT
}

func newWeb(t *testing.T) *web {
	dir, err := os.MkdirTemp(base, "web-")
	require.NoError(t, err)
	w := &web{t: t, dir: dir, data: make([]byte, 300_006)}
	mathrand.NewChaCha8([32]byte{}).Read(w.data)
	w.repository()
	handler := w.handler()
	secured := httptest.NewUnstartedServer(handler)
	secured.TLS = &tls.Config{Certificates: []tls.Certificate{w.certificate()}}
	secured.StartTLS()
	plain := httptest.NewServer(handler)
	t.Cleanup(func() { secured.Close(); plain.Close() })
	w.tls, w.plain = secured.Listener.Addr().String(), plain.Listener.Addr().String()
	return w
}

func (w *web) handler() http.Handler {
	index, err := newDemoIndex()
	require.NoError(w.t, err)
	mux := http.NewServeMux()
	mux.Handle("/simple/", index)
	mux.Handle("/files/", index)
	mux.HandleFunc("/data", func(a http.ResponseWriter, _ *http.Request) { a.Write(w.data) })
	git, err := exec.Command("git", "--exec-path").Output()
	require.NoError(w.t, err)
	mux.Handle("/demo.git/", &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(git)), "git-http-backend"), Stderr: io.Discard,
		Env: []string{"GIT_PROJECT_ROOT=" + w.dir, "GIT_HTTP_EXPORT_ALL=1"},
	})
	mux.HandleFunc("/src/contrib/PACKAGES", func(a http.ResponseWriter, _ *http.Request) { io.WriteString(a, rDescription) })
	mux.HandleFunc("/src/contrib/demo_1.0.tar.gz", func(a http.ResponseWriter, _ *http.Request) { a.Write(w.rPackage()) })
	return mux
}

const rDescription = "Package: demo\nVersion: 1.0\nTitle: Demo\nDescription: Demo.\nLicense: BSD_3_clause\nAuthor: Demo\nMaintainer: Demo <demo@example.com>\nNeedsCompilation: no\n"

// rPackage is a source package of R with one function.
func (w *web) rPackage() []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	a := tar.NewWriter(z)
	for name, text := range map[string]string{"DESCRIPTION": rDescription, "NAMESPACE": "export(answer)\n", "R/answer.R": "answer <- function() 42\n"} {
		a.WriteHeader(&tar.Header{Name: "demo/" + name, Mode: 0o644, Size: int64(len(text))})
		io.WriteString(a, text)
	}
	a.Close()
	z.Close()
	return b.Bytes()
}

// repository makes demo.git, whose one file is the data.
func (w *web) repository() {
	work := filepath.Join(w.dir, "work")
	require.NoError(w.t, os.Mkdir(work, 0o700))
	require.NoError(w.t, os.WriteFile(filepath.Join(work, "data"), w.data, 0o600))
	script := "git init -q . && git add data && git -c user.name=Ada -c user.email=ada@example.com commit -qm data && git clone -q --bare . ../demo.git"
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.Dir, cmd.Env = work, []string{"HOME=" + w.dir, "PATH=/usr/bin:/bin", "GIT_CONFIG_NOSYSTEM=1"}
	out, err := cmd.CombinedOutput()
	require.NoError(w.t, err, "%s", out)
}

// certificate is one for both, by an authority made for it.
func (w *web) certificate() tls.Certificate {
	root := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Test authority"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	rootKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(w.t, err)
	rootDER, err := x509.CreateCertificate(rand.Reader, root, root, rootKey.Public(), rootKey)
	require.NoError(w.t, err)
	w.authority = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: rootDER})

	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "www.example.com"}, NotBefore: root.NotBefore, NotAfter: root.NotAfter,
		DNSNames: []string{"www.example.com", "other.example.com"}, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(w.t, err)
	der, err := x509.CreateCertificate(rand.Reader, leaf, root, key.Public(), rootKey)
	require.NoError(w.t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
