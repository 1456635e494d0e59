package ranking

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
	"rankcast/ranking/redistest"
)

// recorded returns the records of the ids of an event, by id, without that of the hash itself.
func (w *world) recorded(event string) map[string]string {
	all := make(map[string]string)
	for _, hash := range w.stores[0].keys.EventIDs(event) {
		for id, record := range w.rdb.HGetAll(w.t.Context(), hash).Val() {
			if id != "" {
				all[id] = record
			}
		}
	}
	return all
}

// An erasure takes a member's name out of the records of events, wherever the fields of an event name it. The ids stay
// known, and records that do not name the member stay whole.
func TestErasedMembersLeaveTheRecordsOfEvents(t *testing.T) {
	t.Parallel()
	boards := func(time.Time) []definition.Board {
		return []definition.Board{{Name: "stars", Kind: "star"}, {Name: "fans:{star}", Kind: "user"}, {Name: "pairs", Kind: "user"}}
	}
	worlds(t, 2, patient, boards, func(t *testing.T, w *world) {
		s := w.stores[0]
		target := func(board, member string) definition.Target {
			return definition.Target{Board: board, Member: member, Score: "1"}
		}
		gift := definition.Event{Name: "gift", Updates: []definition.Target{target("stars", "{star}"), target("fans:{star}", "{user}")}}
		old := definition.Event{Name: "old", Updates: []definition.Target{target("fans:x", "{user}"), target("stars", "{star}")}}
		events := []definition.Event{
			gift, old,
			{Name: "pair", Updates: []definition.Target{target("pairs", "{a}-{b}")}},
			{Name: "named", Updates: []definition.Target{target("stars", "{star}")}, Rules: definition.FieldRules{"star": {Kind: "user"}}},
			{Name: "room", Updates: []definition.Target{target("fans:{host}", "all")}},
			{Name: "fixed", Updates: []definition.Target{target("pairs", "ana"), target("stars", "{star}")}},
		}
		require.NoError(t, s.Define(t.Context(), definition.Set{Events: events}))
		must(s.SetProfile(t.Context(), "user", "ana", Profile{Name: "Ana"}))(t)
		happen(t, s, "gift", "of ana", "star", "s1", "user", "ana")
		happen(t, s, "gift", "taken back", "star", "s1", "user", "ana")
		must(s.TakeBack(t.Context(), "gift", "taken back", nil, Moderator{}))(t)
		happen(t, s, "gift", "of bob", "star", "s1", "user", "bob")
		happen(t, s, "gift", "for a star of this name", "star", "ana", "user", "bob")
		happen(t, s, "old", "before a change", "star", "s1", "user", "ana")
		happen(t, s, "old", "of bob", "star", "s1", "user", "bob")
		happen(t, s, "pair", "of x and y", "a", "x", "b", "y")
		happen(t, s, "pair", "of y and x", "a", "y", "b", "x")
		happen(t, s, "named", "by a rule", "star", "ana")
		happen(t, s, "room", "by a board", "host", "ana")
		happen(t, s, "fixed", "by the definition alone", "star", "s1")
		before := make(map[string]map[string]string)
		for _, e := range events {
			before[e.Name] = w.recorded(e.Name)
		}
		old.Updates = []definition.Target{target("stars", "{user}"), target("stars", "{star}")}
		require.NoError(t, s.DefineEvent(t.Context(), old, Moderator{}))
		for _, member := range []string{"ana", "x-y"} {
			must(s.Erase(t.Context(), "user", member, Moderator{}))(t)
		}
		w.untilErased("user", "ana", "x-y")

		redacted := make(map[string]bool)
		for event, of := range before {
			after := w.recorded(event)
			require.Len(t, after, len(of), "each id stays known")
			for id, record := range of {
				if after[id] != record {
					require.Equal(t, record[:recordHead], after[id])
					redacted[event+": "+id] = true
				}
			}
		}
		want := map[string]bool{"gift: of ana": true, "gift: taken back": true, "old: before a change": true,
			"pair: of x and y": true, "named: by a rule": true, "room: by a board": true}
		require.Equal(t, want, redacted)

		for _, o := range happen(t, s, "gift", "of ana", "star", "s1", "user", "ana").Outcomes {
			require.True(t, o.Result.Duplicate, "a retry")
		}
		require.Equal(t, []string{"bob 1 #1"}, entriesOf(t, s, "fans:s1"))
		h := must(s.ApplyEvents(t.Context(), "gift", []EventCall{occurs("of ana", "star", "s2", "user", "ana")}))(t)
		require.ErrorIs(t, h[0].Err, definition.ErrIDMismatch)
		for _, id := range []string{"of ana", "taken back"} {
			_, err := s.TakeBack(t.Context(), "gift", id, nil, Moderator{})
			require.ErrorIs(t, err, definition.ErrConflict)
			require.ErrorContains(t, err, "names a member who was erased")
		}
		for _, o := range happen(t, s, "gift", "taken back", "star", "s1", "user", "ana").Outcomes {
			require.True(t, o.Result.Duplicate, "it never counts")
		}
		must(s.TakeBack(t.Context(), "gift", "of bob", nil, Moderator{}))(t)
		require.Empty(t, entriesOf(t, s, "fans:s1"))
	})
}

