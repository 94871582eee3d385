package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

func connectRequest(name, port string) string {
	return "CONNECT " + name + ":" + port + " HTTP/1.1\r\nHost: " + name + ":" + port + "\r\n\r\n"
}

// name is as long as originName, so that it can stand in the same hello.
func (l *client) name(o loadOrder) string {
	if !o.Fresh {
		return originName
	}
	return fmt.Sprintf("a%07d%s", l.names.Add(1)%1e7, originDomain)
}

func order(what byte, n int) []byte { return binary.BigEndian.AppendUint64([]byte{what}, uint64(n)) }

// first is what a connection begins with: the hello, and an order behind it.
func (l *client) first(name string, what byte, n int) []byte {
	b := make([]byte, 0, len(l.hello)+orderLength)
	before, after, _ := bytes.Cut(l.hello, []byte(originName))
	return append(append(append(append(b, before...), name...), after...), order(what, n)...)
}

// dial connects to the origin, through a proxy if there is one.
func (l *client) dial(via, name string) (net.Conn, error) {
	if via == "" {
		return net.Dial("tcp4", net.JoinHostPort(originAddress, originPort))
	}
	c, err := net.Dial(networkOf(via), via)
	if err != nil {
		return nil, err
	}
	if err := establish(c, name); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func networkOf(via string) string {
	if strings.HasPrefix(via, "/") {
		return "unix"
	}
	return "tcp4"
}

// establish asks for a tunnel. The origin says nothing by itself, so that all which comes is the proxy's answer.
func establish(c net.Conn, name string) error {
	if _, err := io.WriteString(c, connectRequest(name, originPort)); err != nil {
		return err
	}
	var buf [1024]byte
	for n := 0; ; {
		k, err := c.Read(buf[n:])
		n += k
		said := string(buf[:n])
		switch {
		case strings.HasSuffix(said, "\r\n\r\n") && strings.HasPrefix(said, "HTTP/1.") && strings.HasPrefix(said[8:], " 200"):
			return nil
		case err != nil || n == len(buf) || strings.Contains(said, "\r\n\r\n"):
			return fmt.Errorf("no tunnel, but %q, %v", said, err)
		}
	}
}

// open gives a connection that has sent its hello and carried bytes both ways.
func (l *client) open(o loadOrder) (net.Conn, error) {
	c, err := l.dial(o.Via, originName)
	if err != nil {
		return nil, err
	}
	if _, err = c.Write(l.first(originName, orderHold, 0)); err == nil {
		err = take(c, replyLength)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// abort breaks connections off in every phase of their lives, 64 at once.
func (l *client) abort(ctx context.Context, o loadOrder) (loadReport, error) {
	began := time.Now()
	err := each(64, func(worker int) (err error) {
		for i := worker; i < o.Count && err == nil; i += 64 {
			err = l.breakOff(ctx, o.Via, i)
		}
		return err
	})
	return loadReport{Took: time.Since(began), Count: o.Count}, err
}

// breakOff resets a connection, or ends it in every other round: before a word, in a head, while its host is dialled without an answer, before and
// behind the proxy's answer, in a hello, and amid a download.
func (l *client) breakOff(ctx context.Context, via string, i int) error {
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp4", via)
	if err != nil {
		return err
	}
	if (i/7)%2 == 0 {
		c.(*net.TCPConn).SetLinger(0)
	}
	defer c.Close()
	switch i % 7 {
	case 0:
		return nil
	case 1:
		_, err = io.WriteString(c, connectRequest(originName, originPort)[:20])
		return err
	case 2:
		_, err = io.WriteString(c, connectRequest(originName, stuckPort))
		time.Sleep(5 * time.Millisecond)
		return err
	case 3:
		_, err = io.WriteString(c, connectRequest(originName, originPort))
		return err
	}
	if err := establish(c, originName); err != nil || i%7 == 4 {
		return err
	}
	if i%7 == 5 {
		_, err = c.Write(l.hello[:100])
		return err
	}
	if _, err := c.Write(l.first(originName, orderDown, 4<<20)); err != nil {
		return err
	}
	return take(c, 1<<20)
}
