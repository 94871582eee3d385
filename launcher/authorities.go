package launcher

import (
	"bytes"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kernel-launch/kernel-launch/internal/link"
	"github.com/kernel-launch/kernel-launch/internal/plain"
	"github.com/kernel-launch/kernel-launch/sandbox"
)

// authorityVariables name files of certificates that a site has added to, or put in the place of, those of the system.
var authorityVariables = []string{
	"SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "PIP_CERT", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO", "AWS_CA_BUNDLE",
}

// authoritiesMost bounds all copies together: they stand in memory inside, beside the connection file. A whole system's list has 220 KiB.
const authoritiesMost = 768 << 10

// authorities are the certificates that the launcher's variables name, copied: a variable must not choose what a kernel sees of the host.
type authorities struct {
	files     []link.File
	variables map[string]string
}

// shownAuthorities are folders that every view of a Linux system shows: a list that lies there needs no copy.
var shownAuthorities = []string{"/etc/ssl/certs/", "/etc/pki/ca-trust/", "/etc/pki/tls/certs/", "/etc/ca-certificates/", "/usr/share/", "/usr/lib/"}

// readAuthorities copies what can be read and is not there anyway; what cannot is said, and the kernel starts without it.
func (p *Plan) readAuthorities() {
	p.authorities = authorities{variables: map[string]string{}}
	left := authoritiesMost
	read := map[string][]byte{} // the variables mostly name one file
	for _, name := range authorityVariables {
		path := p.host.env[name]
		if path == "" {
			continue
		}
		if shown := shownAuthority(p.host.goos, path); shown != "" {
			p.authorities.variables[name] = shown
			continue
		}
		data, known := read[path]
		var err error
		if !known {
			data, err = certificatesIn(path)
		}
		if err == nil {
			read[path] = data
			left, err = p.authorities.add(name, data, left)
		}
		if err != nil {
			p.Notices = append(p.Notices, fmt.Sprintf("the certificates of %s are not shown to the kernel: %s", name, plain.Line(err.Error(), 400)))
		}
	}
}

// shownAuthority is where path really lies, when the kernel sees it there.
func shownAuthority(goos, path string) string {
	real, err := filepath.EvalSymlinks(path)
	if goos != "linux" || err != nil || !filepath.IsAbs(path) || !slices.ContainsFunc(shownAuthorities, func(dir string) bool { return strings.HasPrefix(real, dir) }) {
		return ""
	}
	if info, err := os.Stat(real); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return real
}

// add shows each list once, however many variables name it.
func (a *authorities) add(name string, data []byte, left int) (int, error) {
	at := slices.IndexFunc(a.files, func(f link.File) bool { return bytes.Equal(f.Data, data) })
	if at < 0 {
		if len(data) > left {
			return left, fmt.Errorf("together they are larger than %d KiB", authoritiesMost>>10)
		}
		left -= len(data)
		at = len(a.files)
		a.files = append(a.files, link.File{Path: fmt.Sprintf("%s/certificates-%d.pem", sandbox.PrivateDir, at+1), Mode: 0o400, Data: data})
	}
	a.variables[name] = a.files[at].Path
	return left, nil
}

// certificatesIn takes the certificates out of a file and leaves everything else, keys above all.
func certificatesIn(path string) ([]byte, error) {
	if !filepath.IsAbs(path) {
		return nil, fmt.Errorf("%s is not an absolute path", path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // opening a pipe would wait
		return nil, fmt.Errorf("%s is not a file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	const most = 4 << 20
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, err
	}
	if len(text) > most {
		return nil, fmt.Errorf("%s is larger than %d MiB", path, most>>20)
	}
	return onlyCertificates(text)
}

var errNoCertificate = errors.New("the file holds no certificate")

func onlyCertificates(text []byte) ([]byte, error) {
	var out bytes.Buffer
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			break
		}
		if block.Type == "CERTIFICATE" {
			pem.Encode(&out, &pem.Block{Type: block.Type, Bytes: block.Bytes})
		}
	}
	if out.Len() == 0 {
		return nil, errNoCertificate
	}
	return out.Bytes(), nil
}
