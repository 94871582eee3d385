package probe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"sort"
	"strings"
	"time"
)

// patience is how long the network may take to answer. Every refusal that counts comes at once.
const patience = 3 * time.Second

var network = map[string]attempt{
	"connect":    connect,
	"listen":     listen,
	"ask by udp": askUDP,
	"route":      route,
	"look up":    lookUp,
	"resolve":    resolve,
	"interfaces": interfaces,
}

// connect opens a stream to Path: an address, a file, or an abstract name that begins with "@".
func connect(a Args) (string, error) {
	kind := "tcp"
	if strings.HasPrefix(a.Path, "/") || strings.HasPrefix(a.Path, "@") {
		kind = "unix"
	}
	c, err := net.DialTimeout(kind, a.Path, patience)
	if err != nil {
		return "", err
	}
	return "", c.Close()
}

// listen makes a socket at Path, and takes it away.
func listen(a Args) (string, error) {
	l, err := net.Listen("unix", a.Path) //nolint:noctx // it is closed at once
	if err != nil {
		return "", err
	}
	return "", l.Close()
}

// askUDP sends a datagram and waits for the same back.
func askUDP(a Args) (string, error) {
	c, err := net.DialTimeout("udp", a.Path, patience)
	if err != nil {
		return "", err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		return "", err
	}
	word, got := []byte("kernel-launch"), make([]byte, 64)
	if _, err := c.Write(word); err != nil {
		return "", err
	}
	n, err := c.Read(got)
	if err == nil && !bytes.Equal(got[:n], word) {
		err = fmt.Errorf("%d other bytes came back", n)
	}
	return "", err
}

// route asks for the way to an address. Nothing is sent.
func route(a Args) (string, error) {
	c, err := net.DialTimeout("udp", a.Path, patience)
	if err != nil {
		return "", err
	}
	return "", c.Close()
}

// lookUp asks whatever the system asks for names.
func lookUp(a Args) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return addresses(net.DefaultResolver.LookupHost(ctx, a.Path))
}

// resolve asks the name server at Other.
func resolve(a Args) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", a.Other)
	}}
	return addresses(r.LookupHost(ctx, a.Path))
}

func addresses(all []string, err error) (string, error) {
	if err != nil {
		return "", errors.New("unknown")
	}
	sort.Strings(all)
	return strings.Join(all, " "), nil
}

func interfaces(Args) (string, error) {
	all, err := net.Interfaces()
	names := make([]string, len(all))
	for i, one := range all {
		names[i] = one.Name
	}
	return strings.Join(names, " "), err
}
