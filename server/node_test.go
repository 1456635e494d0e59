package server_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"rankcast/hub"
	"rankcast/hub/hubtest"
	"rankcast/ranking"
	"rankcast/ranking/definition"
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

func startNode(t testing.TB, url string, cfg nodeConfig, boards ...definition.Board) *node {
	n := servertest.Start(t, url, servertest.Config{Ranking: cfg.ranking, Hub: cfg.hub, Server: cfg.server}, boards...)
	return &node{t: t, addr: n.Addr, store: n.Store, hub: n.Hub, stop: n.Stop}
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
	updates := []definition.Update{{Member: "round", Score: int64(2e9 + round)}}
	for i := range 1000 {
		updates = append(updates, definition.Update{Member: fmt.Sprintf("m%03d-%s", i, strings.Repeat("x", 100)), Score: rand.Int64N(1e9)})
	}
	_, err := n.store.Apply(context.Background(), "b", updates)
	require.NoError(n.t, err)
}
