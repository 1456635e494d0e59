//go:build !race

package pages

import (
	"bytes"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
)

// gate stands between a browser and a server, whose sockets it can silence and cut.
type gate struct {
	addr    string
	shut    atomic.Bool // nobody gets through
	wg      sync.WaitGroup
	mu      sync.Mutex
	sockets []*socketLink
	conns   []net.Conn
}

type socketLink struct {
	silent atomic.Bool // what the server says is lost
}

func startGate(t *testing.T, target string) *gate {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	g := &gate{addr: listener.Addr().String()}
	g.wg.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", target)
			if err != nil || g.shut.Load() {
				client.Close()
				if err == nil {
					server.Close()
				}
				continue
			}
			g.mu.Lock()
			g.conns = append(g.conns, client, server)
			g.mu.Unlock()
			link := new(socketLink)
			g.wg.Go(func() { g.pump(link, server, client) })
			g.wg.Go(func() { g.pump(link, client, server) })
		}
	})
	t.Cleanup(func() {
		listener.Close()
		g.cut()
		redistest.Wait(t, "the end of g.wg", g.wg.Wait)
	})
	return g
}

func (g *gate) pump(link *socketLink, to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 16<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		if bytes.Contains(buf[:n], []byte("Upgrade: websocket\r\n")) {
			g.mu.Lock()
			g.sockets = append(g.sockets, link)
			g.mu.Unlock()
		}
		if link.silent.Load() && to.LocalAddr().String() == g.addr {
			continue
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

// silence loses what the server says over the sockets that there are.
func (g *gate) silence() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, link := range g.sockets {
		link.silent.Store(true)
	}
}

// cut ends all connections.
func (g *gate) cut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range g.conns {
		c.Close()
	}
	g.conns = nil
}
