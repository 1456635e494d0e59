package client_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/access/accesstest"
	"rankcast/server/client"
	"rankcast/server/servertest"
)

// A watch goes on with another key when a server withdraws its own, whatever anonymous may do there.
func TestWatchGoesOnWithTheNextKey(t *testing.T) {
	t.Parallel()
	for name, rest := range map[string]string{"no anonymous": "", "anonymous": "anonymous: {scopes: [read], boards: [other]}\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			line := func(name string) string {
				return fmt.Sprintf("  - {name: %s, hash: HASH:%s, scopes: [read], boards: [b]}\n", name, name)
			}
			g := accesstest.Start(t, "keys:\n"+line("k1")+line("k2")+rest)
			n := servertest.Start(t, redistest.Embedded(t), servertest.Config{Server: server.Config{Access: g.Guard}}, definition.Board{Name: "b"})
			k1, k2 := g.Key("k1"), g.Key("k2")
			var withdrawn atomic.Bool
			var renewals atomic.Int64 // calls that returned k2: one asks whether the key has changed, the next one connects
			c, err := client.New("http://"+n.Addr, client.Config{Credentials: func(context.Context) (string, error) {
				if !withdrawn.Load() {
					return k1, nil
				}
				renewals.Add(1)
				return k2, nil
			}})
			require.NoError(t, err)
			t.Cleanup(c.Close)
			w := watch(t, c, "b", client.Watch{})
			w.until("the board", live)
			withdrawn.Store(true)
			g.Replace("keys:\n" + line("k2") + rest)
			redistest.Eventually(t, "the client to connect again", func() error {
				if calls := renewals.Load(); calls < 2 {
					return fmt.Errorf("%d calls", calls)
				}
				return nil
			})
			_, err = n.Store.Apply(t.Context(), "b", []definition.Update{{Member: "m", Score: 1}})
			require.NoError(t, err)
			w.until("the score", func(b client.Board) bool { return live(b) && b.Total == 1 })
		})
	}
}