// walkOn makes the next step of the erasure of a user through the ids of events. The step lasts until a time.
func walkOn(t *testing.T, s *Store, member string, until time.Time) (ended bool) {
	t.Helper()
	r := script.Walk.Run(t.Context(), s.rdb, []string{s.keys.Erasures(), s.keys.PendingErasures("user"),
		s.keys.ErasureAgenda()}, []any{"user"})
	require.NoError(t, r.Err)
	walk := must(parseWalk(r.Text()))(t)
	return must(s.walkIDs(t.Context(), "user", walk, newWantedMembers([]string{member}), until))(t)
}

// A walk goes through ids in steps, and goes on where the last step ended, also on another node.
func TestErasuresWalkIDsInSteps(t *testing.T) {
	t.Parallel()
	boards := func(time.Time) []definition.Board { return []definition.Board{{Name: "b", Kind: "user"}} }
	worlds(t, 2, patient, boards, func(t *testing.T, w *world) {
		const events, each = 3, 900 // Redis lists a hash of up to 512 ids whole
		s := w.stores[0]
		for n := range events {
			name := fmt.Sprint("e", n)
			require.NoError(t, s.DefineEvent(t.Context(),
				definition.Event{Name: name, Updates: []definition.Target{{Board: "b", Member: "{user}", Score: "1"}}}, Moderator{}))
			var calls []EventCall
			for i := range each {
				calls = append(calls, occurs(fmt.Sprint(i), "user", fmt.Sprint("u", i%5)))
			}
			for _, o := range must(s.ApplyEvents(t.Context(), name, calls))(t) {
				require.NoError(t, o.Err)
			}
		}
		must(s.Erase(t.Context(), "user", "u3", Moderator{}))(t)
		steps := 0
		for ended := false; !ended; steps++ {
			node := w.stores[steps%len(w.stores)] // each step on another node
			ended = walkOn(t, node, "u3", time.Now())
			require.Less(t, steps, 1000, "the walk ends")
		}
		if w.set == nil { // the embedded store answers HSCAN with all fields
			require.Greater(t, steps, events*each/(3*redactCount))
		}
		for n := range events {
			kept := 0
			for _, record := range w.recorded(fmt.Sprint("e", n)) {
				require.NotContains(t, record, "u3")
				if strings.Contains(record, `"user"`) {
					kept++
				}
			}
			require.Equal(t, each*4/5, kept)
		}
	})
}

// After a restart, Redis has all fields of a hash in other places. A walk that is half way finds all records.
func TestErasuresOutliveARestartOfRedis(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t, "--appendonly", "yes")
	s := newNode(t, r.URL())
	define(t, s, definition.Board{Name: "b", Kind: "user"})
	require.NoError(t, s.DefineEvent(t.Context(),
		definition.Event{Name: "e", Updates: []definition.Target{{Board: "b", Member: "{user}", Score: "1"}}}, Moderator{}))
	const each = 1500 // Redis lists a hash of up to 512 ids whole
	var calls []EventCall
	for i := range each {
		calls = append(calls, occurs(fmt.Sprint(i), "user", "ana"))
	}
	for _, o := range must(s.ApplyEvents(t.Context(), "e", calls))(t) {
		require.NoError(t, o.Err)
	}
	naming := func() (n int) {
		for _, hash := range s.keys.EventIDs("e") {
			for _, record := range s.rdb.HGetAll(t.Context(), hash).Val() {
				if strings.Contains(record, "ana") {
					n++
				}
			}
		}
		return n
	}
	must(s.Erase(t.Context(), "user", "ana", Moderator{}))(t)
	for naming() > each*2/3 {
		require.False(t, walkOn(t, s, "ana", time.Now()))
	}
	restart := func() {
		before := naming()
		r.Kill()
		r.Start()
		redistest.Eventually(t, "Redis to answer", func() error { return s.Ping(t.Context()) })
		require.Equal(t, before, naming(), "Redis has kept all")
		require.NotZero(t, before)
	}
	restart() // between two steps
	again := false
	s.rdb.AddHook(&cutter{answered: func(sc string) {
		if sc == script.Redact.Name && !again && naming() < each/3 {
			again = true
			restart() // within a step
		}
	}})
	require.True(t, walkOn(t, s, "ana", time.Now().Add(time.Hour)))
	require.True(t, again, "Redis has restarted within the step")
	require.Zero(t, naming())
}
