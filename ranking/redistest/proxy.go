package redistest

import (
	"bytes"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// Proxy stands between a client and a Redis of the unix or redis scheme. On
// demand it swallows all that goes over connections that have subscribed, and
// leaves them open: to either side the other has just gone silent.
type Proxy struct {
	network, target string
	listener        net.Listener
	wg              sync.WaitGroup

	mu      sync.Mutex
	cut     bool     // end a connection that carries a script, once it is answered
	hold    []string // keep from the server what names one of these, and all that follows it
	held    atomic.Int64
	conns   []net.Conn
	swallow map[*link]bool
	links   map[*link]bool // that have subscribed
	closed  bool
}

// link is one connection and its other half.
type link struct {
	client, server net.Conn
	asked          atomic.Bool // a script has gone to the server
}

// StartProxy starts a proxy in front of the server at url.
func StartProxy(t testing.TB, url string) *Proxy {
	p := &Proxy{swallow: make(map[*link]bool), links: make(map[*link]bool)}
	p.network, p.target = "tcp", strings.TrimPrefix(url, "redis://")
	if path, ok := strings.CutPrefix(url, "unix://"); ok {
		p.network, p.target = "unix", path
	}
	var err error
	p.listener, err = net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p.wg.Go(p.accept)
	t.Cleanup(p.close)
	return p
}

// URL is where ranking.Open finds the proxy.
func (p *Proxy) URL() string { return "redis://" + p.listener.Addr().String() }

// Swallow makes the subscribed connections that there are now go silent for
// good, and returns how many those are.
func (p *Proxy) Swallow() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		p.swallow[l] = true
	}
	return len(p.links)
}

// CutAnswers makes the proxy carry scripts to the server but end the connection
// where the answer belongs: what was asked for is done, and nobody knows.
func (p *Proxy) CutAnswers(cut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = cut
}

// Hold keeps from the server what a client sends that has one of the texts in it, and
// all that it sends over that connection after it. It stays open, without an answer.
func (p *Proxy) Hold(texts ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hold = texts
}

// Held is how many connections are held.
func (p *Proxy) Held() int { return int(p.held.Load()) }

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial(p.network, p.target)
		if err != nil {
			client.Close()
			continue
		}
		l := &link{client: client, server: server}
		p.mu.Lock()
		p.conns = append(p.conns, client, server)
		if p.closed {
			client.Close()
			server.Close()
		}
		p.mu.Unlock()
		p.wg.Go(func() { p.pump(l, server, client) })
		p.wg.Go(func() { p.pump(l, client, server) })
	}
}

func (p *Proxy) pump(l *link, to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 16<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		p.mu.Lock()
		if bytes.Contains(bytes.ToLower(buf[:n]), []byte("\nsubscribe\r\n")) {
			p.links[l] = true
		}
		if bytes.Contains(bytes.ToLower(buf[:n]), []byte("\nevalsha\r\n")) {
			l.asked.Store(true)
		}
		if from == l.client && !p.swallow[l] && slices.ContainsFunc(p.hold, func(text string) bool { return bytes.Contains(buf[:n], []byte(text)) }) {
			p.swallow[l] = true
			p.held.Add(1)
		}
		swallowed := p.swallow[l]
		cut := p.cut && from == l.server && l.asked.Load()
		p.mu.Unlock()
		if cut {
			return
		}
		if swallowed {
			continue
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

func (p *Proxy) close() {
	p.listener.Close()
	p.mu.Lock()
	p.closed = true
	for _, c := range p.conns {
		c.Close()
	}
	p.mu.Unlock()
	p.wg.Wait()
}
