package servertest

import (
	"cmp"
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"rankcast/hub"
	"rankcast/hub/hubtest"
	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/feed"
	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/certificate"
	"rankcast/server/certificate/certificatetest"
)

// Config configures a Node. The zero value is a server's default, but for Ranking.CallTimeout:
// zero means redistest.CallTimeout. A test of a Redis that falls silent sets its own.
type Config struct {
	Ranking ranking.Config
	Hub     hub.Config
	Server  server.Config
	Listen  string // address to listen on; default a free port of 127.0.0.1
}

// Node is a complete server in the test's process.
type Node struct {
	Addr  string
	Store *ranking.Store
	Hub   *hub.Hub
	// Server is for what it counts.
	Server *server.Server
	Stop   func() // stops the node before the end of the test
	t      testing.TB
}

// Do sends the node a request; body is JSON text, or "" for none.
func (n *Node) Do(method, path, body string, header ...string) Answer {
	n.t.Helper()
	return Request(n.t, method, "http://"+n.Addr+path, body, header...)
}

// Require is Do for an answer that must have a status.
func (n *Node) Require(status int, method, path, body string, header ...string) Answer {
	n.t.Helper()
	a := n.Do(method, path, body, header...)
	require.Equal(n.t, status, a.Status, "%s %s: %s", method, path, a.Body)
	return a
}

// Until sends a request again until the answer has a status.
func (n *Node) Until(what string, status int, method, path, body string, header ...string) {
	n.t.Helper()
	redistest.Eventually(n.t, what, func() error { return n.Do(method, path, body, header...).Is(status) })
}

// UntilReady waits until the node is ready.
func (n *Node) UntilReady() { n.Until("the node to be ready", 200, "GET", "/readyz", "") }

// Metric is the value of a metric of the node by its name and labels, as in "rankcast_clients{kind=\"stream\"}". That
// of a histogram has the name with _count or _sum.
func (n *Node) Metric(name string) float64 {
	n.t.Helper()
	answer := n.Do("GET", "/metrics", "")
	require.Equal(n.t, 200, answer.Status)
	for line := range strings.Lines(answer.Body) {
		if text, ok := strings.CutPrefix(line, name+" "); ok {
			value, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			require.NoError(n.t, err)
			return value
		}
	}
	require.FailNow(n.t, "no metric "+name)
	return 0
}

// UntilMetric waits until a metric of the node has a value.
func (n *Node) UntilMetric(name string, want float64) {
	n.t.Helper()
	redistest.UntilEqual(n.t, name, want, func() float64 { return n.Metric(name) })
}

// Top reads the top of a board of the node.
func (n *Node) Top(board string, limit int) (top []hubtest.Entry, total int64) {
	n.t.Helper()
	return Top(n.t, n.Addr, board, limit)
}

// Setup is a node that a test starts on each engine.
type Setup struct {
	cfg    Config
	boards []definition.Board
}

// With is the Setup of a node with boards defined.
func With(cfg Config, boards ...definition.Board) Setup { return Setup{cfg, boards} }

// OnEngines runs a test in parallel with others, on a node of each engine.
func (s Setup) OnEngines(t *testing.T, test func(t *testing.T, n *Node)) {
	t.Helper()
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) { test(t, Start(t, url, s.cfg, s.boards...)) })
}

// StartTLS is Start for a node that speaks TLS. trust is the configuration of its clients.
func StartTLS(t testing.TB, url string, cfg Config, boards ...definition.Board) (n *Node, trust *tls.Config) {
	own := certificatetest.Valid(t)
	certFile, keyFile := own.Write(t, t.TempDir())
	var err error
	cfg.Server.Certificate, err = certificate.New(certificate.Config{CertFile: certFile, KeyFile: keyFile, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	return Start(t, url, cfg, boards...), certificatetest.Trust(own)
}

// Start starts a node on the Redis at url, with boards defined. It does not wait until the node is
// ready. The node stops at the end of the test.
func Start(t testing.TB, url string, cfg Config, boards ...definition.Board) *Node {
	log := cmp.Or(cfg.Server.Log, slog.New(slog.DiscardHandler)) // of all parts of the node
	cfg.Hub.Log, cfg.Server.Log = log, log
	cfg.Server.PingAfter = cmp.Or(cfg.Server.PingAfter, time.Hour) // a client of a test may not read for long
	cfg.Server.Metrics = cmp.Or(cfg.Server.Metrics, prometheus.NewRegistry())
	cfg.Ranking.Metrics, cfg.Hub.Metrics = cfg.Server.Metrics, cfg.Server.Metrics
	rdb, err := ranking.Open(url)
	require.NoError(t, err)
	if cfg.Ranking.CallTimeout == 0 {
		cfg.Ranking.CallTimeout = redistest.CallTimeout
		redistest.Patient(rdb)
	}
	store := ranking.New(rdb, cfg.Ranking)
	if len(boards) > 0 { // a node without boards starts while Redis is away
		require.NoError(t, store.Define(context.Background(), definition.Set{Boards: boards}))
	}
	changes := feed.New(rdb, log, feed.Config{Prefix: cfg.Ranking.Prefix})
	h := hub.New(store, changes, cfg.Hub)
	s := server.New(store, h, cfg.Server)
	l, err := net.Listen("tcp", cmp.Or(cfg.Listen, "127.0.0.1:0"))
	require.NoError(t, err)
	n := &Node{Addr: l.Addr().String(), Store: store, Hub: h, Server: s, t: t}
	var stops []func()
	role := func(run func(context.Context)) {
		ctx, cancel := context.WithCancel(context.Background())
		ended := redistest.Go(func() { run(ctx) })
		stops = append(stops, func() { cancel(); <-ended })
	}
	role(func(ctx context.Context) { store.RunRightsChecks(ctx, log) })
	role(func(ctx context.Context) { store.RunHousekeeping(ctx, log) })
	role(func(ctx context.Context) { changes.Run(ctx, h) })
	role(func(ctx context.Context) { h.Run(ctx) })
	role(func(ctx context.Context) {
		if err := s.Serve(ctx, l); err != nil {
			t.Error(err)
		}
	})
	stopped := false
	n.Stop = func() {
		if !stopped {
			stopped = true
			for i := len(stops) - 1; i >= 0; i-- {
				stops[i]()
			}
			store.Close()
			rdb.Close()
		}
	}
	t.Cleanup(n.Stop)
	return n
}
