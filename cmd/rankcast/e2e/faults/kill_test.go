package faults

import (
	"testing"
	"time"

	"rankcast/ranking/redistest"
)

func TestFaultKills(t *testing.T) {
	t.Parallel()
	kills(t, shortForm)
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
