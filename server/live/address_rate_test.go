package live_test

import (
	"bytes"
	"context"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/access"
	"rankcast/server/servertest"
)

// The node answers all sockets of an address together no faster than the rate of the address, refusals included,
// and each of them goes on. The test compares the answers with the time that it has really waited.
func TestSocketsOfAnAddressAreReadAtItsRate(t *testing.T) {
	t.Parallel()
	const perSecond, saved, sockets, messages = 40, 800, 10, 400
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{Server: server.Config{
		Limits: access.Config{AddressRequests: perSecond}, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
	}})
	began := time.Now()
	var answers atomic.Int64
	enough := make(chan struct{})
	var all []*servertest.Socket
	for range sockets {
		all = append(all, servertest.DialFrom(t, n.Addr, "203.0.113.9"))
	}
	for _, s := range all {
		go func() {
			for range messages {
				if s.WS.Write(context.Background(), websocket.MessageText, []byte(`{"type":"ping","id":1}`)) != nil {
					return
				}
			}
		}()
		go func() {
			for {
				m, err := s.Raw()
				if err != nil {
					return
				}
				if bytes.HasPrefix(m, []byte(`{"type":"status"`)) {
					continue
				}
				if answers.Add(1) == saved+sockets+perSecond {
					close(enough)
				}
			}
		}()
	}
	select {
	case <-enough:
	case <-time.After(servertest.Patience):
		require.Fail(t, "the node reads nothing", "%d answers", answers.Load())
	}
	got := answers.Load()
	require.LessOrEqual(t, float64(got), perSecond*time.Since(began).Seconds()+saved+sockets)
}
