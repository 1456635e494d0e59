package ranking

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/history"
	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/internal/script"
	"rankcast/ranking/redistest"
)

// shortStep is the shortest step that a definition can have.
const shortStep = 10 * time.Second

// historyOf is a history as text: "10:00:10 a 5 b 3", after a gap "10:01:00 since 10:00:20 a 6".
func historyOf(t testing.TB, s *Store, board string) (lines []string) {
	t.Helper()
	q := HistoryQuery{Limit: 50}
	for {
		h := must(s.History(t.Context(), board, q))(t)
		for _, step := range h.Steps {
			line := step.At.Format(time.TimeOnly)
			if !step.Gap.IsZero() {
				line += " since " + step.Gap.Format(time.TimeOnly)
			}
			for _, e := range step.Entries {
				line += fmt.Sprint(" ", e.Member, " ", e.Score)
			}
			lines = append(lines, line)
		}
		if q.After = h.Next; q.After == nil {
			return lines
		}
	}
}

// planned makes a board with a history, at 10:00:00, and puts it on the agenda of histories.
func (w *world) planned(board string) {
	w.t.Helper()
	w.write(w.stores[0], board, "a", 1)
	w.tendAfter(shortStep)
}

// visit lets housekeeping go through the instances of a definition that has changed. It puts them on the agenda by the
// clock of the node, which is a little ahead of one that stands still.
func (w *world) visit() {
	w.t.Helper()
	w.pass(grace)
	for range 2 {
		w.tend()
		w.pass(time.Second)
	}
}

// isPlanned reports whether a board is on the agenda of histories.
func (w *world) isPlanned(board string) bool {
	err := w.rdb.ZScore(w.t.Context(), keyspace.New("rc").HistoryAgenda(), board).Err()
	require.True(w.t, err == nil || errors.Is(err, redis.Nil), err)
	return err == nil
}

// A step that a node has claimed is recorded by another one if the node dies: within a step, and with no gap.
func TestHistoryOutlivesItsNode(t *testing.T) {
	t.Parallel()
	simulatedWorlds(t, 2, Config{}, []definition.Board{{Name: "b", History: shortStep}}, func(t *testing.T, w *world) {
		dead, s := w.stores[0], w.stores[1]
		w.planned("b")
		recordAll(t, w, s)
		for range 3 {
			w.write(s, "b", "a", 1)
			w.toNextStep(shortStep, 1)
			due := must(dead.claimDue(t.Context(), dead.keys.HistoryAgenda(), historyAtOnce, historyLease))(t)
			require.Len(t, due, 1)
			recordAll(t, w, s)
			w.pass(historyLease + time.Millisecond)
			recordAll(t, w, s)
		}
		require.Equal(t, []string{"10:00:10 a 1", "10:00:25 a 2", "10:00:35 a 3", "10:00:45 a 4"}, historyOf(t, s, "b"))
	})
}

// beforeRecord calls do once, before the next pipeline with the script record.lua that a store sends.
func beforeRecord(s *Store, do func()) {
	s.rdb.AddHook(redistest.Hook(func(ctx context.Context, cmds []redis.Cmder, send redis.ProcessPipelineHook) error {
		if now := do; scriptOf(cmds[0]) == script.Record.Name && now != nil {
			do = nil
			now()
		}
		return send(ctx, cmds)
	}))
}

