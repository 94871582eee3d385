package selftest

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/kernel-launch/kernel-launch/sandbox"
)

const secret = "s3cr3t-of-the-host"

// host is a machine in small: a home with a secret, a working folder, data to be read, an environment, and services that answer.
type host struct {
	base                   string
	home, work, kept, data string
	current                string // where the environment stands
	secretFile             string
	tmpFile, shmFile       string
	helper                 string

	tcp, tcp6, any, udp, names, abstract string // addresses of services
	sockets                              []string
	objects                              objects

	undo []func()
}

// newHost builds it; whole says that it is for all rows, which need more of the machine than the bounded self-test may touch.
func newHost(helper string, whole bool) (*host, error) {
	base, err := os.MkdirTemp(place(os.TempDir()), "kl-")
	if err != nil {
		return nil, err
	}
	h := &host{helper: helper, undo: []func(){func() { os.RemoveAll(base) }}}
	if h.base, err = filepath.EvalSymlinks(base); err == nil {
		err = errors.Join(h.files(), h.services())
	}
	if err == nil && whole {
		err = h.more()
	}
	if err != nil {
		h.close()
		return nil, fmt.Errorf("preparing the controls: %w", err)
	}
	return h, nil
}

// place is where it is built: a socket's path has at most 107 bytes.
func place(temporary string) string {
	const longest = 60
	if len(temporary) > longest {
		return "/tmp"
	}
	return temporary
}

// more is what only the whole contract needs.
func (h *host) more() error {
	return errors.Join(h.moreServices(), h.plantSockets(), h.plantFiles(), h.plantObjects())
}

func (h *host) close() {
	for i := len(h.undo) - 1; i >= 0; i-- {
		h.undo[i]()
	}
}

func (h *host) later(f func()) { h.undo = append(h.undo, f) }

func (h *host) files() error {
	h.home, h.work, h.kept, h.data = h.base+"/home", h.base+"/work/notebooks", h.base+"/kept", h.base+"/data"
	h.secretFile, h.current = h.home+"/secret", h.home+"/data/current"
	var faults []error
	for _, d := range []string{h.home, h.work, h.kept, h.data, h.home + "/data/gen/1", h.base + "/work/other"} {
		faults = append(faults, os.MkdirAll(d, 0o755)) //nolint:gosec // an ordinary home
	}
	for _, f := range []string{h.secretFile, h.data + "/table", h.base + "/work/other/file", h.home + "/data/gen/1/module"} {
		faults = append(faults, os.WriteFile(f, []byte(secret), 0o600))
	}
	faults = append(faults, os.Symlink(h.secretFile, h.work+"/link"), os.Symlink("gen/1", h.current))
	return errors.Join(faults...)
}

// plantFiles puts files where a private folder stands inside.
func (h *host) plantFiles() error {
	name := filepath.Base(h.base)
	h.tmpFile, h.shmFile = "/tmp/"+name+"-file", "/dev/shm/"+name
	runtime := h.home + "/.local/share/jupyter/runtime"
	spec := h.home + "/.local/share/jupyter/kernels/other"
	faults := []error{os.MkdirAll(runtime, 0o700), os.MkdirAll(spec, 0o700)}
	for _, f := range []string{h.tmpFile, h.shmFile, runtime + "/kernel-1.json", spec + "/kernel.json"} {
		faults = append(faults, os.WriteFile(f, []byte(secret), 0o600))
	}
	h.later(func() { os.Remove(h.tmpFile); os.Remove(h.shmFile) })
	return errors.Join(faults...)
}

// policy is what the rows are run under.
func (h *host) policy(n sandbox.Network) sandbox.Policy {
	return sandbox.Policy{
		Network: n, Folder: h.work, RealHome: h.home, KeptHome: h.kept, Read: []string{h.data}, Helper: h.helper,
		Trees:  []sandbox.Tree{{Source: h.home + "/data/gen/1", Target: h.current}},
		Limits: sandbox.Limits{Tmp: 1 << 20, Shm: 512 << 10},
	}
}

// listen serves a stream address until the end, and returns it as a caller writes it.
func (h *host) listen(kind, address string) (string, error) {
	l, err := net.Listen(kind, address) //nolint:noctx // it is closed with the host
	if err != nil {
		return "", err
	}
	h.later(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	return l.Addr().String(), nil
}
