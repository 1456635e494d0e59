package live_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"rankcast/hub"
	"rankcast/hub/hubtest"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// Clients that come, ask, stall and vanish in every order leave nothing behind
// and break nothing for the others.
func TestChurn(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{Hub: hub.Config{Interval: time.Millisecond}},
		definition.Board{Name: "b"}, definition.Board{Name: "c"})
	watcher := servertest.Dial(t, n.Addr)
	watcher.Subscribe("b", 20)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	done := make(chan error)
	for i := range 8 {
		go func() {
			done <- func() error {
				for j := range 25 {
					ws, _, err := websocket.Dial(ctx, "ws://"+n.Addr+"/v1/live", nil)
					if err != nil {
						return err
					}
					for k := range rand.IntN(6) {
						ws.Write(ctx, websocket.MessageText, fmt.Appendf(nil, `{"type":"subscribe","id":%d,"board":"%c","top":%d}`, k, 'b'+rune(k%2), k*3))
						n.Store.Apply(ctx, "b", []definition.Update{{Member: fmt.Sprint("m", rand.IntN(30)), Score: 1}})
					}
					if (i+j)%3 == 0 {
						ws.Close(websocket.StatusNormalClosure, "")
					} else {
						ws.CloseNow()
					}
				}
				return nil
			}()
		}()
	}
	for range 8 {
		require.NoError(t, redistest.Receive(t, "the run to end", done))
	}
	want, total := n.Top("b", 20)
	watcher.Until("b", "the board", func(b *hubtest.Board) bool { return b.Total == total && fmt.Sprint(b.Top) == fmt.Sprint(want) })
	redistest.Eventually(t, "the others to be gone", func() error {
		if w := n.Hub.Watched(); w != 1 {
			return fmt.Errorf("%d watched", w)
		}
		return nil
	})
}
