package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// loadOrder is one thing that the client does. Via is empty for a direct connection.
type loadOrder struct {
	Do      string
	Via     string // address of a proxy; a path is a unix socket
	Fresh   bool   // each connection asks for a name of its own, which has to be looked up
	Streams int
	Bytes   int
	Count   int
	Time    time.Duration
}

// loadReport is what came of it.
type loadReport struct {
	Took  time.Duration
	Count int
	Error string
}

// client is what asks for things. It is a process of its own, so that the same one can run inside a sandbox.
type client struct {
	hello []byte // for originName
	names atomic.Int64
	held  []net.Conn
}

// runLoad follows orders from standard input until its end.
func runLoad(ctx context.Context) error {
	l := &client{hello: clientHello()}
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var o loadOrder
		if err := in.Decode(&o); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		r, err := l.do(ctx, o)
		if err != nil {
			r.Error = err.Error()
		}
		if err := out.Encode(r); err != nil {
			return err
		}
	}
}

func (l *client) do(ctx context.Context, o loadOrder) (loadReport, error) {
	switch o.Do {
	case "down", "up":
		return l.bulk(o)
	case "rate":
		return l.rate(o)
	case "row":
		return l.row(o)
	case "hold":
		return l.hold(o)
	case "pull":
		return l.pull(o)
	case "release":
		for _, c := range l.held {
			c.Close()
		}
		l.held = nil
		return loadReport{}, nil
	case "abort":
		return l.abort(ctx, o)
	}
	return loadReport{}, fmt.Errorf("unknown order %q", o.Do)
}

// clientHello is the one that Go's TLS client sends for the origin's name.
func clientHello() []byte {
	var b hello
	tls.Client(&b, &tls.Config{ServerName: originName}).Handshake()
	return b.Bytes()
}

// hello keeps what is written, and answers nothing.
type hello struct {
	bytes.Buffer
	net.Conn
}

func (h *hello) Write(p []byte) (int, error)      { return h.Buffer.Write(p) }
func (h *hello) Read([]byte) (int, error)         { return 0, io.EOF }
func (h *hello) Close() error                     { return nil }
func (h *hello) SetDeadline(time.Time) error      { return nil }
func (h *hello) SetReadDeadline(time.Time) error  { return nil }
func (h *hello) SetWriteDeadline(time.Time) error { return nil }

// each runs n things at once and gives the first fault.
func each(n int, do func(int) error) error {
	faults := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { faults[i] = do(i) })
	}
	wg.Wait()
	return errors.Join(faults...)
}

// bulk moves bytes through fresh connections; the clock runs from when all are open until the last byte has arrived on the other side.
func (l *client) bulk(o loadOrder) (loadReport, error) {
	conns := make([]net.Conn, o.Streams)
	if err := each(o.Streams, func(i int) (err error) {
		conns[i], err = l.open(o)
		return err
	}); err != nil {
		return loadReport{}, err
	}
	began := time.Now()
	err := each(o.Streams, func(i int) error {
		defer conns[i].Close()
		if o.Do == "up" {
			return upload(conns[i], o.Bytes/o.Streams)
		}
		return download(conns[i], o.Bytes/o.Streams)
	})
	return loadReport{Took: time.Since(began), Count: o.Bytes}, err
}

func download(c net.Conn, n int) error {
	if _, err := c.Write(order(orderDown, n)); err != nil {
		return err
	}
	return take(c, n)
}

func upload(c net.Conn, n int) error {
	buf := blocks.Get().(*[]byte)
	defer blocks.Put(buf)
	if _, err := c.Write(order(orderUp, n)); err != nil {
		return err
	}
	for sent := 0; sent < n; {
		k, err := c.Write((*buf)[:min(n-sent, len(*buf))])
		if err != nil {
			return err
		}
		sent += k
	}
	return take(c, replyLength)
}

// take reads n bytes and drops them.
func take(c net.Conn, n int) error {
	buf := blocks.Get().(*[]byte)
	defer blocks.Put(buf)
	for n > 0 {
		k, err := c.Read((*buf)[:min(n, len(*buf))])
		if n -= k; err != nil && n > 0 {
			return fmt.Errorf("%d bytes are missing: %w", n, err)
		}
	}
	return nil
}

// rate opens connections in so many loops at once, asks a short question on each, and waits for the origin's end.
func (l *client) rate(o loadOrder) (loadReport, error) {
	counts := make([]int, o.Streams)
	began := time.Now()
	err := each(o.Streams, func(i int) error {
		for time.Since(began) < o.Time {
			if err := l.once(o); err != nil {
				return err
			}
			counts[i]++
		}
		return nil
	})
	r := loadReport{Took: time.Since(began)}
	for _, n := range counts {
		r.Count += n
	}
	return r, err
}

// row opens connections one behind another, and gives what the one in the middle took.
func (l *client) row(o loadOrder) (loadReport, error) {
	took := make([]time.Duration, o.Count)
	for i := range took {
		began := time.Now()
		if err := l.once(o); err != nil {
			return loadReport{}, err
		}
		took[i] = time.Since(began)
	}
	slices.Sort(took)
	return loadReport{Took: took[len(took)/2], Count: o.Count}, nil
}

func (l *client) once(o loadOrder) error {
	name := l.name(o)
	c, err := l.dial(o.Via, name)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.Write(l.first(name, orderReply, 0)); err != nil {
		return err
	}
	var buf [replyLength]byte
	if _, err := io.ReadFull(c, buf[:]); err != nil {
		return err
	}
	if n, err := c.Read(buf[:]); n != 0 || !errors.Is(err, io.EOF) {
		return fmt.Errorf("behind the answer came %d bytes, %v", n, err)
	}
	return nil
}

// hold opens connections that stay.
func (l *client) hold(o loadOrder) (loadReport, error) {
	conns := make([]net.Conn, o.Count)
	err := each(min(o.Count, 64), func(worker int) (err error) {
		for i := worker; i < o.Count && err == nil; i += 64 {
			conns[i], err = l.open(o)
		}
		return err
	})
	l.held = append(l.held, conns...)
	return loadReport{Count: len(l.held)}, err
}

// pull moves bytes down through the connections that are held, some at once.
func (l *client) pull(o loadOrder) (loadReport, error) {
	began := time.Now()
	err := each(o.Streams, func(worker int) (err error) {
		for i := worker; i < len(l.held) && err == nil; i += o.Streams {
			err = download(l.held[i], o.Bytes/len(l.held))
		}
		return err
	})
	return loadReport{Took: time.Since(began), Count: o.Bytes}, err
}
