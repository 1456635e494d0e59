package ranking

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
)

// due takes due deliveries, and lists their instances.
func (w *world) due(s *Store, most int) (boards []string, list []Delivery) {
	w.t.Helper()
	list = must(s.Deliveries(w.t.Context(), most))(w.t)
	for _, d := range list {
		boards = append(boards, d.Board)
	}
	return boards, list
}

// closeHours writes to instances one after another. The hours of an instance end before the write to the next one.
func (w *world) closeHours(instances ...string) {
	w.t.Helper()
	for _, instance := range instances {
		w.write(w.stores[0], instance, "a", 1)
		w.tendAfter(time.Hour)
		w.tendAfter(time.Second)
	}
}

// What waits of one family delays another board by one delivery, however much it is.
func TestDeliveriesTakeTurnsByDefinition(t *testing.T) {
	t.Parallel()
	boards := []definition.Board{{Name: "many:{x}", Period: "hour"}, {Name: "few:{x}", Period: "hour"}, {Name: "one", Period: "hour"}}
	simulatedWorlds(t, 2, Config{Deliver: []string{AllBoards}}, boards, func(t *testing.T, w *world) {
		for i := range 20 {
			w.write(w.stores[0], fmt.Sprint("many:", i), "a", 1)
		}
		w.tendAfter(time.Hour)
		w.pass(time.Second)
		w.closeHours("few:1", "few:2", "few:3", "one")
		w.pass(time.Second)
		var order []string
		for i := range 9 {
			boards, list := w.due(w.stores[i%2], 1)
			require.Len(t, boards, 1)
			order = append(order, strings.TrimRight(boards[0], "0123456789"))
			if i%3 == 0 {
				require.NoError(t, w.stores[0].Delivered(t.Context(), list[0]))
			}
			w.pass(time.Millisecond)
		}
		require.Equal(t, []string{"many:", "few:", "one", "many:", "few:", "many:", "few:", "many:", "many:"}, order)
		w.closeHours("one")
		all, list := w.due(w.stores[1], 4)
		require.Len(t, all, 4)
		require.Contains(t, all, "one", "in one call, too")
		second := list[1] // of a line whose turn is not the next

		// A line has its turn when the next delivery is due, not when a claim would end.
		w.pass(time.Millisecond)
		w.due(w.stores[0], 100)
		none, _ := w.due(w.stores[0], 100)
		require.Empty(t, none)
		require.NoError(t, w.stores[1].Deferred(t.Context(), second, 5*time.Second, nil))
		w.pass(4 * time.Second)
		none, _ = w.due(w.stores[0], 1)
		require.Empty(t, none)
		w.pass(30 * time.Second) // a store's clock also moves by the time that has really passed since it read Redis's
		again, _ := w.due(w.stores[0], 1)
		require.Equal(t, []string{second.Board}, again)
	})
}

// A definition has so many deliveries at most. The oldest give way, are logged, and keep
// no data; those of other boards stay.
func TestTooManyDeliveriesOfADefinition(t *testing.T) {
	t.Parallel()
	boards := []definition.Board{{Name: "many:{x}", Period: "hour", Keep: new(0)}, {Name: "one", Period: "hour"}}
	simulatedWorlds(t, 1, Config{Deliver: []string{AllBoards}}, boards, func(t *testing.T, w *world) {
		s, k := w.stores[0], w.stores[0].keys
		s.maxDeliveries = 3
		var log bytes.Buffer
		report := func() string {
			defer log.Reset()
			logDropped(slog.New(slog.NewTextHandler(&log, nil)), &s.dropped)
			return log.String()
		}
		w.closeHours("one", "many:1", "many:2", "many:3")
		require.Empty(t, report())
		w.closeHours("many:4", "many:5")
		require.Contains(t, report(),
			`level=ERROR msg="too many webhook messages of a board wait; the node drops those that were due first" board=many:{x} dropped=2`)
		w.tendAfter(relistAfter + time.Second)
		left, list := w.due(s, 10)
		require.ElementsMatch(t, []string{"one", "many:3", "many:4", "many:5"}, left)
		require.Len(t, w.rdb.Keys(t.Context(), "rc:{many:*}:*:z").Val(), 3, "the data of the others are gone")

		for _, d := range list {
			require.NoError(t, s.Deferred(t.Context(), d, 100*time.Hour, errors.New("refused"))) // the receiver takes none
		}
		w.closeHours("many:6")
		left, list = w.due(s, 10)
		require.Equal(t, []string{"many:6"}, left, "the new one is not the one that goes, though it is due first")
		require.NoError(t, s.Delivered(t.Context(), list[0]))
		// Housekeeping is late with one that has given way: it pushes out no other.
		reply := script.Await.Run(t.Context(), s.rdb, append(s.deliveryKeys("many/1"), "rc:none"), []any{"many/1", "many:0@p", "", 2, 1})
		require.NoError(t, reply.Err)
		require.Equal(t, []any{"dropped", "many:0@p"}, reply.Rest)
		w.pass(100 * time.Hour)
		left, _ = w.due(s, 10)
		require.ElementsMatch(t, []string{"one", "many:4", "many:5"}, left)
		require.Equal(t, int64(2), w.rdb.ZCard(t.Context(), k.Deliveries("many/1")).Val())
		require.Equal(t, int64(3), w.rdb.ZCard(t.Context(), k.Undelivered()).Val())
		require.Equal(t, int64(3), w.rdb.HLen(t.Context(), k.FailedDeliveries()).Val())
	})
}

