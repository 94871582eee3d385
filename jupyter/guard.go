package jupyter

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
)

// Flags of a ZMTP 3 frame, and the length of the greeting before the first one.
const (
	frameMore    = 1
	frameLong    = 2
	frameCommand = 4

	zmtpGreeting = 64
)

// guard is a connection that reads ZMTP frames along with zmq4 and refuses a frame before zmq4 makes room for it. After the handshake it
// drops commands: zmq4 would answer a PING in the middle of a message that is being sent.
type guard struct {
	net.Conn
	in  *bufio.Reader
	out *bufio.Writer

	greeting  int    // bytes of the greeting that are still to come
	header    []byte // of the present frame, as far as not handed on
	body      uint64 // bytes of the present frame, as far as not handed on
	frames    int    // of the present message so far
	size      uint64 // of the present message so far
	connected bool
}

// ready is called between the handshake and the first message, while nobody else uses the connection.
func (g *guard) ready() { g.connected = true }

func (g *guard) Read(p []byte) (int, error) {
	switch {
	case len(p) == 0:
		return 0, nil
	case g.greeting > 0:
		n, err := g.in.Read(p[:min(len(p), g.greeting)])
		g.greeting -= n
		return n, err
	case len(g.header) == 0 && g.body == 0:
		if err := g.nextFrame(); err != nil {
			return 0, err
		}
	}
	if len(g.header) > 0 {
		n := copy(p, g.header)
		g.header = g.header[n:]
		return n, nil
	}
	n, err := g.in.Read(p[:min(uint64(len(p)), g.body)])
	g.body -= uint64(n)
	return n, err
}

// nextFrame reads a frame's header and checks it.
func (g *guard) nextFrame() error {
	for {
		header, size, err := g.readHeader()
		if err != nil {
			return err
		}
		if g.connected && header[0]&frameCommand != 0 {
			if err := g.drop(size); err != nil {
				return err
			}
			continue
		}
		if err := g.count(header[0], size); err != nil {
			return err
		}
		g.header, g.body = header, size
		return nil
	}
}

func (g *guard) readHeader() ([]byte, uint64, error) {
	header := make([]byte, 2, 9)
	if _, err := io.ReadFull(g.in, header); err != nil {
		return nil, 0, err
	}
	if header[0]&frameLong == 0 {
		return header, uint64(header[1]), nil
	}
	header = header[:9]
	if _, err := io.ReadFull(g.in, header[2:]); err != nil {
		return nil, 0, err
	}
	return header, binary.BigEndian.Uint64(header[1:]), nil
}

func (g *guard) count(flags byte, size uint64) error {
	limit := uint64(MaxMessage)
	if !g.connected {
		limit = maxHandshake
	}
	g.frames++
	if size > limit || g.size+size > limit {
		return fmt.Errorf("message larger than %d bytes", limit)
	}
	if g.frames > MaxFrames {
		return fmt.Errorf("message with more than %d frames", MaxFrames)
	}
	g.size += size
	if flags&frameMore == 0 {
		g.frames, g.size = 0, 0
	}
	return nil
}

func (g *guard) drop(size uint64) error {
	if size > maxHandshake {
		return fmt.Errorf("command larger than %d bytes", maxHandshake)
	}
	_, err := g.in.Discard(int(size))
	return err
}

// Write gathers what zmq4 writes piece by piece. The handshake needs each piece at once.
func (g *guard) Write(p []byte) (int, error) {
	if !g.connected {
		return g.Conn.Write(p)
	}
	return g.out.Write(p)
}

func (g *guard) flush() error { return g.out.Flush() }
