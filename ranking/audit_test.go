package ranking

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
	"rankcast/ranking/redistest"
)

// concurrently calls act from 32 callers, who begin together, and returns their errors.
func concurrently(act func(caller int) error) []error {
	const callers = 32
	errs := make([]error, callers)
	begin := make(chan struct{})
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			<-begin
			errs[i] = act(i)
		})
	}
	close(begin)
	wg.Wait()
	return errs
}

// A change of a definition leaves a line with its author, and a request that changes nothing leaves none.
func TestAuditOfDefinitions(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s, ctx, ops := newNode(t, url), t.Context(), Moderator{By: "ops", Reason: "season"}
		board := definition.Board{Name: "b"}
		event := definition.Event{Name: "e", Updates: []definition.Target{{Board: "b", Member: "{m}", Score: "1"}}}
		for range 2 {
			require.NoError(t, s.DefineBoard(ctx, board, ops))
			require.NoError(t, s.DefineBoard(ctx, definition.Board{Name: "f:{x}"}, ops))
			require.NoError(t, s.DefineEvent(ctx, event, ops))
		}
		board.Max = new(int64(9))
		require.NoError(t, s.DefineBoard(ctx, board, ops))
		event.Sender = "m"
		require.NoError(t, s.DefineEvent(ctx, event, ops))
		apply(t, s, "f:1", definition.Update{Member: "m", Score: 1})
		require.NoError(t, s.Delete(ctx, "f:1", ops))

		// Refused, or not by a request.
		require.ErrorIs(t, s.DefineBoard(ctx, definition.Board{Name: "b", Mode: "most"}, ops), definition.ErrInvalid)
		require.ErrorIs(t, s.Delete(ctx, "b", ops), definition.ErrConflict)
		require.ErrorIs(t, s.Delete(ctx, "none", ops), definition.ErrUnknownBoard)
		require.ErrorIs(t, s.DeleteEvent(ctx, "none", ops), definition.ErrUnknownEvent)
		require.NoError(t, s.Define(ctx, definition.Set{Boards: []definition.Board{{Name: "of-the-file"}}}))
		for _, err := range []error{
			s.DefineBoard(ctx, definition.Board{Name: "b"}, Moderator{By: "\u202e"}),
			s.DefineEvent(ctx, definition.Event{Name: "e", Updates: event.Updates}, Moderator{By: "\x00"}),
			s.Delete(ctx, "f:1", Moderator{By: "\x00"}), s.Delete(ctx, "f:{x}", Moderator{By: "\x00"}),
			s.DeleteEvent(ctx, "e", Moderator{By: "\x00"}),
		} {
			refused(t, err, "by")
		}

		require.NoError(t, s.DeleteEvent(ctx, "e", ops))
		require.NoError(t, s.Delete(ctx, "b", ops))
		require.NoError(t, s.Delete(ctx, "f:{x}", ops))
		lines := must(s.Audit(ctx, "", MaxAudit))(t)
		var got []string
		for i := len(lines) - 1; i >= 0; i-- {
			require.Equal(t, ops, lines[i].Moderator)
			got = append(got, lines[i].Action+" "+lines[i].Board+lines[i].Event)
		}
		require.Equal(t, []string{"define_board b", "define_board f:{x}", "define_event e", "define_board b", "define_event e",
			"delete_board f:1",
			"delete_event e", "delete_board b", "delete_board f:{x}"}, got)
	})
}