// undelivered goes through all pages of the list of deliveries.
func (w *world) undelivered(limit int) (boards []string, list []Undelivered) {
	w.t.Helper()
	for after, pages := "", 0; after != "" || pages == 0; pages++ {
		page := must(w.stores[0].Undelivered(w.t.Context(), after, limit))(w.t)
		require.LessOrEqual(w.t, len(page.List), limit)
		require.Less(w.t, pages, 20)
		list, after = append(list, page.List...), page.Next
		require.EqualValues(w.t, w.rdb.ZCard(w.t.Context(), w.stores[0].keys.Undelivered()).Val(), page.Total)
	}
	for _, d := range list {
		boards = append(boards, d.Board)
	}
	return boards, list
}

// A list shows the deliveries that wait, the oldest first, with what has become of their attempts.
func TestDeliveriesAreListed(t *testing.T) {
	t.Parallel()
	boards := []definition.Board{{Name: "many:{x}", Period: "hour"}, {Name: "one", Period: "hour"}, {Name: "hot", Period: "hour", Shards: 2}}
	simulatedWorlds(t, 2, Config{Deliver: []string{AllBoards}}, boards, func(t *testing.T, w *world) {
		s := w.stores[0]
		none, _ := w.undelivered(10)
		require.Empty(t, none)
		order := []string{"one", "many:2", "hot", "many:1", "many:3"}
		w.closeHours(order...)
		for limit := range len(order) + 1 {
			boards, _ := w.undelivered(limit + 1)
			require.Equal(t, order, boards, "pages of %d", limit+1)
		}
		taken := map[string]Delivery{}
		_, due := w.due(w.stores[1], 10)
		for _, d := range due {
			taken[d.Board] = d
		}
		require.NoError(t, s.Deferred(t.Context(), taken["hot"], time.Hour, errors.New("the receiver says \"no\" "+strings.Repeat("…", 100))))
		require.NoError(t, s.Deferred(t.Context(), taken["one"], 0, nil))
		require.NoError(t, s.Delivered(t.Context(), taken["many:1"]))
		boards, list := w.undelivered(10)
		require.Equal(t, []string{"one", "many:2", "hot", "many:3"}, boards)
		for _, u := range list {
			d := taken[u.Board]
			require.Equal(t, []any{d.ID, d.Period, d.Now.Add(-d.Age)}, []any{u.ID, u.Period, u.Settled})
		}
		require.Equal(t, []int64{0, 0, 1, 0}, []int64{list[0].Attempts, list[1].Attempts, list[2].Attempts, list[3].Attempts})
		require.Regexp(t, `^the receiver says "no" …+$`, list[2].Failure)
		require.InDelta(t, time.Hour, list[2].Next.Sub(taken["hot"].Now), float64(time.Minute))
		require.Empty(t, list[0].Failure)

		w.pass(2 * time.Hour)
		_, due = w.due(s, 10)
		for _, d := range due {
			require.NoError(t, s.Deferred(t.Context(), d, time.Second, errors.New("down")))
		}
		_, list = w.undelivered(10)
		require.Equal(t, []any{int64(2), "down"}, []any{list[2].Attempts, list[2].Failure})
		require.Equal(t, []any{int64(1), "down"}, []any{list[0].Attempts, list[0].Failure})

		// Nothing remains of what has arrived, was deleted or was dropped.
		require.NoError(t, s.Delete(t.Context(), "one", Moderator{}))
		w.tendAfter(time.Minute)
		_, due = w.due(s, 10)
		for _, d := range due {
			require.NoError(t, s.Delivered(t.Context(), d))
		}
		boards, _ = w.undelivered(10)
		require.Empty(t, boards)
		require.Zero(t, w.rdb.Exists(t.Context(), s.keys.Undelivered(), s.keys.FailedDeliveries()).Val())
		for _, cursor := range []string{"x", `{"at":-1}`, `{"passed":-1}`, `[]`} {
			refused(t, errorOf(s.Undelivered(t.Context(), cursor, 10)), "cursor")
		}
		for _, limit := range []int{0, MaxUndeliveredPage + 1} {
			refused(t, errorOf(s.Undelivered(t.Context(), "", limit)), "limit")
		}
	})
}
