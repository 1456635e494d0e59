package faults

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub/hubtest"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// redisClock sets Redis's clock forward by an hour, back, and forward again. Periods, windows and
// request ids behave as operations.md ("Clocks") and http.md ("Retries and ids") say. Boards without
// a period count all the time. No test shifts the clock of a node: a Go program does not ask the C
// library for the time, so faketime cannot.
func redisClock(t *testing.T, f faultForm) *figures {
	figures := new(figures)
	r, shift := redistest.StartShifted(t)
	now := time.Now()
	// The test begins in the middle of an hour, so that only shift changes the period.
	start := now.Truncate(time.Hour).Add(90 * time.Minute).Sub(now)
	shift(start)
	tr := &trial{t: t, form: f, redis: r}
	n := tr.addNode(nil, r.URL())
	tr.begin()
	send := func(board, member, id string) servertest.Answer {
		return n.PostOnce(board, fmt.Sprintf(`{"member":%q,"score":5,"id":%q}`, member, id))
	}
	counts := func(board, member, id string, duplicate bool) {
		t.Helper()
		answer := send(board, member, id)
		require.Equal(t, 200, answer.Status, answer.Body)
		require.Contains(t, answer.Body, fmt.Sprintf(`"duplicate":%v`, duplicate))
	}
	updates := func() { tr.load.untilAnswered(200, time.Now(), 20*tr.form.senders) }

	hour, window, closed := servertest.Dial(t, n.Addr), servertest.Dial(t, n.Addr), servertest.Dial(t, n.Addr)
	closed.Send(`{"type":"subscribe","feed":"periods"}`)
	closed.Next("feed")
	hour.Subscribe("hourly", 10)
	window.Subscribe("recent", 10)
	for _, board := range []string{"hourly", "recent", "quiet"} {
		counts(board, "before", "1", false)
		counts(board, "before", "1", true)
	}
	holds := func(members ...string) func(*hubtest.Board) bool {
		return func(b *hubtest.Board) bool {
			var top []string
			for _, e := range b.Top {
				top = append(top, e.Member)
			}
			return fmt.Sprint(top) == fmt.Sprint(members)
		}
	}
	hour.Until("hourly", "the first member", holds("before"))
	first := hour.Boards["hourly"].Period
	window.Until("recent", "the first member", holds("before"))

	shift(start + time.Hour)
	shifted := time.Now()
	hour.Until("hourly", "the end of the hour", func(b *hubtest.Board) bool { return b.Final })
	require.True(t, holds("before")(hour.Boards["hourly"]))
	hour.Until("hourly", "the next hour", func(b *hubtest.Board) bool { return b.Period != first && b.Total == 0 })
	figures.add("clock set forward by an hour: a quiet board shows its next period after", time.Since(shifted))
	window.Until("recent", "the window to pass", holds())
	figures.add("clock set forward by an hour: a quiet window is empty after", time.Since(shifted))
	counts("hourly", "after", "2", false)
	counts("recent", "after", "2", false)
	window.Until("recent", "the member of that hour", holds("after"))
	counts("quiet", "before", "1", false) // an id holds for twenty minutes at most
	counts("quiet", "before", "1", true)
	hour.Until("hourly", "the member of that hour", holds("after"))
	for len(closed.Next("feed").Items) == 0 { // until the first hour is announced as closed
	}
	updates()

	shift(start)
	updates()
	require.Equal(t, "[{1 before 5    }]", fmt.Sprint(topOf(n, "hourly@"+first)))
	redistest.Eventually(t, "the period that was announced to stay closed", func() error {
		if answer := send("hourly", "late", "3"); answer.Status != 503 {
			return fmt.Errorf("%d %s", answer.Status, answer.Body)
		}
		return nil
	})
	counts("quiet", "before", "1", true) // ids of the hour that Redis's clock has left are still known
	counts("recent", "again", "3", false)
	updates()

	shift(start + time.Hour)
	redistest.Eventually(t, "the clock to have caught up", func() error {
		if answer := send("hourly", "late", "3"); answer.Status != 200 {
			return fmt.Errorf("%d %s", answer.Status, answer.Body)
		}
		return nil
	})
	counts("hourly", "late", "3", true)
	hour.Until("hourly", "both members", holds("after", "late"))
	window.Until("recent", "both members", func(b *hubtest.Board) bool {
		want, total := servertest.Top(t, n.Addr, "recent", 10)
		return total == b.Total && fmt.Sprint(want) == fmt.Sprint(b.Top)
	})
	tr.end()
	tr.stayed(n)
	return figures
}

func topOf(n *faultNode, board string) []hubtest.Entry {
	top, _ := servertest.Top(n.t, n.Addr, board, 10)
	return top
}