// Each definition that a call adds or changes leaves a line. Of many callers that make the same change, on whichever node, one
// leaves the lines.
func TestAuditOfManyDefinitions(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		nodes := []*Store{newNode(t, url), newNode(t, url)}
		set := definition.Set{
			Boards: []definition.Board{{Name: "a"}, {Name: "f:{x}"}},
			Events: []definition.Event{{Name: "e", Updates: []definition.Target{{Board: "a", Member: "{m}", Score: "1"}}}},
		}
		start := Moderator{Reason: "start"}
		want := []string{}
		defineAll := func(lines ...string) {
			t.Helper()
			for _, err := range concurrently(func(caller int) error { return nodes[caller%2].DefineAudited(t.Context(), set, start) }) {
				require.NoError(t, err)
			}
			want = append(want, lines...)
			var got []string
			for _, a := range must(nodes[0].Audit(t.Context(), "", MaxAudit))(t) {
				require.Equal(t, start, a.Moderator)
				got = append(got, a.Action+" "+a.Board+a.Event)
			}
			slices.Reverse(got)
			require.Equal(t, want, got)
		}
		defineAll("define_board a", "define_board f:{x}", "define_event e")
		defineAll()
		set.Boards[1].Ends = time.Date(2199, 1, 1, 0, 0, 0, 0, time.UTC) // its housekeeping is due at another time
		set.Events[0].Sender = "m"
		defineAll("define_board f:{x}", "define_event e")
		set.Boards = append(set.Boards, definition.Board{Name: "f:{other}"})
		require.ErrorIs(t, nodes[0].DefineAudited(t.Context(), set, start), definition.ErrConflict)
		refused(t, nodes[0].DefineAudited(t.Context(), definition.Set{}, Moderator{Reason: "\x00"}), "reason")
		set.Boards = set.Boards[:2]
		defineAll()
	})
}

// A caller may ask for the lines before any id of a stream.
func TestAuditBeforeALine(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s := newNode(t, url)
		for _, name := range []string{"a", "b", "c"} {
			require.NoError(t, s.DefineBoard(t.Context(), definition.Board{Name: name}, Moderator{By: "m"}))
		}
		all := must(s.Audit(t.Context(), "", 10))(t)
		require.Len(t, all, 3)
		for before, want := range map[string][]Action{
			all[0].Line: all[1:], "0" + all[0].Line: all[1:], all[2].Line: {}, "0-1": {}, "0-0": {}, "000-0": {},
			"999999999999999-9999999999": all,
		} {
			require.Equal(t, want, must(s.Audit(t.Context(), before, 10))(t), before)
		}
	})
}

// However many callers take an event back at the same time, on whichever node, it is taken
// back once, one caller is told so, and the audit has one line.
func TestConcurrentTakeBackLeavesOneLine(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		nodes := []*Store{newNode(t, url), newNode(t, url)}
		pointEvent(t, nodes[0], definition.Board{Name: "one"}, definition.Board{Name: "two"})
		apply(t, nodes[0], "one", definition.Update{Member: "m", Score: 10})
		want := []string{}
		for round := range 5 {
			id := fmt.Sprint("e", round)
			point(t, nodes[0], id, 4)
			var first atomic.Int64
			for _, err := range concurrently(func(caller int) error {
				took, err := nodes[caller%2].TakeBack(t.Context(), "e", id, nil, Moderator{By: fmt.Sprint(caller)})
				if err == nil && !took.Before {
					first.Add(1)
				}
				return err
			}) {
				require.NoError(t, err)
			}
			require.EqualValues(t, 1, first.Load(), "callers that took it back")
			want = append(want, "take_back "+id)
			require.Equal(t, want, audited(t, nodes[0]))
			require.Equal(t, []string{"m 10 #1"}, entriesOf(t, nodes[0], "one"))
			require.Empty(t, entriesOf(t, nodes[0], "two"))
		}
	})
}

// cuts are the ways in which a caller loses Redis at one call of a script: whether Redis
// carries that call out, and what becomes of the calls after it.
var cuts = []struct {
	name         string
	fate, beyond fate
}{{"lost", isLost, passes}, {"answer lost", isDone, passes}, {"dead", isLost, isLost}, {"dead after", isDone, isLost}}

