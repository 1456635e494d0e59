package bench

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"runtime"
	"strings"
	"time"

	"rankcast/cmd/rankcast/internal/remote"
	"rankcast/server/client"
)

// target is a server that the command measures. All boards of a command have names of their own on it, which begin
// with prefix. Its methods may be called concurrently.
type target struct {
	name   string // of its column
	remote remote.Server
	client *client.Client
	own    *ownServer // nil for a server at a URL
	prefix string

	addr       string      // host and port
	tls        *tls.Config // nil for http
	host, path string      // of the URL
	key        string      // "" without one
	defined    []string    // paths of what the command has defined, to delete it again
}

// dialTimeout bounds the time for one connection, with TLS.
const dialTimeout = 10 * time.Second

// openTarget makes a target of the server at a URL.
func openTarget(ctx context.Context, name string, at remote.Server) (*target, error) {
	u, err := url.Parse(at.URL)
	if err != nil || u.Hostname() == "" {
		return nil, errors.New("--url: is not a URL; want http://HOST:PORT or https://HOST")
	}
	t := &target{name: name, remote: at, prefix: fmt.Sprintf("bench%06x", rand.N(1<<24)), host: u.Host,
		path: strings.TrimRight(u.EscapedPath(), "/")}
	port := "80"
	if u.Scheme == "https" {
		port = "443"
		t.tls = &tls.Config{ServerName: u.Hostname()}
	}
	if u.Port() != "" {
		port = u.Port()
	}
	t.addr = net.JoinHostPort(u.Hostname(), port)
	if t.key, err = at.Key(ctx); err != nil {
		return nil, err
	}
	if t.client, err = at.Client(client.Config{RetryFor: dialTimeout}); err != nil {
		return nil, fmt.Errorf("--url: %w", err)
	}
	return t, nil
}

// loopbackAddresses is the number of addresses from which dialFrom connects to a loopback address. Each has some 28,000
// ports on Linux, which gives a process all of 127.0.0.0/8.
const loopbackAddresses = 16

// dialFrom opens the connection of that number, from one of several addresses if the server is on this machine.
func (t *target) dialFrom(ctx context.Context, number int) (net.Conn, error) {
	d := net.Dialer{Timeout: dialTimeout}
	if to, err := netip.ParseAddrPort(t.addr); err == nil && to.Addr().Is4() && to.Addr().IsLoopback() && runtime.GOOS == "linux" {
		d.LocalAddr = &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+number%loopbackAddresses))}
	}
	if t.tls == nil {
		return d.DialContext(ctx, "tcp", t.addr)
	}
	return (&tls.Dialer{NetDialer: &d, Config: t.tls}).DialContext(ctx, "tcp", t.addr)
}

// authorize adds the key to the header of a request.
func (t *target) authorize(header http.Header) {
	if t.key != "" {
		header.Set("Authorization", "Bearer "+t.key)
	}
}

// close deletes the boards of the command, or ends its own server.
func (t *target) close() error {
	defer t.client.Close()
	if t.own != nil {
		return t.own.close()
	}
	var all error
	ctx := context.Background() // also after an interrupt
	for i := len(t.defined) - 1; i >= 0; i-- {
		if err := t.do(ctx, "DELETE", t.defined[i], ""); err != nil {
			all = errors.Join(all, fmt.Errorf("delete what the command has defined: %w", err))
		}
	}
	return all
}
