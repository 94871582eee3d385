package selftest

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
)

// services are what the bounded self-test dials.
func (h *host) services() (err error) {
	var faults []error
	listen := func(kind, address string) string {
		at, err := h.listen(kind, address)
		faults = append(faults, err)
		return at
	}
	h.tcp = listen("tcp", "127.0.0.1:0")
	h.abstract = listen("unix", "@kernel-launch-"+filepath.Base(h.base))
	h.sockets = append(h.sockets, listen("unix", h.base+"/agent.sock"), listen("unix", h.base+"/docker.sock"))
	h.udp, err = h.datagrams(func(question []byte) []byte { return question })
	return errors.Join(append(faults, err)...)
}

// moreServices listen on every address of the machine, for the moment of the test.
func (h *host) moreServices() (err error) {
	var faults []error
	h.tcp6, err = h.listen("tcp", "[::1]:0")
	faults = append(faults, err)
	all, err := h.listen("tcp4", "0.0.0.0:0")
	faults = append(faults, err)
	if err == nil {
		_, h.any, err = net.SplitHostPort(all)
		faults = append(faults, err)
	}
	h.names, err = h.datagrams(nameServer(&h.objects.asked))
	return errors.Join(append(faults, err)...)
}

// planted are the sockets behind which other programs act for whoever connects.
var planted = []string{
	"podman/podman.sock", "containerd/containerd.sock", "bus", "ssh-agent/agent.1", "gnupg/S.gpg-agent", ".X11-unix/X0", "wayland-0", "pulse/native",
}

func (h *host) plantSockets() error {
	var faults []error
	for _, name := range planted {
		path := h.base + "/run/" + name
		faults = append(faults, os.MkdirAll(filepath.Dir(path), 0o700))
		_, err := h.listen("unix", path)
		faults = append(faults, err)
		h.sockets = append(h.sockets, path)
	}
	return errors.Join(faults...)
}

// datagrams answers each datagram on a loopback port.
func (h *host) datagrams(answer func([]byte) []byte) (string, error) {
	c, err := net.ListenPacket("udp", "127.0.0.1:0") //nolint:noctx // it is closed with the host
	if err != nil {
		return "", err
	}
	h.later(func() { c.Close() })
	go func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := c.ReadFrom(buf)
			if err != nil {
				return
			}
			c.WriteTo(answer(buf[:n]), from) //nolint:errcheck // whoever asked sees that nothing comes
		}
	}()
	return c.LocalAddr().String(), nil
}

// nameServer answers each question with one address, and counts the questions.
func nameServer(asked *atomic.Int64) func([]byte) []byte {
	return func(question []byte) []byte {
		const head = 12
		end := head
		for end < len(question) && question[end] != 0 {
			end++
		}
		if end+5 > len(question) {
			return nil
		}
		asked.Add(1)
		answer := append([]byte{}, question[:end+5]...)
		answer[2], answer[3] = 0x81, 0x80 // a response, recursion available
		copy(answer[4:head], []byte{0, 1, 0, 0, 0, 0, 0, 0})
		if question[end+2] != 1 { // only A has an answer
			return answer
		}
		answer[7] = 1
		return append(answer, 0xc0, head, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, 192, 0, 2, 7)
	}
}

// outward is an address of this machine that is not loopback, or empty.
func outward() string {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return ""
	}
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && !n.IP.IsLoopback() {
			return n.IP.String()
		}
	}
	return ""
}

func testNet(port int) string { return fmt.Sprintf("192.0.2.1:%d", port) }
