package launcher

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Operation is what a running kernel's launcher can be asked for.
type Operation string

const (
	OpStatus    Operation = "status"
	OpInterrupt Operation = "interrupt"
	OpRestart   Operation = "restart"
	OpStop      Operation = "stop"
	OpForward   Operation = "forward"
	OpPublish   Operation = "publish"
)

// Request and Reply are one JSON line each way, one pair per connection. A field that a launcher does not know is an error: it could be the half of
// the request that narrows it.
type Request struct {
	Operation Operation `json:"operation"`
	Port      string    `json:"port,omitempty"` // of forward and publish, as flags have it
	Off       bool      `json:"off,omitempty"`  // close it
}

// Reply carries the error of the operation, if it had one.
type Reply struct {
	State   State      `json:"state,omitempty"`
	Forward []OpenPort `json:"forward,omitempty"`
	Publish []OpenPort `json:"publish,omitempty"`
	Error   string     `json:"error,omitempty"`
	Fault   *PortError `json:"fault,omitempty"` // the same error, when it is about a port

	Denied []Denial `json:"denied,omitempty"` // of a status: what the kernel was refused last, the latest first
}

// What one connection to a control socket may cost.
const (
	controlLine  = 64 << 10
	controlReply = 256 << 10
	controlRead  = 5 * time.Second
	controlWork  = 90 * time.Second // a restart waits for a kernel's program
)

// control serves a kernel's control socket. Its folder keeps other users out.
type control struct {
	listener net.Listener
	kernel   *Kernel
	work     sync.WaitGroup
}

func serveControl(path string, k *Kernel) (*control, error) {
	l, err := listenUnix(path)
	if err != nil {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	c := &control{listener: l, kernel: k}
	go c.serve()
	return c, nil
}

// listenUnix goes through the folder's descriptor when the path is longer than the 107 bytes that a socket address holds.
func listenUnix(path string) (net.Listener, error) {
	short, done, err := shorten(path)
	if err != nil {
		return nil, err
	}
	defer done()
	l, err := net.Listen("unix", short)
	if err == nil {
		l.(*net.UnixListener).SetUnlinkOnClose(false) // its name may have been the short one
	}
	return l, err
}

func dialUnix(ctx context.Context, path string) (net.Conn, error) {
	short, done, err := shorten(path)
	if err != nil {
		return nil, err
	}
	defer done()
	return (&net.Dialer{}).DialContext(ctx, "unix", short)
}

func shorten(path string) (string, func(), error) {
	if len(path) <= 107 {
		return path, func() {}, nil
	}
	f, err := os.Open(filepath.Dir(path))
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", f.Fd(), filepath.Base(path)), func() { f.Close() }, nil
}

func (c *control) serve() {
	for {
		conn, err := c.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			<-time.After(10 * time.Millisecond)
			continue
		}
		c.work.Go(func() { c.answer(conn) })
	}
}

func (c *control) answer(conn net.Conn) {
	defer conn.Close()
	conn.SetReadDeadline(time.Now().Add(controlRead))
	line, err := bufio.NewReader(io.LimitReader(conn, controlLine)).ReadBytes('\n')
	if err != nil {
		return
	}
	reply := Reply{}
	q, err := readRequest(line)
	if err == nil {
		err = c.do(q)
	}
	if err != nil {
		reply.Error = err.Error()
		errors.As(err, &reply.Fault)
	}
	k := c.kernel
	reply.State, reply.Forward, reply.Publish = k.State(), k.Ports(Forwarded), k.Ports(Published)
	if q.Operation == OpStatus {
		reply.Denied = k.outlet.denied.newest(k.allowLine)
	}
	b, err := json.Marshal(reply)
	if err != nil {
		return
	}
	conn.SetWriteDeadline(time.Now().Add(controlRead))
	conn.Write(append(b, '\n'))
}

func readRequest(line []byte) (q Request, err error) {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&q); err != nil {
		return q, fmt.Errorf("the request cannot be read: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return q, errors.New("the request cannot be read: something follows it")
	}
	ports := q.Operation == OpForward || q.Operation == OpPublish
	if !ports && (q.Port != "" || q.Off) {
		return q, fmt.Errorf("the request cannot be carried out: %q takes no port", q.Operation)
	}
	return q, nil
}

func (c *control) do(q Request) error {
	k := c.kernel
	ctx, cancel := context.WithTimeout(k.context, controlWork)
	defer cancel()
	switch q.Operation {
	case OpForward, OpPublish:
		if q.Off {
			return k.ClosePort(Way(q.Operation), q.Port)
		}
		return k.OpenPort(ctx, Way(q.Operation), q.Port)
	case OpStatus:
		return nil
	case OpInterrupt:
		return k.Interrupt()
	case OpRestart:
		return k.Restart(ctx)
	case OpStop:
		go k.Stop(k.context) // its end takes this socket down
		return nil
	}
	return fmt.Errorf("unknown operation %q", q.Operation)
}

func (c *control) close() { c.listener.Close() }

// Ask sends a request that is an operation and nothing else.
func (r Record) Ask(ctx context.Context, op Operation) (Reply, error) {
	return r.Send(ctx, Request{Operation: op})
}

// Send sends one request to the launcher of a running kernel. An error about a port is a *PortError.
func (r Record) Send(ctx context.Context, q Request) (Reply, error) {
	conn, err := dialUnix(ctx, r.path(".sock"))
	if err != nil {
		return Reply{}, fmt.Errorf("kernel %s does not answer: %w", r.ID, err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })()
	if err := json.NewEncoder(conn).Encode(q); err != nil {
		return Reply{}, err
	}
	var reply Reply
	if err := json.NewDecoder(io.LimitReader(conn, controlReply)).Decode(&reply); err != nil {
		return Reply{}, fmt.Errorf("kernel %s does not answer: %w", r.ID, err)
	}
	switch {
	case reply.Fault != nil:
		return reply, reply.Fault
	case reply.Error != "":
		return reply, errors.New(reply.Error)
	}
	return reply, nil
}

func sortRecords(all []Record) {
	slices.SortFunc(all, func(a, b Record) int {
		if c := a.Started.Compare(b.Started); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
}