// An answer is one state of the history, although steps are recorded between any two commands of its reader, and
// although it takes several calls.
func TestHistoryIsReadAtOneState(t *testing.T) {
	t.Parallel()
	simulatedWorlds(t, 2, Config{}, []definition.Board{{Name: "b", History: shortStep}}, func(t *testing.T, w *world) {
		reader, writer := w.stores[0], w.stores[1]
		step := func() {
			w.write(writer, "b", "a", 1)
			w.pass(shortStep)
			require.NoError(t, writer.RecordHistory(t.Context(), "b"))
		}
		betweenCommands(reader, step)
		read := func(q HistoryQuery) History {
			h := must(reader.History(t.Context(), "b", q))(t)
			require.Equal(t, len(h.Steps) == 0, h.Until.IsZero(), "%d steps until %s", len(h.Steps), h.Until)
			for _, s := range h.Steps {
				require.False(t, s.At.After(h.Until), "a step at %s until %s", s.At, h.Until)
			}
			return h
		}
		read(HistoryQuery{Limit: 10})
		for range historyChunk {
			step()
		}
		require.Nil(t, read(HistoryQuery{Limit: MaxHistoryPage}).Next)
		require.NotNil(t, read(HistoryQuery{Limit: MaxHistoryPage, Member: "a"}).Best)
	})
}

// The best rank of a member is of the state of the steps beside it, although the member climbs a place between any two
// commands of the reader.
func TestBestRankIsOfTheStateOfItsSteps(t *testing.T) {
	t.Parallel()
	simulatedWorlds(t, 2, Config{}, []definition.Board{{Name: "b", History: shortStep}}, func(t *testing.T, w *world) {
		reader, writer := w.stores[0], w.stores[1]
		climb := func(member string, by int64) {
			w.write(writer, "b", member, by)
			w.pass(shortStep)
			require.NoError(t, writer.RecordHistory(t.Context(), "b"))
		}
		for i := range 9 {
			w.write(writer, "b", fmt.Sprint("rival", i), int64(10*i+15))
		}
		climb("a", 10)
		betweenCommands(reader, func() { climb("a", 10) })
		h := must(reader.History(t.Context(), "b", HistoryQuery{Limit: MaxHistoryPage, Member: "a"}))(t)
		last := h.Steps[len(h.Steps)-1]
		require.Equal(t, &BestRank{Rank: last.Entries[0].Rank, At: last.At}, h.Best)
	})
}

// Of two nodes that look at the same time, one records the step. The other one changes nothing.
func TestTwoNodesRecordAHistoryOnce(t *testing.T) {
	t.Parallel()
	simulatedWorlds(t, 2, Config{}, []definition.Board{{Name: "b", History: shortStep}}, func(t *testing.T, w *world) {
		slow, s := w.stores[0], w.stores[1]
		w.planned("b")
		for i := range 3 {
			w.write(s, "b", fmt.Sprint("m", i), int64(i+10))
			w.toNextStep(shortStep, 1)
			beforeRecord(slow, func() {
				w.write(s, "b", "a", 1)
				require.Equal(t, looked, look(t, s, "b").outcome)
			})
			require.Equal(t, lookedTooLate, look(t, slow, "b").outcome)
			n := must(w.rdb.XLen(t.Context(), s.keys.Board("b", "").History().Steps).Result())(t)
			require.EqualValues(t, i+1, n)
		}
		require.Equal(t, "10:00:40 m2 12 m1 11 m0 10 a 4", historyOf(t, s, "b")[2])
	})
}

// contents is all that Redis holds, except for what an erasure leaves: the audit and the record of erasures.
func (w *world) contents() string {
	var all strings.Builder
	k := keyspace.New("rc")
	for _, key := range w.allKeys() {
		if key == k.Erasures() || key == k.ErasureReports() {
			continue
		}
		ctx := w.t.Context()
		kind := must(w.rdb.Type(ctx, key).Result())(w.t)
		switch kind {
		case "zset":
			fmt.Fprintln(&all, key, w.rdb.ZRange(ctx, key, 0, -1).Val())
		case "hash":
			fmt.Fprintln(&all, key, w.rdb.HGetAll(ctx, key).Val())
		case "stream":
			fmt.Fprintln(&all, key, w.rdb.XRange(ctx, key, "-", "+").Val())
		default:
			fmt.Fprintln(&all, key, w.rdb.Get(ctx, key).Val())
		}
	}
	return all.String()
}

