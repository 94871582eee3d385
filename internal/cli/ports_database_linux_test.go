package cli

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/internal/witness"
)

// nobody runs a server that refuses to be root's.
const nobody = 65534

// asUser is a command of a user other than root.
func asUser(argv ...string) *exec.Cmd {
	if os.Getuid() == 0 {
		id := fmt.Sprint(nobody)
		argv = append([]string{"setpriv", "--reuid=" + id, "--regid=" + id, "--clear-groups", "--"}, argv...)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = "/", []string{"PATH=/usr/bin:/bin", "LC_ALL=C"}
	return cmd
}

// postgres starts a PostgreSQL of its own, with a password and TLS, on a port of the host's loopback.
func postgres(t *testing.T) (port int) {
	t.Helper()
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	require.NoError(t, err)
	require.NotEmpty(t, found, "run make system-test")
	dir, err := os.MkdirTemp("/var/tmp", "kernel-launch-postgres-")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	require.NoError(t, os.WriteFile(dir+"/password", []byte("tea"), 0o644))
	certify(t, dir)
	if os.Getuid() == 0 {
		for _, path := range []string{dir, dir + "/server.key"} {
			require.NoError(t, os.Chown(path, nobody, nobody))
		}
	}
	data := dir + "/data"
	out, err := asUser(filepath.Dir(found[0])+"/initdb", "-D", data, "-U", "lab", "-A", "scram-sha-256", "--pwfile="+dir+"/password", "-E", "UTF8", "--no-sync").CombinedOutput()
	require.NoError(t, err, "%s", out)

	port = witness.FreePort(t)
	args := []string{found[0], "-D", data, "-p", fmt.Sprint(port)}
	for _, setting := range []string{"listen_addresses=127.0.0.1", "unix_socket_directories=", "ssl=on", "ssl_cert_file=" + dir + "/server.crt", "ssl_key_file=" + dir + "/server.key", "fsync=off"} {
		args = append(args, "-c", setting)
	}
	server := asUser(args...)
	var said witness.Output
	server.Stdout, server.Stderr = &said, &said
	require.NoError(t, server.Start())
	t.Cleanup(func() { server.Process.Signal(syscall.SIGQUIT); server.Wait() })
	require.Eventually(t, func() bool { return strings.Contains(said.String(), "ready to accept connections") }, patience, 10*time.Millisecond, "%s", &said)
	return port
}

// certify writes server.crt, which no authority has signed, and server.key.
func certify(t *testing.T, dir string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, NotAfter: time.Now().Add(time.Hour)}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(dir+"/server.crt", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}), 0o644))
	require.NoError(t, os.WriteFile(dir+"/server.key", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600))
}

// libraries are the flags by which a kernel sees what testdata/requirements.txt brought.
func libraries(t *testing.T) (flags []string) {
	t.Helper()
	site, err := exec.Command(clientPython(t), "-c", "import sysconfig; print(sysconfig.get_path('purelib'), end='')").Output()
	require.NoError(t, err)
	return []string{"--read", string(site), "--set-env", "PYTHONPATH=" + string(site)}
}

// connecting are the flags for libpq inside.
func connecting(port int) (flags []string) {
	for _, kv := range append(libpq, fmt.Sprintf("PGPORT=%d", port)) {
		flags = append(flags, "--set-env", kv)
	}
	return flags
}

var libpq = []string{"PGHOST=localhost", "PGUSER=lab", "PGPASSWORD=tea", "PGDATABASE=postgres"}

const databaseScript = "../../testdata/ports/database.py"

func TestADatabaseOfTheHost(t *testing.T) {
	t.Parallel()
	service := postgres(t)
	script, err := filepath.Abs(databaseScript)
	require.NoError(t, err)
	outside := exec.Command(clientPython(t), script, "reach")
	outside.Env = append(libpq, fmt.Sprintf("PGPORT=%d", service))
	out, err := outside.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, "select 1\n", string(out), "the control: it answers on the host")

	t.Run("named at the start", func(t *testing.T) { t.Parallel(); namedAtTheStart(t, script, service) })
	t.Run("named later", func(t *testing.T) { t.Parallel(); namedLater(t, script, service) })
}

func namedAtTheStart(t *testing.T, script string, service int) {
	w := theWorld()
	require.NoError(t, w.err)
	elsewhere := witness.FreePort(t)
	far := fmt.Sprintf("%d:localhost:%d", elsewhere, service)
	for _, c := range []struct {
		port         int
		config, flag string
		want         string
	}{
		{service, "", "", "refused"},
		{service, "", fmt.Sprint(service), "select 1"},
		{elsewhere, "", far, "select 1"},
		{service, fmt.Sprint(service), "", "select 1"},
		{elsewhere, far, "", "select 1"},
		{service, far, "", "refused"},
	} {
		env := append(w.env, "XDG_CONFIG_HOME="+t.TempDir())
		if c.config != "" {
			set := w.command("folder", "set", "forward", c.config)
			set.Env = env
			out, err := set.CombinedOutput()
			require.NoError(t, err, "%s", out)
		}
		args := append([]string{"run", "--read", script}, append(libraries(t), connecting(c.port)...)...)
		if c.flag != "" {
			args = append(args, "--forward", c.flag)
		}
		cmd := w.command(append(args, "--", "python", script, "reach")...)
		cmd.Env = env
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		assert.Equal(t, c.want+"\n", string(out), "%v", c)
	}
}

func namedLater(t *testing.T, script string, service int) {
	k := start(t, append(libraries(t), connecting(service)...)...)
	id := k.id()
	forward := func(args ...string) {
		t.Helper()
		_, status := k.asks(append([]string{"kernel", "forward", id}, args...)...)
		require.Zero(t, status, args)
	}
	text, err := os.ReadFile(script)
	require.NoError(t, err)
	k.does(string(text))
	k.does(`assert reach() == "refused", reach()`)

	forward(fmt.Sprint(service))
	k.does("done = work()\nassert done == (True, False, True, ['cancelled', 2], ['late']), done")
	k.does("held = psycopg.connect()")
	forward(fmt.Sprint(service), "--off")
	k.does("assert reach() == 'refused', reach()")
	k.does("try: held.execute('select 1')\nexcept psycopg.OperationalError: pass\nelse: raise SystemError('it goes on')")
	elsewhere := witness.FreePort(t)
	forward(fmt.Sprintf("%d:localhost:%d", elsewhere, service))
	k.does(fmt.Sprintf("assert reach(%d) == 'select 1', reach()", elsewhere))
	require.Eventually(t, func() bool { return logged(t, k, fmt.Sprintf("forward %d", service))["allow"] == 7 }, 30*time.Second, 100*time.Millisecond,
		"the idle one, the busy one, the one that watched it, the one that cancelled it, two for TLS, the one that was held")
}

// logged counts the verdicts of one rule in the log.
func logged(t *testing.T, k *started, rule string) map[string]int {
	t.Helper()
	log, status := k.asks("egress", "log", "--kernel", k.id(), "--last", "0")
	require.Zero(t, status)
	verdicts := map[string]int{}
	for _, e := range log["items"].([]any) {
		if e := e.(map[string]any); e["rule"] == rule {
			verdicts[e["verdict"].(string)]++
		}
	}
	return verdicts
}
