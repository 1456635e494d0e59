package faults

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
)

func TestFaultOutputBuffer(t *testing.T) {
	t.Parallel()
	outputBuffer(t, shortForm)
}

// outputBuffer has Redis cut the pub/sub connection of a node that reads too slowly
// (client-output-buffer-limit). The node's clients stay connected, are told, and get what it missed.
// The other node notices nothing.
func outputBuffer(t *testing.T, f faultForm) *figures {
	r := redistest.Start(t, "--client-output-buffer-limit", "pubsub", "64kb", "0", "0")
	tr := &trial{t: t, form: f, redis: r}
	slow := tr.addNode(nil, r.URL()) // no proxy reads ahead for it
	other := tr.addNode(nil, r.URL())
	tr.begin()
	store, figures := tr.direct(r.URL()), new(figures)
	for range f.rounds {
		tr.load.pause()
		suspend(t, slow.Cmd.Process.Pid)
		redistest.Eventually(t, "Redis to cut the connection of the slow node", func() error {
			tr.load.around(store)
			clients, err := r.Admin().ClientList(t.Context()).Result()
			if n := strings.Count(clients, " cmd=subscribe "); err != nil || n != 1 {
				return fmt.Errorf("%d subscribers (%v)", n, err)
			}
			return nil
		})
		resume(t, slow.Cmd.Process.Pid)
		whole := time.Now()
		slow.told(true)
		slow.told(false)
		figures.add("all views equal Redis after", tr.right(slow, other).Sub(whole))
		tr.load.resume()
	}
	tr.end()
	tr.stayed(slow, other)
	require.Nil(t, other.witness.Stale, "a node that reads its messages has told its clients nothing")
	return figures
}