// eraseNow erases a member, to the end.
func (w *world) eraseNow(s *Store, kind, member string) Erasure {
	w.t.Helper()
	must(s.Erase(w.t.Context(), kind, member, Moderator{}))(w.t)
	for {
		w.pass(time.Second)
		must(s.eraseDue(w.t.Context()))(w.t)
		if e, err := s.Erasure(w.t.Context(), kind, member); err == nil && !e.Ended.IsZero() {
			return e
		}
	}
}

// An erased member leaves no trace in a history: not of a closed period, not where it has left the board, and not when
// a node records it at that moment.
func TestErasedMembersLeaveHistories(t *testing.T) {
	t.Parallel()
	boards := []definition.Board{{Name: "b", History: shortStep}, {Name: "hours", Period: "hour", History: shortStep,
		Ties: definition.Dense, MemberTTL: 500 * time.Hour}, {Name: "race", History: shortStep}, {Name: "left", History: shortStep}}
	simulatedWorlds(t, 2, Config{}, boards, func(t *testing.T, w *world) {
		s, other := w.stores[0], w.stores[1]
		for _, b := range boards {
			w.write(s, b.Name, "forgotten", 5)
			w.planned(b.Name)
		}
		recordAll(t, w, s)
		w.tendAfter(time.Hour)
		w.write(s, "hours", "forgotten", 7)
		must(s.Remove(t.Context(), "b", "forgotten"))(t)
		w.toNextStep(shortStep, 2)
		w.tendAndRecord(s)
		require.Contains(t, w.contents(), "forgotten")
		e := w.eraseNow(s, "member", "forgotten")
		require.EqualValues(t, 5, e.Removed, "b has it in the history only")
		require.NotContains(t, w.contents(), "forgotten")
		require.Equal(t, "10:00:40 a 1", historyOf(t, s, "b")[0])
		require.Equal(t, "10:00:40 a 1", historyOf(t, s, "hours@-1")[0])

		// A node looks, and the erasure passes before the node records.
		for _, board := range []string{"race", "left"} {
			if board == "race" { // the history knows it already, with a worse rank
				w.write(s, board, "forgotten", 0)
				w.toNextStep(shortStep, 1)
				require.Equal(t, looked, look(t, s, board).outcome)
			}
			w.write(s, board, "forgotten", 6)
			w.toNextStep(shortStep, 1)
			beforeRecord(s, func() {
				if board == "left" {
					must(other.Remove(t.Context(), board, "forgotten"))(t)
				}
				w.eraseNow(other, "member", "forgotten")
			})
			require.Equal(t, lookedTooLate, look(t, s, board).outcome)
			require.NotContains(t, w.contents(), "forgotten")
		}
		// It may come back, and counts anew.
		w.write(s, "race", "forgotten", 8)
		w.toNextStep(shortStep, 1)
		require.Equal(t, looked, look(t, s, "race").outcome)
		lines := historyOf(t, s, "race")
		require.True(t, strings.HasSuffix(lines[len(lines)-1], " forgotten 8 a 1"), lines)
		require.Equal(t, 1, strings.Count(strings.Join(lines, "\n"), "forgotten"))
	})
}

// A member that is hidden on all boards of its kind is in no history from then on, before housekeeping has gone through
// the boards; and another node knows at once of a member that is hidden on one board.
func TestHiddenMembersLeaveHistories(t *testing.T) {
	t.Parallel()
	simulatedWorlds(t, 2, Config{}, []definition.Board{{Name: "b", Kind: "user", History: shortStep}}, func(t *testing.T, w *world) {
		s, other := w.stores[0], w.stores[1]
		w.write(s, "b", "x", 9)
		w.planned("b")
		recordAll(t, w, s)
		require.Equal(t, []string{"10:00:10 x 9 a 1"}, historyOf(t, other, "b"))
		require.NoError(t, s.HideEverywhere(t.Context(), "user", "x", Moderator{}))
		require.Equal(t, []string{"10:00:10 a 1"}, historyOf(t, s, "b"))
		require.Nil(t, must(s.History(t.Context(), "b", HistoryQuery{Member: "x", Limit: 1}))(t).Best)
		require.NoError(t, s.ShowEverywhere(t.Context(), "user", "x", Moderator{}))
		require.Equal(t, []string{"10:00:10 x 9 a 1"}, historyOf(t, s, "b"))

		stall(other) // its copy is from before
		require.NoError(t, s.Hide(t.Context(), "b", "x", Moderator{}))
		require.Equal(t, []string{"10:00:10 a 1"}, historyOf(t, other, "b"))
	})
}

