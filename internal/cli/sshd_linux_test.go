package cli

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"github.com/stretchr/testify/require"
)

// sshServer is git.example.com: OpenSSH's server on loopback, started for each connection. Its one user is git, with the home of the web, who is whoever
// runs the tests. The folder keys gets what a client needs.
func (w *web) sshServer(keys string) (addr string) {
	require.NoError(w.t, os.MkdirAll(keys, 0o700))
	w.key(filepath.Join(w.dir, "host"))
	w.key(filepath.Join(keys, "id_ed25519"))
	public, err := os.ReadFile(filepath.Join(w.dir, "host.pub"))
	require.NoError(w.t, err)
	w.write(filepath.Join(keys, "known_hosts"), "git.example.com "+string(public))
	w.write(filepath.Join(w.dir, "passwd"), fmt.Sprintf("git:x:%d:%d::%s:/bin/sh\nsshd:x:65534:65534::/:/bin/false\n", os.Getuid(), os.Getgid(), w.dir))
	w.write(filepath.Join(w.dir, "sshd_config"), fmt.Sprintf(
		"HostKey %[1]s/host\nAuthorizedKeysFile %[2]s/id_ed25519.pub\nUsePAM no\nStrictModes no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n", w.dir, keys))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(w.t, err)
	var work sync.WaitGroup
	w.t.Cleanup(func() { l.Close(); work.Wait() })
	work.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			work.Go(func() { w.sshd(c.(*net.TCPConn)) })
		}
	})
	return l.Addr().String()
}

// sshd serves one connection. It sees another list of users than the machine's, since who runs the tests need not have a shell there.
func (w *web) sshd(c *net.TCPConn) {
	f, err := c.File()
	c.Close()
	if err != nil {
		return
	}
	defer f.Close()
	args := []string{"--die-with-parent", "--dev-bind", "/", "/", "--ro-bind", w.dir + "/passwd", "/etc/passwd", "--tmpfs", "/run", "--dir", "/run/sshd"}
	if os.Getuid() == 0 {
		args = append(args, "--cap-add", "ALL") // it takes on the user, and shuts its own half in
	}
	cmd := exec.CommandContext(w.t.Context(), "bwrap", append(args, "--", "/usr/sbin/sshd", "-i", "-f", w.dir+"/sshd_config", "-E", w.dir+"/sshd.log")...)
	cmd.Stdin, cmd.Stdout = f, f
	cmd.Run()
}

func (w *web) key(path string) {
	out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path).CombinedOutput()
	require.NoError(w.t, err, "%s", out)
}

func (w *web) write(path, text string) {
	require.NoError(w.t, os.WriteFile(path, []byte(text), 0o600))
}
