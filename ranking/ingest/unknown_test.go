package ingest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

// delivered sets the time of the delivery of an entry back.
func (b *bench) delivered(id string, ago time.Duration) {
	b.t.Helper()
	require.NoError(b.t, b.rdb.Do(b.t.Context(), "XCLAIM", stream, "rankcast", "rankcast", 0, id, "IDLE", ago.Milliseconds(), "JUSTID").Err())
}

// An entry that was delivered over nine minutes ago is not applied again. A younger one is, and one that
// was never delivered, however old.
func TestOldEntries(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		b := newBench(t, url)
		b.addAs("1763900000123-0", "board", "stars", "member", "never", "score", "1")
		old := b.add("board", "stars", "member", "old", "score", "1")
		young := b.add("board", "stars", "member", "young", "score", "1")
		b.fake.before = once()
		in := b.ingest()
		c := in.consumer(stream)
		require.Error(t, redistest.ErrorOf(c.batch(t.Context())))
		b.delivered(old, 9*time.Minute+time.Second)
		b.delivered(young, 8*time.Minute)
		b.drain(c)
		require.Zero(t, b.score("stars", "old"))
		require.EqualValues(t, 1, b.score("stars", "young"))
		require.EqualValues(t, 1, b.score("stars", "never"))
		letters, fields := b.letters()
		require.Equal(t, []letter{{stream, old, codeUnknown, ""}}, letters)
		require.Equal(t, []string{"board", "stars", "member", "old", "score", "1"}, fields[0])
		require.Equal(t, 1, counted(t, in, resultUnknown))
	})
}

// clockedEngines runs a test on both engines. pass moves the clock of Redis on.
func clockedEngines(t *testing.T, test func(t *testing.T, b *bench, pass func(time.Duration))) {
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		began := time.Now()
		url, set := redistest.Clocked(t)
		set(began)
		test(t, newBench(t, url), func(d time.Duration) {
			began = began.Add(d)
			set(began)
		})
	})
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		redis, shift := redistest.StartShifted(t)
		var by time.Duration
		test(t, newBench(t, redis.URL()), func(d time.Duration) {
			by += d
			shift(by)
		})
	})
}

// An entry is applied again while its request id is sure to be known, as the `ids` of its board or event say. When an
// operator has made `ids` longer since the delivery, the ids of before may count for ten minutes.
func TestOldEntriesWithLongIDs(t *testing.T) {
	t.Parallel()
	clockedEngines(t, func(t *testing.T, b *bench, pass func(time.Duration)) {
		define := func(ofBoard, ofEvent time.Duration) {
			require.NoError(t, b.store.Define(t.Context(), definition.Set{
				Boards: []definition.Board{{Name: "long", IDs: ofBoard}},
				Events: []definition.Event{{Name: "slow", IDs: ofEvent, Updates: []definition.Target{{Board: "stars", Member: "{star}", Score: "1"}}}},
			}))
		}
		c, unknown := b.ingest().consumer(stream), 0
		// Each entry counts, and its answer is lost. After the time that during takes, a consumer tries it again.
		lost := func(what string, isKnown bool, during func(), fields ...string) {
			b.add(fields...)
			b.fake.after = func() error { return once()() }
			require.ErrorIs(t, redistest.ErrorOf(c.batch(t.Context())), definition.ErrOutcomeUnknown, what)
			during()
			b.fake.after = nil
			b.dropLease()
			b.drain(c)
			if !isKnown {
				unknown++
			}
			letters, _ := b.letters()
			require.Len(t, letters, unknown, what)
		}
		define(time.Hour, 2*time.Hour)
		pass(time.Minute)
		update := func(board string) []string { return []string{"board", board, "member", "m", "score", "1"} }
		event := []string{"event", "slow", "star", "s"}
		after := func(d time.Duration) func() { return func() { pass(d) } }
		lost("the default", false, after(20*time.Minute), update("stars")...)
		lost("within the hour of the board", true, after(58*time.Minute), update("long")...)
		lost("after the hour of the board", false, after(60*time.Minute), update("long")...)
		lost("within the two hours of the event", true, after(118*time.Minute), event...)
		lost("after the two hours of the event", false, after(120*time.Minute), event...)
		lost("the board's ids grow", false, func() { define(24*time.Hour, 2*time.Hour); pass(20 * time.Minute) }, update("long")...)
		lost("after that", true, after(23*time.Hour), update("long")...)
		lost("the event's ids grow", false, func() { define(24*time.Hour, 24*time.Hour); pass(20 * time.Minute) }, event...)
		lost("after that", true, after(23*time.Hour), event...)
		lost("ids shrink", false, func() { define(0, time.Hour); pass(20 * time.Minute) }, update("long")...)
		require.EqualValues(t, 5, b.score("long", "m"), "each counts once")
		require.EqualValues(t, 5, b.score("stars", "s")+b.score("stars", "m"), "each counts once")
	})
}