// The history of a period ends with its result, also of a period that is shorter than a step, and goes with the period.
func TestHistoryEndsWithTheResult(t *testing.T) {
	t.Parallel()
	boards := []definition.Board{
		{Name: "hours", Period: "hour", History: 7 * time.Minute, Keep: new(1)},
		{Name: "short", Period: "4s", Base: friday, History: shortStep, Keep: new(1000)},
		{Name: "cup", Ends: friday.Add(30 * time.Minute), History: time.Minute},
	}
	simulatedWorlds(t, 2, Config{}, boards, func(t *testing.T, w *world) {
		s := w.stores[0]
		for _, b := range boards {
			w.write(s, b.Name, "a", 1)
		}
		w.tendAfter(time.Minute)
		recordAll(t, w, s)
		require.Equal(t, []string{"10:00:04 a 1"}, historyOf(t, s, "short@0"))
		w.pass(28*time.Minute + 30*time.Second)
		w.write(s, "cup", "a", 5)
		w.tendAfter(time.Minute)
		recordAll(t, w, s)
		require.Equal(t, []string{"10:01:00 a 1", "10:30:00 since 10:01:00 a 6"}, historyOf(t, s, "cup"))
		require.False(t, w.isPlanned("cup"))

		w.tendAfter(29 * time.Minute)
		recordAll(t, w, s)
		w.write(s, "hours", "b", 3) // after the last step
		w.tendAfter(time.Minute + time.Second)
		h := must(w.stores[1].History(t.Context(), "hours@-1", HistoryQuery{Limit: 9}))(t)
		require.True(t, h.Final)
		require.Equal(t, 7*time.Minute, h.Step)
		require.Equal(t, friday.Add(time.Hour), h.Until)
		require.Equal(t, []string{"10:01:00 a 1", "11:00:00 b 3 a 1"}, historyOf(t, s, "hours@-1"))

		// A name without a period goes on in the period of its cursor.
		w.write(s, "hours", "c", 1)
		w.toNextStep(7*time.Minute, 1)
		w.tendAndRecord(s)
		page := must(s.History(t.Context(), "hours@-1", HistoryQuery{Limit: 1}))(t)
		page = must(s.History(t.Context(), "hours", HistoryQuery{Limit: 1, After: page.Next}))(t)
		require.Equal(t, "2026-11-20T10Z", page.Period)
		require.Len(t, page.Steps, 1)
		_, err := s.History(t.Context(), "hours@2026-11-20T11Z", HistoryQuery{Limit: 1, After: &HistoryCursor{Period: page.Period, At: friday}})
		refused(t, err, "cursor")

		// The best rank is of all kept periods.
		best := must(s.History(t.Context(), "hours", HistoryQuery{Limit: 1, Member: "a"}))(t)
		require.Equal(t, &BestRank{Rank: 1, At: friday.Add(time.Minute), Period: "2026-11-20T10Z"}, best.Best)
		w.tendAfter(2 * time.Hour)
		for _, key := range w.allKeys() {
			require.NotContains(t, key, "2026-11-20T10Z")
		}
	})
}

