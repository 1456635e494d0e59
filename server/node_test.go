package server_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"rankcast/hub"
	"rankcast/hub/hubtest"
	"rankcast/ranking"
	"rankcast/server"
	"rankcast/server/servertest"
)

func TestMain(m *testing.M) {
	if spec := os.Getenv(drainEnv); spec != "" {
		drain(spec)
		return
	}
	if spec := os.Getenv(joinEnv); spec != "" {
		join(spec)
		return
	}
	goleak.VerifyTestMain(m,
		// The connection pools of http.DefaultTransport and of test clients.
		goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}

const patience = servertest.Patience

// node is a whole server in this process.
type node struct {
	t     testing.TB
	addr  string
	store *ranking.Store
	hub   *hub.Hub
	stop  func()
}

// nodeConfig is what tests may want otherwise.
type nodeConfig struct {
	ranking ranking.Config
	hub     hub.Config
	server  server.Config
}

func startNode(t testing.TB, url string, cfg nodeConfig, boards ...ranking.Definition) *node {
	log := slog.New(slog.DiscardHandler)
	cfg.hub.Log, cfg.server.Log = log, log
	rdb, err := ranking.Open(url)
	require.NoError(t, err)
	store, err := ranking.New(rdb, boards, cfg.ranking)
	require.NoError(t, err)
	feed := ranking.NewFeed(rdb, log, cfg.ranking)
	h := hub.New(store, feed, cfg.hub)
	s := server.New(store, h, cfg.server)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	n := &node{t: t, addr: l.Addr().String(), store: store, hub: h}
	var stops []func()
	role := func(run func(context.Context)) {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() {
			run(ctx)
			close(done)
		}()
		stops = append(stops, func() { cancel(); <-done })
	}
	role(func(ctx context.Context) { feed.Run(ctx, h) })
	role(func(ctx context.Context) { h.Run(ctx) })
	role(func(ctx context.Context) {
		if err := s.Serve(ctx, l); err != nil {
			t.Error(err)
		}
	})
	stopped := false
	n.stop = func() {
		if !stopped {
			stopped = true
			for i := len(stops) - 1; i >= 0; i-- {
				stops[i]()
			}
			store.Close()
			rdb.Close()
		}
	}
	t.Cleanup(n.stop)
	return n
}

// do sends a request; body is JSON text, or "" for none.
func (n *node) do(method, path, body string, header ...string) servertest.Answer {
	n.t.Helper()
	return servertest.Request(n.t, method, "http://"+n.addr+path, body, header...)
}

// top is GET /top of a board.
func (n *node) top(board string, limit int) (top []hubtest.Entry, total int64) {
	n.t.Helper()
	return servertest.Top(n.t, n.addr, board, limit)
}

// fill gives the board "b" (of mode last) a thousand new scores under long
// names: frames so large that what a connection holds by itself is soon full.
// The first entry tells the round.
func (n *node) fill(round int) {
	n.t.Helper()
	updates := []ranking.Update{{Member: "round", Score: int64(2e9 + round)}}
	for i := range 1000 {
		updates = append(updates, ranking.Update{Member: fmt.Sprintf("m%03d-%s", i, strings.Repeat("x", 100)), Score: rand.Int64N(1e9)})
	}
	_, err := n.store.Apply(context.Background(), "b", updates)
	require.NoError(n.t, err)
}
