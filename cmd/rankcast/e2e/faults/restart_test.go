package faults

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// rollingRestart stops each node by SIGTERM and starts it again, under load. The load loses no update,
// and each client ends right. A node that stops says first that it is not ready, and tells its clients
// to come back over two seconds.
func rollingRestart(t *testing.T, f faultForm) *figures {
	f.args = append(slices.Clone(f.args), "--drain-time", "3s")
	tr := newTrial(t, f, redistest.Start(t), 2)
	figures := new(figures)
	for range f.rounds {
		for _, n := range tr.nodes {
			// The node closes a socket whose client is silent for 35 s. So the test opens the sockets just before
			// the node stops: until then, the test does not read them.
			var sockets []*servertest.Socket
			for range 41 {
				s := servertest.Dial(t, n.Addr)
				s.Subscribe("quiet", 1)
				sockets = append(sockets, s)
			}
			n.Terminate()
			began := time.Now()
			redistest.Eventually(t, "the node to say that it is not ready", func() error {
				answer, err := servertest.Try(t, "GET", "http://"+n.Addr+"/readyz", "")
				require.NoError(t, err, "the node accepts no connection any more, and never said that it is not ready")
				if answer.Status == 200 {
					return errors.New("ready")
				}
				require.Equal(t, 503, answer.Status)
				return nil
			})
			require.Equal(t, 200, n.Post("quiet", `{"member":"m","score":1}`).Status, "it still takes updates")

			var waits []int
			for _, s := range sockets {
				bye := s.Next("bye")
				require.Equal(t, "drain", bye.Reason)
				waits = append(waits, *bye.RetryMS)
				_, err := s.Read()
				require.Equal(t, websocket.StatusGoingAway, websocket.CloseStatus(err), "%v", err)
			}
			require.Zero(t, n.Ended())
			figures.add("a node has ended after", time.Since(began))
			require.LessOrEqual(t, slices.Max(waits), 2000)
			require.Greater(t, slices.Max(waits)-slices.Min(waits), 1000, "the clients of a node all come back at once: %v", waits)
			ended := time.Now()
			tr.load.untilAnswered(200, ended, 5*f.senders)
			n.start()
			started := time.Now()
			tr.load.pause()
			figures.add("all views equal Redis after the start of the new node", tr.right(tr.nodes...).Sub(started))
			tr.load.resume()
		}
	}
	tr.end()
	return figures
}

// kills ends Redis and the nodes by SIGKILL in turn, under updates that are sent again with their ids.
// The ledger shows that no acknowledged update is lost, and that none counts twice.
func kills(t *testing.T, f faultForm) *figures {
	tr := newTrial(t, f, redistest.Start(t, "--appendfsync", "always"), 2)
	figures := new(figures)
	for range f.rounds {
		for i, n := range tr.nodes {
			n.Kill()
			killed := time.Now()
			tr.load.untilAnswered(200, killed, 5*f.senders) // by the other node
			tr.load.untilAnswered(0, killed, 1)
			n.start()
			if i == 0 {
				tr.redis.Kill()
				killed = time.Now()
				tr.load.untilAnswered(503, killed, f.senders)
				tr.redis.Start()
			}
			tr.load.untilAnswered(200, time.Now(), 20*f.senders)
		}
	}
	tr.end()
	figures.add("updates", len(tr.load.since(time.Time{})))
	return figures
}
