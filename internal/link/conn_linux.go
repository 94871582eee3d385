package link

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// sendTime bounds one send: the other side reads all the time, so a full buffer means that it does not run any more.
const sendTime = 5 * time.Second

// Conn is one end of the control socket. Packets keep their borders, and descriptors come with the packet that they belong to.
type Conn struct {
	c  *net.UnixConn
	mu sync.Mutex // one sender at a time, for the deadline
}

// Pair makes a control socket. The file is the end to be inherited; the caller closes it once it is.
func Pair() (*Conn, *os.File, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("control socket: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "control"), os.NewFile(uintptr(fds[1]), "control (inside)")
	conn, err := fromFile(ours)
	if err != nil {
		theirs.Close()
		return nil, nil, err
	}
	return conn, theirs, nil
}

// Inherited takes over the end that this process was started with.
func Inherited(fd int) (*Conn, error) {
	unix.CloseOnExec(fd) // one that leaked into the program would let it speak for the inside
	return fromFile(os.NewFile(uintptr(fd), "control"))
}

func fromFile(f *os.File) (*Conn, error) {
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	u, ok := c.(*net.UnixConn)
	if !ok {
		c.Close()
		return nil, errors.New("control socket: the descriptor is no unix socket")
	}
	return &Conn{c: u}, nil
}

// Close ends both directions; the other side sees the end.
func (c *Conn) Close() error { return c.c.Close() }

// Send writes one message, with descriptors that stay the caller's.
func (c *Conn) Send(m Message, fds ...int) error {
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if len(b) > MaxMessage {
		return &ProtocolError{fmt.Sprintf("a message %q of %d bytes is too long to send", m.Kind, len(b))}
	}
	var oob []byte
	if len(fds) > 0 {
		oob = unix.UnixRights(fds...)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.c.SetWriteDeadline(time.Now().Add(sendTime))
	_, _, err = c.c.WriteMsgUnix(b, oob, nil)
	return err
}

// Receive waits for one message and its descriptor, if it has one. Only one goroutine receives.
func (c *Conn) Receive() (Message, *os.File, error) {
	buf := make([]byte, MaxMessage+1)
	oob := make([]byte, unix.CmsgSpace(4*4)) // room for more than is ever due, so that a surplus is seen and closed
	n, on, flags, _, err := c.c.ReadMsgUnix(buf, oob)
	if err != nil {
		return Message{}, nil, err
	}
	files, err := received(oob[:on])
	if err == nil {
		err = whole(n, flags)
	}
	var m Message
	if err == nil {
		m, err = decode(buf[:n])
	}
	if err == nil && len(files) > m.files() {
		err = &ProtocolError{fmt.Sprintf("%d descriptors came with %q", len(files), m.Kind)}
	}
	if err != nil {
		for _, f := range files {
			f.Close()
		}
		return Message{}, nil, err
	}
	if len(files) == 1 {
		return m, files[0], nil
	}
	return m, nil, nil
}

func whole(n, flags int) error {
	switch {
	case flags&unix.MSG_TRUNC != 0 || n > MaxMessage:
		return &ProtocolError{fmt.Sprintf("a message is longer than %d bytes", MaxMessage)}
	case flags&unix.MSG_CTRUNC != 0:
		return &ProtocolError{"more descriptors came with a message than there is room for"}
	}
	return nil
}

// received takes ownership of every descriptor first: one that is not wanted must still be closed.
func received(oob []byte) ([]*os.File, error) {
	if len(oob) == 0 {
		return nil, nil
	}
	cmsgs, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, &ProtocolError{"unreadable control data: " + err.Error()}
	}
	var files []*os.File
	for i := range cmsgs {
		fds, err := unix.ParseUnixRights(&cmsgs[i])
		if err != nil {
			return files, &ProtocolError{"unexpected control data: " + err.Error()}
		}
		for _, fd := range fds {
			files = append(files, os.NewFile(uintptr(fd), "received"))
		}
	}
	return files, nil
}

// SendOrder sends an order as a memory file: it has no length limit of the socket's.
func (c *Conn) SendOrder(o Order) error {
	b, err := json.Marshal(o)
	if err != nil {
		return err
	}
	if len(b) > MaxOrder {
		return fmt.Errorf("the arguments and environment of the program take %d bytes; %d is the most", len(b), MaxOrder)
	}
	fd, err := unix.MemfdCreate("kernel-launch order", unix.MFD_CLOEXEC)
	if err != nil {
		return fmt.Errorf("memory file for the order: %w", err)
	}
	f := os.NewFile(uintptr(fd), "order")
	defer f.Close()
	if _, err := f.Write(b); err != nil {
		return err
	}
	return c.Send(Message{Kind: Start}, fd)
}

// ReadOrder reads the memory file that came with Start. What it does not know could be a wall, and is an error.
func ReadOrder(f *os.File) (Order, error) {
	var o Order
	b, err := io.ReadAll(io.NewSectionReader(f, 0, MaxOrder+1))
	if err != nil {
		return o, err
	}
	if len(b) > MaxOrder {
		return o, fmt.Errorf("it is longer than %d bytes", MaxOrder)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	return o, d.Decode(&o)
}
