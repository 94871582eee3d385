package envs

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func sources(goos string, env, files map[string]string) IndexSources {
	return IndexSources{
		Goos: goos, Home: "/home/u", Getenv: func(k string) string { return env[k] },
		ReadFile: func(p string) ([]byte, error) {
			if text, ok := files[p]; ok {
				return []byte(text), nil
			}
			return nil, os.ErrNotExist
		},
	}
}

func TestWhereTheIndexComesFrom(t *testing.T) {
	conf := func(url string) string {
		return "[global]\ntimeout = 3\n[list]\nindex-url = https://wrong.test\n[install]\nindex_url: " + url + "\n"
	}
	for _, c := range []struct {
		what, configured string
		goos             string
		env, files       map[string]string
		url, source      string
	}{
		{"nothing", "", "linux", nil, nil, "https://pypi.org/simple", "default"},
		{"configured", "https://own.test/simple/", "linux", map[string]string{"PIP_INDEX_URL": "https://pip.test"}, nil, "https://own.test/simple", "install.index"},
		{"pip before uv", "", "linux", map[string]string{"PIP_INDEX_URL": "https://pip.test/s", "UV_DEFAULT_INDEX": "https://uv.test"}, nil, "https://pip.test/s", "PIP_INDEX_URL"},
		{"uv with a name", "", "linux", map[string]string{"UV_DEFAULT_INDEX": "lab=https://uv.test/s"}, nil, "https://uv.test/s", "UV_DEFAULT_INDEX"},
		{"uv before the file", "", "linux", map[string]string{"UV_INDEX_URL": "https://uv.test/s"}, map[string]string{"/etc/pip.conf": conf("https://etc.test")}, "https://uv.test/s", "UV_INDEX_URL"},
		{"the machine's file", "", "linux", nil, map[string]string{"/etc/pip.conf": conf("https://etc.test/s")}, "https://etc.test/s", "/etc/pip.conf"},
		{"the user's file wins", "", "linux", nil, map[string]string{"/etc/pip.conf": conf("https://etc.test"), "/home/u/.config/pip/pip.conf": conf("https://user.test")}, "https://user.test", "/home/u/.config/pip/pip.conf"},
		{"the named file wins", "", "linux", map[string]string{"PIP_CONFIG_FILE": "/x"}, map[string]string{"/x": conf("https://x.test"), "/home/u/.pip/pip.conf": conf("https://user.test")}, "https://x.test", "/x"},
		{"no files at all", "", "linux", map[string]string{"PIP_CONFIG_FILE": "/dev/null"}, map[string]string{"/etc/pip.conf": conf("https://etc.test")}, "https://pypi.org/simple", "default"},
		{"macOS", "", "darwin", nil, map[string]string{"/home/u/Library/Application Support/pip/pip.conf": conf("https://mac.test")}, "https://mac.test", "/home/u/Library/Application Support/pip/pip.conf"},
		{"Windows", "", "windows", map[string]string{"APPDATA": `C:\A`}, map[string]string{`C:\A\pip\pip.ini`: conf("https://win.test")}, "https://win.test", `C:\A\pip\pip.ini`},
		{"find-links have no say", "", "linux", map[string]string{"PIP_FIND_LINKS": "/opt", "PIP_EXTRA_INDEX_URL": "https://extra.test"}, nil, "https://pypi.org/simple", "default"},
	} {
		t.Run(c.what, func(t *testing.T) {
			s := sources(c.goos, c.env, c.files)
			s.Configured = c.configured
			i, err := FindIndex(s)
			require.NoError(t, err)
			assert.Equal(t, c.url, i.URL)
			assert.Equal(t, c.source, i.Source)
			assert.True(t, i.Credentials.empty())
		})
	}
}

func TestAnIndexThatCannotBe(t *testing.T) {
	for url, reason := range map[string]string{
		"file:///opt": "scheme", "ftp://u:hunter2@x": "scheme", "https://u:hunter2@": "no host", "http://u:hunter2@x:port/": "cannot be read", "https://u:hunter2@x/?q": "query", "simple": "scheme",
	} {
		s := sources("linux", nil, nil)
		s.Configured = url
		_, err := FindIndex(s)
		var ie *IndexError
		require.ErrorAs(t, err, &ie, url)
		assert.Contains(t, ie.Reason, reason)
		assert.Equal(t, "install.index", ie.Source)
		assert.NotContains(t, err.Error(), "hunter2")
	}
}

func TestCredentialsComeFromTheURLOrNetrc(t *testing.T) {
	netrc := "# machine own.test login no password no\nmacdef init\nmachine own.test login macro\n\nmachine other.test login a password b\nmachine own.test\n  login ann\n  account x\n  password \"hunter2\"\ndefault login d password e\n"
	files := map[string]string{"/home/u/.netrc": netrc, "/n": "machine own.test login named password p"}
	for _, c := range []struct {
		url, netrc string
		want       Credentials
	}{
		{"https://bob:s%40fe@own.test/simple", "", Credentials{"bob", "s@fe"}},
		{"https://token@own.test/simple", "", Credentials{"token", ""}},
		{"https://own.test:8443/simple", "", Credentials{"ann", "hunter2"}},
		{"https://third.test/simple", "", Credentials{"d", "e"}},
		{"https://own.test/simple", "/n", Credentials{"named", "p"}},
		{"https://third.test/simple", "/n", Credentials{}},
	} {
		s := sources("linux", map[string]string{"NETRC": c.netrc}, files)
		s.Configured = c.url
		i, err := FindIndex(s)
		require.NoError(t, err)
		assert.True(t, c.want == i.Credentials, "%s", c.url)
		assert.NotContains(t, i.URL, "@")
	}
}

func TestCredentialsAreNeverShown(t *testing.T) {
	i := IndexSettings{URL: "https://x.test", Credentials: Credentials{"tok-hunter2", "hunter2"}}
	data, err := json.Marshal(i)
	require.NoError(t, err)
	shown := string(data) + fmt.Sprintf("%v %+v %#v %q %x", i, i, i, i.Credentials, i.Credentials) + fmt.Sprintf("%v %s %#v %q %x", i.Credentials.Password, i.Credentials.Password, i.Credentials.Password, i.Credentials.Password, i.Credentials.Password)
	assert.NotContains(t, shown, "hunter2")
	assert.NotContains(t, shown, fmt.Sprintf("%x", "hunter2"))
	assert.Contains(t, shown, hidden)
}

func TestCertificatesAndProxy(t *testing.T) {
	s := sources("linux", map[string]string{
		"SSL_CERT_FILE": "/a.pem", "REQUESTS_CA_BUNDLE": "/b.pem", "PIP_CERT": "/a.pem", "CURL_CA_BUNDLE": "/c.pem", "HTTPS_PROXY": "http://big:1", "https_proxy": "http://small:2", "NO_PROXY": "x.test",
	}, map[string]string{"/etc/pip.conf": "[global]\ncert =\n  /d.pem\n"})
	i, err := FindIndex(s)
	require.NoError(t, err)
	assert.Equal(t, []string{"/a.pem", "/b.pem", "/c.pem", "/d.pem"}, i.Certificates)
	assert.Equal(t, "http://small:2", i.proxy.HTTPSProxy)
	assert.Equal(t, "x.test", i.proxy.NoProxy)
	_, err = i.NewClient()
	var ce *CertificateError
	require.ErrorAs(t, err, &ce)
	for _, f := range i.Certificates {
		assert.ErrorContains(t, err, f, "every file that cannot be read")
	}
}