// A retry does not move the time of the first delivery: neither by the same consumer, nor by another one,
// nor after a crash of Redis.
func TestRetriesKeepTheTimeOfDelivery(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t, "--appendfsync", "always")
	b := newBench(t, redis.URL())
	id := b.add("board", "stars", "member", "m", "score", "1")
	c := b.ingest().consumer(stream)
	b.fake.before = once()
	require.Error(t, redistest.ErrorOf(c.batch(t.Context())))
	b.delivered(id, time.Minute)
	for _, next := range []func(){
		func() {},
		func() {
			b.dropLease()
			c = b.ingest().consumer(stream)
		},
		func() {
			redis.Kill()
			redis.Start()
		},
	} {
		next()
		redistest.Eventually(t, "the entry", func() error {
			taken, err := c.take(t.Context(), maxEntries)
			if err == nil {
				require.Len(t, taken.entries, 1)
				require.GreaterOrEqual(t, taken.entries[0].age, time.Minute)
			}
			return err
		})
	}
}

// An entry may have counted before its board was deleted, so a refusal of its retry says nothing about that.
func TestRefusedRetries(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		b := newBench(t, url)
		update := b.add("board", "none", "member", "m", "score", "1")
		event := b.add("event", "sad", "star", "s17", "n", "1", "colour", "red")
		b.fake.before = once()
		in := b.ingest()
		c := in.consumer(stream)
		require.Error(t, redistest.ErrorOf(c.batch(t.Context())))
		b.drain(c)
		letters, _ := b.letters()
		require.Len(t, letters, 2)
		codes := map[string]string{letters[0].Entry: letters[0].Code, letters[1].Entry: letters[1].Code}
		require.Equal(t, map[string]string{update: codeUnknown, event: "invalid_request"}, codes, "the event was refused at once")
		moved, left, err := in.Replay(t.Context(), Refused)
		require.NoError(t, err)
		require.Equal(t, []int{1, 1}, []int{moved, left})
	})
}

// An entry that is wrong in itself was refused at each delivery, and one that a board refuses after a look at its request
// id has counted nowhere: also after the answer to an acknowledgement was lost.
func TestRefusedRetriesThatCountedNowhere(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		b := newBench(t, url)
		wrong := b.add("board", "stars", "member", "m", "score", "many")
		high := b.add("board", "low", "member", "m", "score", "11")
		both := b.add("event", "sad", "star", "m", "n", "11")
		fail := once()
		b.calls.before = func(script string) error {
			if script == "ingest_conclude" {
				return fail()
			}
			return nil
		}
		c := b.ingest().consumer(stream)
		require.Error(t, redistest.ErrorOf(c.batch(t.Context())))
		b.drain(c)
		letters, _ := b.letters()
		codes := make(map[string]string)
		for _, l := range letters {
			codes[l.Entry] = l.Code
		}
		require.Equal(t, map[string]string{wrong: "invalid_request", high: "out_of_range", both: "out_of_range"}, codes)
	})
}

// A board may refuse a retry by its definitions, before it looks the request id up. The event may have counted by then.
func TestRefusedRetryOfAnEvent(t *testing.T) {
	t.Parallel()
	c := (&Ingest{cfg: Config{Explain: explain}}).consumer(stream)
	results := func(again bool, errs ...error) string {
		var r ranking.EventResult
		for _, err := range errs {
			r.Outcomes = append(r.Outcomes, ranking.Outcome{Err: err})
			r.Updates = append(r.Updates, definition.BoardUpdate{Board: "b"})
		}
		m := &message{mayCount: again}
		c.takeOutcomes(m, r)
		return m.result + " " + m.problem.Code
	}
	beforeLookup := &definition.FieldError{Field: "board", Kind: definition.ErrConflict, Reason: "has too many instances"}
	refused := &definition.FieldError{Field: "score", Kind: definition.ErrOutOfRange, Reason: "is too high"}
	require.Equal(t, "refused other", results(false, beforeLookup))
	require.Equal(t, "outcome_unknown outcome_unknown", results(true, beforeLookup))
	require.Equal(t, "refused out_of_range", results(true, refused))
	require.Equal(t, "outcome_unknown outcome_unknown", results(true, refused, beforeLookup))
	require.Equal(t, "refused partly_refused", results(true, nil, beforeLookup))
	noWindow := &definition.FieldError{Field: "at", Kind: definition.ErrInvalid, Reason: "applies only to a board with a window"}
	require.Equal(t, "outcome_unknown outcome_unknown", results(true, noWindow))
}

// If an entry is deleted before the worker acknowledges it, its dead letter has no fields.
func TestDeletedEntries(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		b := newBench(t, url)
		id := b.add("board", "stars", "member", "m", "score", "1")
		b.fake.before = once()
		c := b.ingest().consumer(stream)
		require.Error(t, redistest.ErrorOf(c.batch(t.Context())))
		require.NoError(t, b.rdb.XDel(t.Context(), stream, id).Err())
		redistest.Must(c.batch(t.Context()))(t)
		letters, fields := b.letters()
		require.Equal(t, []letter{{stream, id, codeDeleted, ""}}, letters)
		require.Empty(t, fields[0])
		moved, left, err := b.ingest().Replay(t.Context(), All)
		require.NoError(t, err)
		require.Equal(t, []int{0, 1}, []int{moved, left})
	})
}
