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

	"rankcast/ranking"
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

// fill gives the board "b" (of mode last) a thousand new scores under long
// names: frames so large that what a connection holds by itself is soon full.
// The first entry tells the round.
func fill(t testing.TB, n *servertest.Node, round int) {
	t.Helper()
	updates := []ranking.Update{{Member: "round", Score: int64(2e9 + round)}}
	for i := range 1000 {
		updates = append(updates, ranking.Update{Member: fmt.Sprintf("m%03d-%s", i, strings.Repeat("x", 100)), Score: rand.Int64N(1e9)})
	}
	_, err := n.Store.Apply(context.Background(), "b", updates)
	require.NoError(t, err)
}
