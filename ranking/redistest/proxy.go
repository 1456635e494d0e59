package redistest

import (
	"bytes"
	"net"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// Proxy stands between a client and a Redis with a URL of the unix or redis scheme. On demand
// it simulates faults of the network: connections that fall silent but stay open, answers that
// are lost, commands that never arrive, and an address that another server takes over. Its
// methods may be called concurrently.
type Proxy struct {
	listener net.Listener
	wg       sync.WaitGroup

	mu          sync.Mutex
	network     string   // of the server; "" while there is none
	target      string   // address of the server
	credentials string   // "user:password@" of the server; "" for none
	silent      bool     // the proxy drops all data, and silences each connection that has any
	cut         bool     // close a connection with a script when the server answers
	hold        []string // texts; a command of a client that contains one does not reach the server, nor do later data
	gates       []*Gate
	rewrite     [2][]byte // the proxy replaces the first text by the second in answers; empty: none
	held        atomic.Int64
	conns       []net.Conn
	swallow     map[*link]bool // connections whose data the proxy drops
	links       map[*link]bool // open connections that have subscribed
	closed      bool
}

// link is a connection of a client and the connection to the server that belongs to it.
type link struct {
	client, server net.Conn
	asked          atomic.Bool // a script has gone to the server
	gate           *Gate       // holds back the answer of the server; nil: none
}

// Gate holds back one answer of the server, see Proxy.Gate. Its methods may be called concurrently.
type Gate struct {
	text    string
	seen    atomic.Int64
	reached chan struct{}
	open    chan struct{}
	once    sync.Once
}

// Reached is closed when the gate holds the answer back: the server has carried the command out.
func (g *Gate) Reached() <-chan struct{} { return g.reached }

// Open lets the answer pass.
func (g *Gate) Open() { g.once.Do(func() { close(g.open) }) }

// Seen is the number of times that clients have sent data with the text.
func (g *Gate) Seen() int { return int(g.seen.Load()) }

// StartProxy starts a proxy in front of the server at url. The proxy stops at the end of the test.
func StartProxy(t testing.TB, url string) *Proxy {
	p := &Proxy{swallow: make(map[*link]bool), links: make(map[*link]bool)}
	p.Redirect(url)
	var err error
	p.listener, err = net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p.wg.Go(p.accept)
	t.Cleanup(p.close)
	return p
}

// URL returns the URL that ranking.Open takes. It has the credentials of the server's URL.
func (p *Proxy) URL() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return "redis://" + p.credentials + p.listener.Addr().String()
}

// Redirect makes another server the target of new connections. Connections that are open stay with
// the server that they have: see Cut. With the URL "" the proxy closes each new connection.
func (p *Proxy) Redirect(url string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	path, local := strings.CutPrefix(url, "unix://")
	switch {
	case url == "":
		p.network, p.target = "", ""
	case local:
		p.network, p.target = "unix", path
	default:
		address := strings.TrimPrefix(url, "redis://")
		at := strings.LastIndex(address, "@") + 1
		p.network, p.credentials, p.target = "tcp", address[:at], address[at:]
	}
}

// BlackHole drops all data until Restore. A connection that loses data stays open, and silent for
// good, as behind a firewall that has forgotten it.
func (p *Proxy) BlackHole() { p.setSilent(true) }

// Restore ends BlackHole: the proxy passes on the data of new connections, and of those that have
// lost none.
func (p *Proxy) Restore() { p.setSilent(false) }

func (p *Proxy) setSilent(silent bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.silent = silent
}

// Swallow drops all further data of the open connections that have subscribed. They stay
// open, so each side finds the other side silent. It returns the number of these connections.
func (p *Proxy) Swallow() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		p.swallow[l] = true
	}
	return len(p.links)
}

// CutAnswers says whether the proxy closes a connection in place of the answer to a script. The
// server has then carried the script out, and the client does not know it.
func (p *Proxy) CutAnswers(cut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = cut
}

// Hold drops the first command of a client that contains one of the texts, and all later data of
// that connection in both directions. The connection stays open without an answer.
func (p *Proxy) Hold(texts ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hold = texts
}

// Rewrite replaces a text in all answers of the server by another text of the same length, as of another server.
func (p *Proxy) Rewrite(text, by string) {
	if len(text) != len(by) {
		panic("redistest: the texts of Rewrite differ in length")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rewrite = [2][]byte{[]byte(text), []byte(by)}
}

// Gate holds back the answer to the first data of a client that contain text, until Gate.Open. The data go to the
// server.
func (p *Proxy) Gate(text string) *Gate {
	g := &Gate{text: text, reached: make(chan struct{}), open: make(chan struct{})}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gates = append(p.gates, g)
	return g
}

// Cut closes all connections.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		c.Close()
	}
	p.conns = nil
}

// Held is the number of connections that Hold has silenced.
func (p *Proxy) Held() int { return int(p.held.Load()) }

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		network, target := p.network, p.target
		p.mu.Unlock()
		server, err := net.Dial(network, target) // fails without a server
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

// command is the start of a command on the wire.
var command = regexp.MustCompile(`\*[0-9]+\r\n\$[0-9]+\r\n`)

// heldFrom returns the start of the first command in data that contains one of the texts, or -1.
func heldFrom(data []byte, texts []string) int {
	first := -1
	for _, text := range texts {
		if at := bytes.Index(data, []byte(text)); at >= 0 && (first < 0 || at < first) {
			first = at
		}
	}
	start := min(first, 0)
	for _, c := range command.FindAllIndex(data, -1) {
		if c[0] < first {
			start = c[0]
		}
	}
	return start
}

// pump copies data from one half of a link to the other until either half is closed.
func (p *Proxy) pump(l *link, to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.links, l)
	}()
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
		if at := heldFrom(buf[:n], p.hold); from == l.client && !p.swallow[l] && at >= 0 {
			p.swallow[l] = true
			p.held.Add(1)
			to.Write(buf[:at]) // an error shows at the next write
		}
		for _, g := range p.gates {
			if from == l.client && bytes.Contains(buf[:n], []byte(g.text)) && g.seen.Add(1) == 1 {
				l.gate = g
			}
		}
		var gate *Gate
		if from == l.server {
			gate, l.gate = l.gate, nil
		}
		if p.silent {
			p.swallow[l] = true
		}
		swallowed := p.swallow[l]
		cut := p.cut && from == l.server && l.asked.Load()
		rewrite := p.rewrite
		p.mu.Unlock()
		if cut {
			return
		}
		if swallowed {
			continue
		}
		if gate != nil {
			close(gate.reached)
			<-gate.open
		}
		data := buf[:n]
		if from == l.server && len(rewrite[0]) > 0 {
			data = bytes.ReplaceAll(data, rewrite[0], rewrite[1])
		}
		if _, err := to.Write(data); err != nil {
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
	for _, g := range p.gates {
		g.Open()
	}
	p.mu.Unlock()
	p.wg.Wait()
}