// A caller that dies anywhere in an act, and one that repeats the act, leave its line
// together: one for what a repetition does not change, and one or two for the rest.
func TestLineOfAnActThatIsCutOff(t *testing.T) {
	t.Parallel()
	why := Moderator{Reason: "charged back", By: "desk"}
	for name, act := range map[string]struct {
		most    int // lines, with the repetition
		prepare func(t *testing.T, s *Store)
		do      func(ctx context.Context, s *Store) error
	}{
		"take_back": {1, nil, func(ctx context.Context, s *Store) error { return errorOf(s.TakeBack(ctx, "e", "1", nil, why)) }},
		"hide":      {1, nil, func(ctx context.Context, s *Store) error { return s.Hide(ctx, "one", "m", why) }},
		"show": {1, func(t *testing.T, s *Store) { require.NoError(t, s.Hide(t.Context(), "one", "m", why)) },
			func(ctx context.Context, s *Store) error { return s.Show(ctx, "one", "m", why) }},
		"hide everywhere": {1, nil, func(ctx context.Context, s *Store) error { return s.HideEverywhere(ctx, "member", "m", why) }},
		"show everywhere": {1, func(t *testing.T, s *Store) { require.NoError(t, s.HideEverywhere(t.Context(), "member", "m", why)) },
			func(ctx context.Context, s *Store) error { return s.ShowEverywhere(ctx, "member", "m", why) }},
		"set":   {2, nil, func(ctx context.Context, s *Store) error { return errorOf(s.SetScore(ctx, "one", "m", 7, why)) }},
		"erase": {2, nil, func(ctx context.Context, s *Store) error { return errorOf(s.Erase(ctx, "member", "m", why)) }},
		"define_board": {1, nil, func(ctx context.Context, s *Store) error {
			return s.DefineBoard(ctx, definition.Board{Name: "one", Max: new(int64(9))}, why)
		}},
		"define_event": {1, nil, func(ctx context.Context, s *Store) error {
			return s.DefineEvent(ctx, definition.Event{Name: "e", Updates: []definition.Target{{Board: "one", Member: "m", Score: "1"}}}, why)
		}},
		"delete_board of an instance": {2, func(t *testing.T, s *Store) { define(t, s, definition.Board{Name: "f:{x}"}) },
			func(ctx context.Context, s *Store) error { return s.Delete(ctx, "f:1", why) }},
	} {
		t.Run(name, func(t *testing.T) {
			redistest.OnEngines(t, func(t *testing.T, url string) {
				other := newNode(t, url)
				rounds := 0
				for _, c := range cuts {
					reached := true
					for at := int64(0); reached; at += redistest.Stride {
						rounds++
						what := fmt.Sprintf("%s at call %d", c.name, at)
						rdb := must(Open(url))(t)
						redistest.Patient(rdb)
						cfg := Config{Prefix: fmt.Sprint("p", rounds), CallTimeout: redistest.CallTimeout}
						first, second := New(rdb, cfg), New(other.rdb, cfg)
						pointEvent(t, second, definition.Board{Name: "one"}, definition.Board{Name: "two"})
						apply(t, second, "one", definition.Update{Member: "m", Score: 3})
						point(t, second, "1", 4)
						if act.prepare != nil {
							act.prepare(t, second)
						}
						before := len(audited(t, second))
						var calls atomic.Int64
						rdb.AddHook(&cutter{fate: fateAt(&calls, at, c.fate, c.beyond)})
						failed := act.do(t.Context(), first)
						reached = calls.Load() > at
						require.True(t, failed == nil || reached, "%s: %v", what, failed)
						first.Close()
						rdb.Close()

						if failed != nil {
							require.ErrorIs(t, failed, definition.ErrUnavailable, what)
						} else {
							require.Len(t, audited(t, second), before+1, what)
						}
						require.NoError(t, act.do(t.Context(), second), what)
						lines := audited(t, second)[before:]
						require.NotEmpty(t, lines, what)
						require.LessOrEqual(t, len(lines), act.most, what)
						second.Close()
					}
				}
				require.GreaterOrEqual(t, rounds*redistest.Stride, 2*len(cuts))
			})
		})
	}
}

// A repetition of an act that is done answers that the act was done before, and finishes what
// is left of it.
func TestTakeBackAfterItsLine(t *testing.T) {
	onNode(t, nil, func(t *testing.T, s *Store) {
		pointEvent(t, s, definition.Board{Name: "one"})
		point(t, s, "0", 4)
		takeBack(t, s, "0") // Redis knows the scripts from here on
		point(t, s, "1", 4)
		lost := false
		cut(s, script.Audit, func() fate {
			if lost {
				return passes
			}
			lost = true
			return isDone
		})
		require.ErrorIs(t, errorOf(s.TakeBack(t.Context(), "e", "1", nil, Moderator{})), definition.ErrOutcomeUnknown)
		for range 2 {
			require.True(t, takeBack(t, s, "1").Before)
		}
		require.Equal(t, []string{"take_back 0", "take_back 1"}, audited(t, s))
	})
}

