package bench

import (
	"cmp"
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
	"rankcast/cmd/rankcast/internal/term"
	"rankcast/server/client"
)

// target is a server that the command measures. All boards of a command have names of their own on it, which begin
// with prefix. Its methods may be called concurrently.
type target struct {
	name    string // of its column
	program string // that serves; "" for a server at a URL
	remote  remote.Server
	client  *client.Client
	header  http.Header // of each request: the key, if there is one
	own     *ownServer  // nil for a server at a URL
	prefix  string
	round   string   // which round, of which column, for the status; "" before the first
	defined []string // paths of what the command has defined, to delete it again
}

// show shows on the terminal what the command does now with the target.
func (t *target) show(what string) { term.Status(t.round + what) }

// dialTimeout bounds the time for one connection.
const dialTimeout = 10 * time.Second

// newTarget makes a target with a key; "" for none.
func newTarget(name string, at remote.Server, key string) (*target, error) {
	c, err := client.New(at.URL, client.Config{RetryFor: dialTimeout, Credentials: client.Key(key)})
	if err != nil {
		return nil, err
	}
	at.URL = strings.TrimRight(at.URL, "/")
	t := &target{name: name, remote: at, client: c, header: make(http.Header), prefix: fmt.Sprintf("bench%06x", rand.N(1<<24))}
	if key != "" {
		t.header.Set("Authorization", "Bearer "+key)
	}
	return t, nil
}

// loopbackAddresses is the number of addresses from which a dialer connects to a loopback address. Each has some 28,000
// ports on Linux, which gives a process all of 127.0.0.0/8.
const loopbackAddresses = 16

// dialer opens the connection of that number, from one of several addresses if the server is on this machine.
func dialer(addr string, number int) *net.Dialer {
	d := &net.Dialer{Timeout: dialTimeout}
	if to, err := netip.ParseAddrPort(addr); err == nil && to.Addr().Is4() && to.Addr().IsLoopback() && runtime.GOOS == "linux" {
		d.LocalAddr = &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+number%loopbackAddresses))}
	}
	return d
}

// dial opens a connection for requests.
func (t *target) dial(ctx context.Context) (net.Conn, error) {
	u, err := url.Parse(t.remote.URL)
	if err != nil {
		return nil, err
	}
	addr := net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme]))
	if u.Scheme == "https" {
		return (&tls.Dialer{NetDialer: dialer(addr, 0)}).DialContext(ctx, "tcp", addr)
	}
	return dialer(addr, 0).DialContext(ctx, "tcp", addr)
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
		if err := t.require(ctx, "DELETE", t.defined[i]); err != nil {
			all = errors.Join(all, fmt.Errorf("delete what the command has defined: %w", err))
		}
	}
	return all
}