// A period of more than 10,000 steps is recorded at a coarser step.
func TestHistoryOfALongPeriod(t *testing.T) {
	t.Parallel()
	simulatedWorlds(t, 1, Config{}, []definition.Board{{Name: "week", Period: "week", History: shortStep}}, func(t *testing.T, w *world) {
		s := w.stores[0]
		w.planned("week")
		for range 30 {
			recordAll(t, w, s)
			w.write(s, "week", "a", 1)
			w.toNextStep(shortStep, 1)
		}
		h := must(s.History(t.Context(), "week", HistoryQuery{Limit: 9}))(t)
		require.Equal(t, 70*time.Second, h.Step)
		require.Len(t, h.Steps, 5)
		for i, step := range h.Steps[1:] {
			require.Zero(t, step.At.Unix()%70, "a multiple of the step since 1970")
			require.Equal(t, h.Steps[1].At.Add(time.Duration(i)*70*time.Second), step.At)
		}
	})
}

// Changes of a definition take effect at once. Without a history the recorded steps stay.
func TestHistoryFollowsItsDefinition(t *testing.T) {
	t.Parallel()
	simulatedWorlds(t, 1, Config{}, []definition.Board{{Name: "b", History: 24 * time.Hour}}, func(t *testing.T, w *world) {
		s := w.stores[0]
		w.planned("b")
		w.pass(time.Minute) // when housekeeping visits it
		w.tendAndRecord(s)
		w.write(s, "b", "a", 1)
		w.pass(time.Minute)
		recordAll(t, w, s)
		require.Len(t, historyOf(t, s, "b"), 1)
		define(t, s, definition.Board{Name: "b", History: shortStep})
		w.visit()
		w.toNextStep(shortStep, 1)
		recordAll(t, w, s)
		require.Equal(t, []string{"10:01:10 a 1", "10:02:20 since 10:01:10 a 2"}, historyOf(t, s, "b"))

		define(t, s, definition.Board{Name: "b"})
		w.write(s, "b", "a", 1)
		w.tendAfter(5 * time.Minute)
		recordAll(t, w, s)
		require.False(t, w.isPlanned("b"))
		require.Len(t, historyOf(t, s, "b"), 2, "the steps stay")
		require.Zero(t, must(s.History(t.Context(), "b", HistoryQuery{Limit: 1, Step: time.Second}))(t).Step)

		define(t, s, definition.Board{Name: "b", History: time.Minute})
		w.visit()
		recordAll(t, w, s)
		require.Equal(t, "10:07:26 since 10:02:20 a 3", historyOf(t, s, "b")[2])

		require.NoError(t, s.Delete(t.Context(), "b", Moderator{}))
		w.pass(time.Minute)
		w.until("the board to go", func() error {
			recordAll(t, w, s)
			return w.nothingLeft()
		})
		define(t, s, definition.Board{Name: "b"})
		require.ErrorIs(t, errorOf(s.History(t.Context(), "b", HistoryQuery{Limit: 1})), definition.ErrUnknownHistory)
	})
}

// A board that has nothing to record leaves the agenda, and comes back with its next data. An agenda that Redis has lost
// comes back with the next visit of housekeeping, and the time between is a gap.
func TestHistoryComesBackToTheAgenda(t *testing.T) {
	t.Parallel()
	simulatedWorlds(t, 1, Config{}, []definition.Board{{Name: "b", History: shortStep},
		{Name: "hours", Period: "hour", History: shortStep}}, func(t *testing.T, w *world) {
		s := w.stores[0]
		w.planned("b")
		w.planned("hours")
		recordAll(t, w, s)
		w.write(s, "b", "a", 1)
		require.NoError(t, w.rdb.Del(t.Context(), s.keys.HistoryAgenda()).Err())
		w.tendAfter(historyVisit)
		recordAll(t, w, s)
		require.Equal(t, []string{"10:00:20 a 1", "10:15:20 since 10:00:20 a 2"}, historyOf(t, s, "b"))

		w.pass(time.Hour) // nobody writes to the new hour
		w.tendAndRecord(s)
		require.False(t, w.isPlanned("hours"))
		require.True(t, w.isPlanned("b"))
		w.write(s, "hours", "x", 1)
		w.tendAfter(shortStep)
		recordAll(t, w, s)
		require.Equal(t, []string{"11:15:30 x 1"}, historyOf(t, s, "hours"))
	})
}

