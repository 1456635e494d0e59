package ranking

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

// fullWorld is a node's store on a Redis of its own, whose memory is filled by fill.
func fullWorld(t *testing.T, boards ...definition.Board) (w *world, fill func()) {
	r := redistest.Start(t)
	w = &world{t: t, url: r.URL()}
	w.open(1, Config{}, boards)
	return w, func() {
		t.Helper()
		require.NoError(t, r.Admin().ConfigSet(t.Context(), "maxmemory", "1").Err())
		_, err := w.stores[0].Apply(t.Context(), boards[0].Name, []definition.Update{{Member: "late", Score: 1}})
		require.ErrorContains(t, err, "OOM command not allowed")
		require.ErrorContains(t, w.stores[0].CheckRights(t.Context()), "OOM command not allowed", "as each node checks")
	}
}

// What frees memory, or protects people, works while Redis is at its maxmemory.
func TestFullMemory(t *testing.T) {
	t.Parallel()
	by := Moderator{Reason: "test", By: "test"}
	week := 7 * 24 * time.Hour
	boards := func() []definition.Board {
		return []definition.Board{
			{Name: "stars", Kind: "star"},
			{Name: "fans:{star}", Kind: "user"},
			{Name: "dense", Kind: "user", Ties: definition.Dense},
			{Name: "best", Kind: "user", Mode: definition.Best, Limit: 5},
			{Name: "news", Kind: "news", MemberTTL: week},
			{Name: "hours", Kind: "user", Period: "day"},
			{Name: "recent", Kind: "user", Window: 3 * time.Hour},
			{Name: "now", Kind: "user", Window: 3 * time.Hour, Refresh: definition.Live},
			{Name: "both", Kind: "user", Union: &definition.Union{Of: []string{"hours", "dense"}}},
			{Name: "past", Kind: "user", History: shortStep},
		}
	}
	written := []string{"fans:s1", "fans:s2", "dense", "best", "news", "hours", "recent", "now", "past"}
	w, fill := fullWorld(t, boards()...)
	ctx, s := t.Context(), w.stores[0]
	gift := definition.Event{Name: "gift", Updates: []definition.Target{
		{Board: "stars", Member: "{star}", Score: "{n}"}, {Board: "fans:{star}", Member: "{user}", Score: "{n}"},
	}}
	require.NoError(t, s.DefineEvent(ctx, gift, Moderator{}))
	give(t, s, "g1", "s1", "ana", 5)
	give(t, s, "g2", "s1", "bob", 5)
	for _, board := range written {
		for i, member := range []string{"ana", "bob", "cat", "dan"} {
			apply(t, s, board, definition.Update{Member: member, Score: int64(i + 1)})
		}
	}
	for _, member := range []string{"ana", "bob", "cat"} {
		must(s.SetProfile(ctx, "user", member, Profile{Name: "The " + member}))(t)
	}
	require.NoError(t, s.Hide(ctx, "dense", "dan", by))
	require.NoError(t, s.RecordHistory(ctx, "past"))
	require.Len(t, append(entriesOf(t, s, "recent"), entriesOf(t, s, "both")...), 8, "results that nodes build")
	w.tend()
	total := func(board string, n int64) error { return w.shows(board, n) }
	fill()

	require.NoError(t, s.Hide(ctx, "dense", "ana", by), "hide")
	w.store(Config{})
	begun := w.stores[1]
	require.ErrorContains(t, begun.CheckRights(ctx), "OOM command not allowed")
	require.NoError(t, begun.HideEverywhere(ctx, "user", "bob", by), "hide on all boards, by a node that has just begun")
	w.until("the hidden member to leave all boards", func() error {
		for _, board := range []string{"fans:s1", "hours", "past"} {
			if entries := entriesOf(t, s, board); strings.Contains(strings.Join(entries, " "), "bob") {
				return fmt.Errorf("%s: %v", board, entries)
			}
		}
		return nil
	})
	require.NoError(t, s.Show(ctx, "dense", "dan", by), "show again")
	require.Equal(t, []string{"dan 4 #1", "cat 3 #2"}, entriesOf(t, s, "dense"), "hidden and shown at once")
	require.NoError(t, s.DeleteProfile(ctx, "user", "cat"), "delete a profile")
	require.ErrorContains(t, errorOf(s.Profile(ctx, "user", "cat")), "has no profile")
	must(s.TakeBack(ctx, "gift", "g1", nil, by))(t, "take an event back")
	must(s.SetScore(ctx, "best", "cat", 1, by))(t, "set a score")
	must(s.Remove(ctx, "best", "dan"))(t, "remove a member")
	must(s.Erase(ctx, "user", "ana", by))(t, "erase a member")
	w.untilErased("user", "ana")
	require.NotContains(t, fmt.Sprint(w.recorded("gift")), `"ana"`, "nor do records of events name the member")
	require.Contains(t, fmt.Sprint(w.recorded("gift")), `"bob"`)
	for _, board := range []string{"fans:s1", "dense", "hours", "now", "past"} {
		for _, entry := range entriesOf(t, s, board) {
			require.NotContains(t, entry, "ana", board)
		}
	}

	// The result of a window counts for some seconds. After that, reads fail until there is memory for a new result.
	redistest.Eventually(t, "the members to leave the window", func() error {
		recent, err := s.Page(ctx, "recent", 1, 100)
		if err != nil {
			require.ErrorContains(t, err, "OOM command not allowed")
			return nil
		}
		if entries := fmt.Sprint(recent.Entries); strings.Contains(entries, " ana ") || strings.Contains(entries, " bob ") {
			return errors.New(entries)
		}
		return nil
	})

	redefine := func(change func(b *definition.Board), name string) {
		for _, b := range boards() {
			if b.Name == name {
				change(&b)
				require.NoError(t, s.DefineBoard(ctx, b, by), "change %s", name)
			}
		}
	}
	redefine(func(b *definition.Board) { b.MemberTTL = time.Second }, "news")
	redefine(func(b *definition.Board) { b.Window = time.Second }, "now")
	redefine(func(b *definition.Board) { b.Window = time.Second }, "recent")
	redefine(func(b *definition.Board) { b.Limit = 1 }, "best")
	w.until("members to leave", func() error {
		return errors.Join(total("news", 0), total("now", 0), total("best", 1))
	})
	require.NoError(t, s.Delete(ctx, "fans:s2", by), "delete an instance")
	require.NoError(t, s.DeleteEvent(ctx, "gift", by), "delete an event")
	require.NoError(t, s.Delete(ctx, "both", by), "delete a union")
	for _, b := range boards() {
		if b.Name != "both" {
			require.NoError(t, s.Delete(ctx, b.Name, by), "delete %s", b.Name)
		}
	}
	w.until("the data of boards to go", func() error {
		var left []string
		for _, key := range w.allKeys() {
			if !strings.HasPrefix(key, "rc:{/") && (strings.HasSuffix(key, ":z") || strings.HasSuffix(key, ":e")) {
				left = append(left, key)
			}
		}
		if len(left) > 0 {
			return fmt.Errorf("there is still %v", left)
		}
		return nil
	})
}

// A removal goes through also where it shares its call with updates.
func TestFullMemoryAmongUpdates(t *testing.T) {
	t.Parallel()
	w, fill := fullWorld(t, definition.Board{Name: "stars"})
	s := w.stores[0]
	w.write(s, "stars", "ana", 1)
	fill()
	var outcomes [2]Outcome
	to := targetOf(t, s, "stars")
	items := []updateItem{
		{write{Update: definition.Update{Member: "bob", Score: 1}}, to, &outcomes[0]},
		{write{definition.Update{Member: "ana"}, removing}, to, &outcomes[1]},
	}
	require.NoError(t, s.updates.Commit(context.Background(), "stars", items))
	require.NoError(t, outcomes[1].Err)
	require.Equal(t, &Standing{1, 1}, outcomes[1].Result.Previous)
}
