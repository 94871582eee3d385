package launcher

import (
	"bytes"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/internal/link"
	"github.com/kernel-launch/kernel-launch/sandbox"
)

func block(kind, text string) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: []byte(text)})
}

func TestOnlyCertificatesGoIn(t *testing.T) {
	dir := t.TempDir()
	put := func(name string, parts ...[]byte) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, bytes.Join(parts, nil), 0o600))
		return path
	}
	one, two := block("CERTIFICATE", "one"), block("CERTIFICATE", "two")
	mixed := put("mixed.pem", []byte("# subject: one\n"), one, block("PRIVATE KEY", "topsecret"), []byte("topsecret\n"), two)
	key := put("key.pem", block("RSA PRIVATE KEY", "topsecret"))
	same := put("same.pem", one, two)
	large := put("large.pem", bytes.Repeat(block("CERTIFICATE", strings.Repeat("x", 3000)), 300))

	p := &Plan{host: host{env: map[string]string{
		"SSL_CERT_FILE": mixed, "REQUESTS_CA_BUNDLE": same, "PIP_CERT": key, "CURL_CA_BUNDLE": large, "NODE_EXTRA_CA_CERTS": filepath.Join(dir, "none.pem"),
		"GIT_SSL_CAINFO": "relative.pem", "AWS_CA_BUNDLE": "/dev/zero",
	}}}
	p.readAuthorities()
	at := sandbox.PrivateDir + "/certificates-1.pem"
	assert.Equal(t, []link.File{{Path: at, Mode: 0o400, Data: append(bytes.Clone(one), two...)}}, p.authorities.files, "one copy of what is the same")
	assert.Equal(t, map[string]string{"SSL_CERT_FILE": at, "REQUESTS_CA_BUNDLE": at}, p.authorities.variables)
	said := strings.Join(p.Notices, "\n")
	require.Len(t, p.Notices, 5, "what cannot be shown is said, and stops nothing")
	for _, want := range []string{"PIP_CERT are not shown to the kernel: the file holds no certificate", "CURL_CA_BUNDLE are not shown to the kernel: together", "NODE_EXTRA_CA_CERTS are not", "GIT_SSL_CAINFO are not shown to the kernel: relative.pem is not an absolute path", "AWS_CA_BUNDLE are not shown to the kernel: /dev/zero is not a file"} {
		assert.Contains(t, said, want)
	}
}

func TestAListThatTheViewShowsIsNotCopied(t *testing.T) {
	const system = "/usr/lib/os-release" // any file there
	link := filepath.Join(t.TempDir(), "link.pem")
	require.NoError(t, os.Symlink(system, link))
	p := &Plan{host: host{goos: "linux", env: map[string]string{"SSL_CERT_FILE": system, "PIP_CERT": link, "CURL_CA_BUNDLE": "/etc/ssl/certs"}}}
	p.readAuthorities()
	assert.Equal(t, map[string]string{"SSL_CERT_FILE": system, "PIP_CERT": system}, p.authorities.variables)
	assert.Empty(t, p.authorities.files)
	require.Len(t, p.Notices, 1)
	assert.Contains(t, p.Notices[0], "CURL_CA_BUNDLE are not shown to the kernel: /etc/ssl/certs is not a file")
}

func TestTheCertificatesOfAVariableThatTheOperatorSetsAreItsOwn(t *testing.T) {
	p := pythonPlan(map[string]string{"SSL_CERT_FILE": "/host/a.pem", "PIP_CERT": "/host/b.pem"})
	p.authorities.variables = map[string]string{"SSL_CERT_FILE": "/inside/a.pem", "PIP_CERT": "/inside/b.pem"}
	c := DefaultConfig()
	c.Sandbox.Env.Pass, c.Sandbox.Env.Set = []string{"SSL_CERT_FILE"}, map[string]string{"PIP_CERT": "/set"}
	v := p.variables(c, "")
	assert.Equal(t, "/inside/a.pem", v["SSL_CERT_FILE"], "the path on the host leads nowhere inside")
	assert.Equal(t, "/set", v["PIP_CERT"])
}