// A board without periods keeps its latest steps. A reader whose cursor was trimmed goes on behind it, and is told of the gap.
func TestOldStepsAreTrimmed(t *testing.T) {
	t.Parallel()
	simulatedWorlds(t, 1, Config{}, []definition.Board{{Name: "b", Mode: definition.Last, History: shortStep}}, func(t *testing.T, w *world) {
		s := w.stores[0]
		const kept = 2 * keyframeEach
		s.maxSteps = kept
		w.planned("b")
		record := func(n int) {
			for range n {
				w.write(s, "b", "a", w.now.Unix()%1000)
				w.toNextStep(shortStep, 1)
				require.Equal(t, looked, look(t, s, "b").outcome)
			}
		}
		record(30)
		page := must(s.History(t.Context(), "b", HistoryQuery{Limit: 20}))(t)
		require.Len(t, page.Steps, 20)
		record(500)
		n := must(w.rdb.XLen(t.Context(), s.keys.Board("b", "").History().Steps).Result())(t)
		require.GreaterOrEqual(t, n, int64(kept))
		require.LessOrEqual(t, n, int64(kept+100))
		all := historyOf(t, s, "b")
		require.GreaterOrEqual(t, len(all), kept-keyframeEach+1, "what is left begins at a keyframe")
		require.NotContains(t, all[0], "since")

		next := must(s.History(t.Context(), "b", HistoryQuery{Limit: 1, After: page.Next}))(t)
		require.Equal(t, page.Steps[19].At, next.Steps[0].Gap)
		require.Equal(t, all[0][:8], next.Steps[0].At.Format(time.TimeOnly))
		next = must(s.History(t.Context(), "b", HistoryQuery{Limit: 1, After: next.Next}))(t)
		require.Zero(t, next.Steps[0].Gap)
		require.Equal(t, all[1][:8], next.Steps[0].At.Format(time.TimeOnly))
	})
}

// A page names MaxPage members at most, so that the profiles of all can be read at once. The next page goes on.
func TestAPageOfAHistoryNamesFewMembers(t *testing.T) {
	t.Parallel()
	simulatedWorlds(t, 1, Config{}, []definition.Board{{Name: "b", Mode: definition.Best, History: shortStep}}, func(t *testing.T, w *world) {
		s := w.stores[0]
		const steps = MaxPage/history.MaxEntries + 20
		for step := range steps {
			var updates []definition.Update
			for i := range history.MaxEntries {
				updates = append(updates, definition.Update{Member: fmt.Sprint("m", step, "-", i), Score: int64(step)})
			}
			must(s.Apply(t.Context(), "b", updates))(t)
			w.toNextStep(shortStep, 1)
			require.Equal(t, looked, look(t, s, "b").outcome)
		}
		var pages []int
		q, seen := HistoryQuery{Limit: MaxHistoryPage}, 0
		for {
			page := must(s.History(t.Context(), "b", q))(t)
			members := make(map[string]bool)
			for _, step := range page.Steps {
				require.True(t, strings.HasPrefix(step.Entries[0].Member, fmt.Sprint("m", seen, "-")), step)
				seen++
				for _, e := range step.Entries {
					members[e.Member] = true
				}
			}
			require.LessOrEqual(t, len(members), MaxPage)
			pages = append(pages, len(page.Steps))
			if q.After = page.Next; q.After == nil {
				break
			}
		}
		require.Equal(t, []int{MaxPage / history.MaxEntries, 20}, pages)
	})
}