// A take-back has succeeded once its updates are undone and its line is written, although an erasure has taken the fields of the
// event in between.
func TestTakeBackDuringAnErasure(t *testing.T) {
	onTwoNodes(t, nil, func(t *testing.T, s, other *Store) {
		pointEvent(t, s, definition.Board{Name: "one"})
		apply(t, s, "one", definition.Update{Member: "m", Score: 10})
		point(t, s, "1", 4)
		redacted := false
		cut(s, script.Audit, func() fate {
			if redacted {
				return passes
			}
			redacted = true
			for _, hash := range s.keys.EventIDs("e") {
				record, err := other.rdb.HGet(t.Context(), hash, "1").Result()
				if errors.Is(err, redis.Nil) {
					continue
				}
				require.NoError(t, err)
				require.NoError(t, script.Redact.Run(t.Context(), other.rdb, []string{hash}, []any{"1", record[:definition.DigestSize]}).Err)
			}
			return passes
		})
		require.False(t, takeBack(t, s, "1").Before)
		require.True(t, redacted)
		require.Equal(t, []string{"m 10 #1"}, entriesOf(t, s, "one"))
		_, err := s.TakeBack(t.Context(), "e", "1", nil, Moderator{})
		require.ErrorContains(t, err, "names a member who was erased")
	})
}

// An id that was forgotten may be used for another event. Taking that back leaves a line too,
// even if the audit still knows the act of the event before.
func TestTakeBackOfALaterEventWithTheSameID(t *testing.T) {
	onSimulatedNode(t, nil, func(t *testing.T, w *world, s *Store) {
		const bucket = 610 * time.Second
		pointEvent(t, s, definition.Board{Name: "one"})
		apply(t, s, "one", definition.Update{Member: "m", Score: 10})
		w.pass(bucket - time.Duration(w.now.UnixMicro()%bucket.Microseconds())*time.Microsecond - time.Second)
		point(t, s, "1", 4)
		w.pass(bucket - 11*time.Second)
		slow := true
		cut(s, script.Audit, func() fate {
			if slow {
				slow = false
				w.pass(13 * time.Second) // the board keeps its id in one bucket, the audit in the next
			}
			return passes
		})
		require.False(t, takeBack(t, s, "1").Before)
		w.pass(bucket)
		point(t, s, "1", 5)
		require.Equal(t, []string{"m 15 #1"}, entriesOf(t, s, "one"))
		require.False(t, takeBack(t, s, "1").Before)
		require.Equal(t, []string{"take_back 1", "take_back 1"}, audited(t, s))
		require.Equal(t, []string{"m 10 #1"}, entriesOf(t, s, "one"))
	})
}

// Of several callers that hide a member, or show it again, one leaves a line. Each of several
// callers that set a score, or erase a member, leaves one.
func TestLinesOfConcurrentActs(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		nodes := []*Store{newNode(t, url), newNode(t, url)}
		define(t, nodes[0], definition.Board{Name: "one"})
		apply(t, nodes[0], "one", definition.Update{Member: "m", Score: 3})
		lines := 0
		for _, act := range []struct {
			name string
			each bool // caller leaves a line
			do   func(s *Store, by Moderator) error
		}{
			{"hide", false, func(s *Store, by Moderator) error { return s.Hide(t.Context(), "one", "m", by) }},
			{"show", false, func(s *Store, by Moderator) error { return s.Show(t.Context(), "one", "m", by) }},
			{"hide", false, func(s *Store, by Moderator) error { return s.HideEverywhere(t.Context(), "member", "m", by) }},
			{"show", false, func(s *Store, by Moderator) error { return s.ShowEverywhere(t.Context(), "member", "m", by) }},
			{"set", true, func(s *Store, by Moderator) error {
				return errorOf(s.SetScore(t.Context(), "one", "m", 7, by))
			}},
			{"erase", true, func(s *Store, by Moderator) error { return errorOf(s.Erase(t.Context(), "member", "m", by)) }},
		} {
			errs := concurrently(func(caller int) error {
				return act.do(nodes[caller%2], Moderator{Reason: "rule 3", By: fmt.Sprint(caller)})
			})
			for _, err := range errs {
				require.NoError(t, err)
			}
			if lines++; act.each {
				lines += len(errs) - 1
			}
			list := audited(t, nodes[0])
			require.Len(t, list, lines, act.name)
			require.Equal(t, act.name+" m", list[lines-1])
		}
	})
}
