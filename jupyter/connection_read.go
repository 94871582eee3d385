package jupyter

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/kernel-launch/kernel-launch/internal/plain"
)

// reader collects the faults of one file.
type reader struct {
	file   string
	c      *Connection
	faults []error
}

func (r *reader) read() (*Connection, error) {
	c := r.c
	c.Transport = r.text("transport", "tcp")
	c.IP = r.text("ip", "")
	c.Key = r.text("key", "")
	c.SignatureScheme = r.text("signature_scheme", "hmac-sha256")
	c.KernelName = r.text("kernel_name", "")
	r.transport()
	r.scheme()
	r.ports()
	if c.Key == "" {
		r.warn("key is empty: messages are not signed, and any local process can drive the kernel")
	}
	if len(r.faults) > 0 {
		return nil, errors.Join(r.faults...)
	}
	return c, nil
}

func (r *reader) fault(field, value, what string) {
	r.faults = append(r.faults, &FaultError{File: r.file, Field: field, Value: plain.Line(value, 80), What: what})
}

func (r *reader) warn(format string, args ...any) {
	r.c.Warnings = append(r.c.Warnings, fmt.Sprintf(format, args...))
}

func (r *reader) raw(name string) (json.RawMessage, bool) {
	i := indexOf(r.c.fields, name)
	if i < 0 {
		return nil, false
	}
	return r.c.fields[i].raw, true
}

func (r *reader) text(name, missing string) string {
	raw, ok := r.raw(name)
	if !ok {
		return missing
	}
	var s *string
	if json.Unmarshal(raw, &s) == nil && s != nil {
		return *s
	}
	value := string(raw)
	if name == "key" {
		value = ""
	}
	r.fault(name, value, "is not a string")
	return missing
}

func (r *reader) transport() {
	switch r.c.Transport {
	case "tcp":
		r.address()
	case "ipc":
		r.socketPath()
	default:
		r.fault("transport", strconv.Quote(r.c.Transport), "is neither tcp nor ipc")
	}
}

func (r *reader) address() {
	switch ip := r.c.IP; ip {
	case "", "localhost":
	case "*", "0.0.0.0", "::":
		r.warn("ip %s listens on every interface: the kernel can be reached on all interfaces of this machine", ip)
	default:
		if a, err := netip.ParseAddr(ip); err != nil || a.Zone() != "" {
			r.fault("ip", strconv.Quote(ip), "is not an address")
		}
	}
}

// maxSocketPath is what sockaddr_un holds on Linux less its final zero; ZeroMQ refuses a longer one when the kernel binds.
const maxSocketPath = 107

func (r *reader) socketPath() {
	ip := r.c.IP
	switch {
	case ip == "":
		r.fault("ip", "", "is empty; for transport ipc it is the path of the sockets")
	case strings.ContainsRune(ip, 0):
		r.fault("ip", strconv.Quote(ip), "holds a zero byte")
	case len(ip)+len("-65535") > maxSocketPath:
		r.fault("ip", strconv.Quote(ip), fmt.Sprintf("makes socket paths longer than %d bytes", maxSocketPath))
	}
}

func (r *reader) scheme() {
	name := r.c.SignatureScheme
	if _, err := schemeHash(name); err != nil {
		r.fault("signature_scheme", strconv.Quote(name), err.Error())
		return
	}
	if name == "hmac-md5" || name == "hmac-sha1" {
		r.warn("signature_scheme %s is weak; hmac-sha256 is what Jupyter uses", name)
	}
}

var portKeys = []string{"shell_port", "iopub_port", "stdin_port", "control_port", "hb_port"}

func (r *reader) ports() {
	missing := r.missingPorts()
	if len(missing) == len(portKeys) {
		if raw, ok := r.raw("registration_port"); ok {
			r.faults = append(r.faults, &FaultError{
				File: r.file, Field: "registration_port", Value: plain.Line(string(raw), 20),
				What: "asks the kernel to choose its ports, which is not supported yet", Err: ErrRegistration,
			})
			return
		}
	}
	if len(missing) > 0 {
		r.fault(strings.Join(missing, ", "), "", "missing")
	}
	for i, p := range []*int{&r.c.Shell, &r.c.IOPub, &r.c.Stdin, &r.c.Control, &r.c.HB} {
		*p = r.port(portKeys[i])
	}
	r.distinct()
}

func (r *reader) missingPorts() (missing []string) {
	for _, name := range portKeys {
		if _, ok := r.raw(name); !ok {
			missing = append(missing, name)
		}
	}
	return missing
}

func (r *reader) port(name string) int {
	raw, ok := r.raw(name)
	if !ok {
		return 0
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange), err == nil && (n < 0 || n > 65535):
		r.fault(name, string(raw), "is not within 0 to 65535")
	case err != nil:
		r.fault(name, string(raw), "is not a whole number")
	default:
		return int(n)
	}
	return 0
}

func (r *reader) distinct() {
	first := map[int]string{}
	for i, p := range r.c.Ports() {
		if p == 0 {
			continue
		}
		if other, ok := first[p]; ok {
			r.fault(portKeys[i], strconv.Itoa(p), "is also "+other)
			continue
		}
		first[p] = portKeys[i]
	}
}