// A history without periods names few more members than its steps have.
func TestHistoryForgetsMembersWithoutSteps(t *testing.T) {
	t.Parallel()
	simulatedWorlds(t, 1, Config{}, []definition.Board{{Name: "b", Mode: definition.Best, Limit: 1, History: shortStep}},
		func(t *testing.T, w *world) {
			s := w.stores[0]
			s.maxSteps, s.maxNames = 2*keyframeEach, 250
			w.planned("b")
			w.tend()
			for i := range 600 {
				w.write(s, "b", fmt.Sprint("m", i), int64(i+10))
				w.toNextStep(shortStep, 1)
				recordAll(t, w, s)
			}
			k := s.keys.Board("b", "").History()
			for _, key := range []string{k.Names, k.Numbers} {
				require.LessOrEqual(t, must(w.rdb.HLen(t.Context(), key).Result())(t), int64(251), key)
			}
			steps := historyOf(t, s, "b")
			for i, line := range steps {
				n := 600 - len(steps) + i
				require.True(t, strings.HasSuffix(line, fmt.Sprintf(" m%d %d", n, n+10)), line)
			}
			require.Greater(t, len(steps), 5)
		})
}

// A step that cannot be read is a gap until the next keyframe, and no error. A clock that is set back does not mix up the steps.
func TestDamagedStepsAreGaps(t *testing.T) {
	onSimulatedNode(t, []definition.Board{{Name: "b", History: shortStep}}, func(t *testing.T, w *world, s *Store) {
		k := s.keys.Board("b", "").History()
		w.planned("b")
		require.Equal(t, looked, look(t, s, "b").outcome)
		w.pass(shortStep)
		require.NoError(t, w.rdb.XAdd(t.Context(), &redis.XAddArgs{Stream: k.Steps, ID: fmt.Sprint(w.now.UnixMilli(), "-0"),
			Values: []any{"s", "\x05"}}).Err())
		require.NoError(t, w.rdb.HSet(t.Context(), k.State, "last", w.now.UnixMilli(), "state", "?").Err())
		w.write(s, "b", "a", 1)
		w.pass(shortStep)
		require.Equal(t, looked, look(t, s, "b").outcome)
		require.Equal(t, []string{"10:00:10 a 1", "10:00:30 since 10:00:20 a 2"}, historyOf(t, s, "b"))

		w.pass(-time.Minute)
		w.write(s, "b", "a", 1)
		require.Equal(t, looked, look(t, s, "b").outcome)
		h := must(s.History(t.Context(), "b", HistoryQuery{Limit: 9}))(t)
		require.Equal(t, friday.Add(30*time.Second+time.Millisecond), h.Steps[2].At)
		require.Equal(t, friday.Add(30*time.Second), h.Until)
	})
}

// On a cluster, boards of all masters are recorded together, read and erased.
func TestHistoryOnACluster(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t)
	s := newNode(t, cluster.URL)
	define(t, s, definition.Board{Name: "fans:{star}", History: shortStep})
	const boards = 40
	for i := range boards {
		apply(t, s, fmt.Sprint("fans:", i), definition.Update{Member: "u", Score: 3})
		apply(t, s, fmt.Sprint("fans:", i), definition.Update{Member: "v", Score: 2})
	}
	define(t, s, definition.Board{Name: "fans:{star}", History: time.Minute}) // housekeeping visits all at once
	tend := func() error {
		for more := true; more; {
			var err error
			if more, err = s.housekeepDue(t.Context()); err != nil {
				return err
			}
		}
		return errorOf(s.recordDue(t.Context()))
	}
	eachHas := func(want ...string) func() error {
		return func() error {
			if err := tend(); err != nil {
				return err
			}
			for i := range boards {
				h, err := s.History(t.Context(), fmt.Sprint("fans:", i), HistoryQuery{Limit: 9})
				if err != nil {
					return err
				}
				var have []string
				for _, step := range h.Steps {
					for _, e := range step.Entries {
						have = append(have, e.Member)
					}
				}
				if fmt.Sprint(have) != fmt.Sprint(want) {
					return fmt.Errorf("fans:%d has %v", i, have)
				}
			}
			return nil
		}
	}
	redistest.Eventually(t, "the first steps", eachHas("u", "v"))
	must(s.Erase(t.Context(), "member", "u", Moderator{}))(t)
	redistest.Eventually(t, "the erasure", func() error {
		if _, err := s.eraseDue(t.Context()); err != nil {
			return err
		}
		e, err := s.Erasure(t.Context(), "member", "u")
		if err == nil && e.Ended.IsZero() {
			err = errors.New("it goes on")
		}
		return err
	})
	require.NoError(t, eachHas("v")())
}

