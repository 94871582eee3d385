package main

import (
	"encoding/binary"
	"io"
	"net"
	"strings"
	"sync"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/sys/unix"
)

// Orders to the origin, behind the ClientHello: one byte and a number of bytes.
const (
	orderReply = 'r' // a short answer, then the end
	orderHold  = 'h' // a short answer, then the next order
	orderDown  = 'd' // so many bytes
	orderUp    = 'u' // takes so many bytes, and answers shortly
)

const (
	orderLength = 9
	replyLength = 64
	blockLength = 256 << 10
)

// origin is the host that everything reaches, and the name server that knows it.
type origin struct {
	hosts net.Listener
	names net.PacketConn
	stuck []int // descriptors of the port that does not answer
	block []byte
}

func newOrigin() (o *origin, err error) {
	o = &origin{block: make([]byte, blockLength)}
	if o.hosts, err = net.Listen("tcp4", net.JoinHostPort(originAddress, originPort)); err != nil {
		return nil, err
	}
	if o.names, err = net.ListenPacket("udp4", "127.0.0.1:53"); err != nil {
		o.close()
		return nil, err
	}
	if err := o.stick(); err != nil {
		o.close()
		return nil, err
	}
	go o.accept()
	go o.nameServer()
	return o, nil
}

func (o *origin) close() {
	o.hosts.Close()
	if o.names != nil {
		o.names.Close()
	}
	for _, fd := range o.stuck {
		unix.Close(fd)
	}
}

// stick fills the queue of a listener that nobody accepts from: further SYNs are dropped, and who dials it waits.
func (o *origin) stick() error {
	at := &unix.SockaddrInet4{Port: 444, Addr: [4]byte{198, 51, 100, 1}}
	for i := range 8 {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
		if err != nil {
			return err
		}
		o.stuck = append(o.stuck, fd)
		if i > 0 {
			unix.Connect(fd, at) // EINPROGRESS
			continue
		}
		if err := unix.Bind(fd, at); err != nil {
			return err
		}
		if err := unix.Listen(fd, 0); err != nil {
			return err
		}
	}
	return nil
}

func (o *origin) accept() {
	for {
		c, err := o.hosts.Accept()
		if err != nil {
			return
		}
		go o.serve(c.(*net.TCPConn))
	}
}

// serve skips the ClientHello and follows orders until the end.
func (o *origin) serve(c *net.TCPConn) {
	defer c.Close()
	var head [5]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return
	}
	skip := make([]byte, binary.BigEndian.Uint16(head[3:]))
	if _, err := io.ReadFull(c, skip); err != nil {
		return
	}
	var order [orderLength]byte
	for {
		if _, err := io.ReadFull(c, order[:]); err != nil {
			return
		}
		if !o.follow(c, order[0], int(binary.BigEndian.Uint64(order[1:]))) {
			return
		}
	}
}

func (o *origin) follow(c *net.TCPConn, order byte, n int) bool {
	var err error
	switch order {
	case orderDown:
		for n > 0 && err == nil {
			k := min(n, len(o.block))
			_, err = c.Write(o.block[:k])
			n -= k
		}
		return err == nil
	case orderUp:
		buf := blocks.Get().(*[]byte)
		defer blocks.Put(buf)
		for n > 0 && err == nil {
			var k int
			k, err = c.Read((*buf)[:min(n, len(*buf))])
			n -= k
		}
	}
	if err == nil {
		_, err = c.Write(o.block[:replyLength])
	}
	return err == nil && order != orderReply
}

var blocks = sync.Pool{New: func() any { b := make([]byte, blockLength); return &b }}

// nameServer gives the origin's address for its names, and nothing for its AAAA.
func (o *origin) nameServer() {
	buf := make([]byte, 1500)
	for {
		n, from, err := o.names.ReadFrom(buf)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
			continue
		}
		if reply, err := answer(m); err == nil {
			o.names.WriteTo(reply, from)
		}
	}
}

func answer(m dnsmessage.Message) ([]byte, error) {
	q := m.Questions[0]
	r := dnsmessage.Message{Header: dnsmessage.Header{ID: m.ID, Response: true, RecursionDesired: true, RecursionAvailable: true}, Questions: m.Questions}
	switch {
	case !strings.HasSuffix(q.Name.String(), originDomain+"."):
		r.RCode = dnsmessage.RCodeNameError
	case q.Type == dnsmessage.TypeA:
		r.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: 60},
			Body:   &dnsmessage.AResource{A: [4]byte{198, 51, 100, 1}},
		}}
	}
	return r.Pack()
}