func TestImpossibleReadsOfHistoriesAreRefused(t *testing.T) {
	t.Parallel()
	s := newNode(t, redistest.Embedded(t))
	define(t, s, definition.Board{Name: "b", History: time.Minute}, definition.Board{Name: "plain"})
	for field, q := range map[string]HistoryQuery{
		"limit": {Limit: MaxHistoryPage + 1}, "step": {Limit: 1, Step: 59 * time.Second},
		"to": {Limit: 1, From: friday, To: friday.Add(-time.Second)}, "member": {Limit: 1, Member: "\x00"},
	} {
		refused(t, errorOf(s.History(t.Context(), "b", q)), field)
	}
	_, err := s.History(t.Context(), "b", HistoryQuery{Limit: 1, Step: time.Minute + time.Millisecond})
	refused(t, err, "step")
	_, err = s.History(t.Context(), "plain", HistoryQuery{Limit: 1})
	Refuses(t, "history", definition.ErrUnknownHistory, err)
	for _, text := range []string{"", "!", "AQ", "AQAAAAAAAAAA", "Av__________", "AQD_________", "AQAAAZqgAAAAAA"} {
		refused(t, errorOf(ParseHistoryCursor(text)), "cursor")
	}
	for _, c := range []HistoryCursor{{At: friday}, {Period: "2026-W47", At: friday.Add(time.Millisecond)}} {
		require.Equal(t, c, must(ParseHistoryCursor(c.String()))(t))
	}
}

// A step has the first ten entries, and no more.
func TestLookReadsTenEntries(t *testing.T) {
	t.Parallel()
	simulatedWorlds(t, 1, Config{}, []definition.Board{{Name: "b", History: shortStep}}, func(t *testing.T, w *world) {
		for i := range 12 {
			w.write(w.stores[0], "b", fmt.Sprint("m", i), int64(100-i))
		}
		w.planned("b")
		recordAll(t, w, w.stores[0])
		h := must(w.stores[0].History(t.Context(), "b", HistoryQuery{Limit: 1}))(t)
		require.Len(t, h.Steps[0].Entries, history.MaxEntries)
		require.Equal(t, "m9", h.Steps[0].Entries[9].Member)
	})
}

// The error of a claim names each of its boards that cannot be read.
func TestEachBoardThatCannotBeReadIsNamed(t *testing.T) {
	t.Parallel()
	boards := []definition.Board{
		{Name: "b", Window: time.Hour, Refresh: definition.Live, History: shortStep},
		{Name: "c", Window: time.Hour, Refresh: definition.Live, History: shortStep},
	}
	simulatedWorlds(t, 1, Config{}, boards, func(t *testing.T, w *world) {
		s := w.stores[0]
		d, _, err := s.leasedDefinitions(t.Context())
		require.NoError(t, err)
		var claims []historyClaim
		for _, b := range boards {
			require.NoError(t, w.rdb.Set(t.Context(), s.keys.Board(b.Name, "").Members, "no set", 0).Err())
			claims = append(claims, s.historyClaim(d, claim{member: b.Name, since: s.catalog.clock.now()}))
		}
		err = s.freshen(t.Context(), d, claims)
		for i, b := range boards {
			require.ErrorContains(t, err, strconv.Quote(b.Name))
			require.True(t, claims[i].failed)
		}
	})
}
