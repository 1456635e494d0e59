package ingest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

// stream is the stream of the tests.
const stream = "rc:ingest"

// bench is a store with boards, and consumers of its stream.
type bench struct {
	t     *testing.T
	rdb   redis.UniversalClient
	store *ranking.Store
	fake  *faultyStore
	calls *faultyCalls
}

// faultyCalls fails calls of scripts of this package. Its method pass is a redistest.Hook.
type faultyCalls struct {
	before, after func(script string) error // returns the error of a call that has no effect, or has had it; nil for none
}

func (f *faultyCalls) pass(ctx context.Context, cmds []redis.Cmder, send redis.ProcessPipelineHook) error {
	call, ok := cmds[0].(interface{ Script() string })
	if !ok || !strings.HasPrefix(call.Script(), "ingest_") {
		return send(ctx, cmds)
	}
	if f.before != nil {
		if err := f.before(call.Script()); err != nil {
			cmds[0].SetErr(err)
			return err
		}
	}
	err := send(ctx, cmds)
	if err == nil && f.after != nil {
		if err = f.after(call.Script()); err != nil {
			cmds[0].SetErr(err)
		}
	}
	return err
}

// faultyStore is the store with a hook in front of each call that writes, and with a record of the calls.
type faultyStore struct {
	*ranking.Store

	mu      sync.Mutex
	before  func() error // returns the error of the next call, which changes nothing; nil for none
	after   func() error // returns the error of the next call after it has succeeded; nil for none
	updates []definition.Update
	events  []ranking.EventCall
}

func (f *faultyStore) hook(of *func() error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if *of == nil {
		return nil
	}
	return (*of)()
}

func (f *faultyStore) Apply(ctx context.Context, board string, updates []definition.Update) ([]ranking.Outcome, error) {
	if err := f.hook(&f.before); err != nil {
		return nil, err
	}
	f.mu.Lock()
	f.updates = append(f.updates, updates...)
	f.mu.Unlock()
	outcomes, err := f.Store.Apply(ctx, board, updates)
	if err := f.hook(&f.after); err != nil {
		return nil, err
	}
	return outcomes, err
}

func (f *faultyStore) ApplyEvents(ctx context.Context, event string, all []ranking.EventCall) ([]ranking.EventResult, error) {
	if err := f.hook(&f.before); err != nil {
		return nil, err
	}
	f.mu.Lock()
	f.events = append(f.events, all...)
	f.mu.Unlock()
	results, err := f.Store.ApplyEvents(ctx, event, all)
	if err := f.hook(&f.after); err != nil {
		return nil, err
	}
	return results, err
}

// once returns a hook that fails one call as a lost answer does.
func once() func() error {
	failed := false
	return func() error {
		if failed {
			return nil
		}
		failed = true
		return fmt.Errorf("%w: %w: lost", definition.ErrUnavailable, definition.ErrOutcomeUnknown)
	}
}

// testSet are the definitions of the tests.
func testSet() definition.Set {
	return definition.Set{
		Boards: []definition.Board{
			{Name: "stars"}, {Name: "laps", Mode: definition.Last}, {Name: "fans:{star}"}, {Name: "daily", Period: "day"},
			{Name: "contest", Columns: definition.Columns{{Name: "solved", Max: 20}, {Name: "penalty", Order: definition.Asc, Max: 999}}},
			{Name: "low", Max: new(int64(10))}, {Name: "hot", Window: hour, Refresh: definition.Live},
		},
		Events: []definition.Event{
			{Name: "gift", Updates: []definition.Target{{Board: "stars", Member: "{star}", Score: "{flowers}"},
				{Board: "fans:{star}", Member: "{user}", Score: "{flowers}"}}},
			{Name: "cheer", Updates: []definition.Target{{Board: "hot", Member: "{star}", Score: "1"},
				{Board: "low", Member: "{star}", Score: "{n}"}}},
			{Name: "sad", Updates: []definition.Target{{Board: "low", Member: "{star}", Score: "{n}"}}},
		},
	}
}

func newBench(t *testing.T, url string) *bench {
	rdb := redistest.Dial(t, url)
	store := ranking.New(rdb, ranking.Config{CallTimeout: redistest.CallTimeout})
	t.Cleanup(store.Close)
	require.NoError(t, store.Define(t.Context(), testSet()))
	calls := &faultyCalls{}
	rdb.AddHook(redistest.Hook(calls.pass))
	return &bench{t, rdb, store, &faultyStore{Store: store}, calls}
}

// ingest returns an Ingest of the stream.
func (b *bench) ingest() *Ingest {
	return redistest.Must(New(b.rdb, b.fake, Config{Explain: explain}))(b.t)
}

// explain names the sentinel of an error, as the table of the API does.
func explain(err error) Problem {
	p := Problem{Code: "other", Detail: err.Error()}
	for code, kind := range map[string]error{"invalid_request": definition.ErrInvalid, "unknown_board": definition.ErrUnknownBoard,
		"unknown_event": definition.ErrUnknownEvent, "out_of_range": definition.ErrOutOfRange, "not_open": definition.ErrNotOpen} {
		if errors.Is(err, kind) {
			p.Code = code
		}
	}
	var field *definition.FieldError
	if errors.As(err, &field) {
		p.Field = field.Field
	}
	return p
}

// add appends an entry, as a producer does, and returns its id.
func (b *bench) add(fields ...string) string {
	return b.addAs("*", fields...)
}

func (b *bench) addAs(id string, fields ...string) string {
	b.t.Helper()
	id = redistest.Must(b.rdb.XAdd(b.t.Context(), &redis.XAddArgs{Stream: stream, ID: id, Values: fields}).Result())(b.t)
	return id
}

// drain lets a consumer work until the stream is empty.
func (b *bench) drain(c *consumer) {
	b.t.Helper()
	redistest.Eventually(b.t, "the stream to be empty", func() error {
		_, err := c.batch(b.t.Context())
		n := b.length(stream)
		if err == nil && n > 0 {
			err = fmt.Errorf("%d entries are left", n)
		}
		return err
	})
}

func (b *bench) length(stream string) int64 {
	return redistest.Must(b.rdb.XLen(b.t.Context(), stream).Result())(b.t)
}

// score returns the score of a member, and 0 where the member is not on the board.
func (b *bench) score(board, member string) int64 {
	b.t.Helper()
	n, err := b.store.Around(b.t.Context(), board, member, 0)
	if errors.Is(err, definition.ErrUnknownMember) {
		return 0
	}
	require.NoError(b.t, err)
	return n.Entry.Score
}

// letter is a dead letter.
type letter struct{ Stream, Entry, Code, Field string }

// letters returns the dead letters of the stream, and the fields of each entry.
func (b *bench) letters() (all []letter, fields [][]string) {
	answer := redistest.Must(b.rdb.Do(b.t.Context(), "XRANGE", "rc:{rc:ingest}:dead", "-", "+").Slice())(b.t)
	for _, one := range answer {
		var texts []string
		for _, text := range one.([]any)[1].([]any) {
			texts = append(texts, text.(string))
		}
		require.Equal(b.t, []string{"stream", "entry", "code", "field", "detail", "time"},
			[]string{texts[0], texts[2], texts[4], texts[6], texts[8], texts[10]})
		require.NotEmpty(b.t, texts[9], "the detail")
		require.Regexp(b.t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d`, texts[11])
		all, fields = append(all, letter{texts[1], texts[3], texts[5], texts[7]}), append(fields, texts[12:])
	}
	return all, fields
}

// leaseTTL returns how long the lease of the stream still holds; negative for a lease without an end, or none.
func (b *bench) leaseTTL() time.Duration {
	b.t.Helper()
	return redistest.Must(b.rdb.PTTL(b.t.Context(), "rc:{rc:ingest}:lease").Result())(b.t)
}

// endLeaseIn lets time pass for the lease of the stream.
func (b *bench) endLeaseIn(d time.Duration) {
	b.t.Helper()
	require.True(b.t, b.rdb.PExpire(b.t.Context(), "rc:{rc:ingest}:lease", d).Val())
}

// dropLease does what the end of a lease does.
func (b *bench) dropLease() {
	require.NoError(b.t, b.rdb.Del(b.t.Context(), "rc:{rc:ingest}:lease").Err())
}

func TestEntriesCount(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		b := newBench(t, url)
		b.add("board", "stars", "member", "s17", "score", "3")
		b.add("event", "gift", "star", "s17", "user", "u4", "flowers", "3")
		b.add("board", "laps", "member", "ana", "score", "9", "op", "best", "if", "absent", "data", `{"car": 7}`)
		b.add("board", "stars", "member", "s17", "score", "2", "id", "mine")
		b.add("board", "stars", "member", "s17", "score", "2", "id", "mine")
		b.add("board", "daily", "member", "ana", "score", "1")
		b.add("board", "contest", "member", "mit", "columns", "solved:1,penalty:20")
		c := b.ingest().consumer(stream)
		redistest.Must(c.batch(t.Context()))(t)
		require.EqualValues(t, 8, b.score("stars", "s17"), "3 + 3 + 2, and the id mine counts once")
		require.EqualValues(t, 3, b.score("fans:s17", "u4"))
		require.EqualValues(t, 1, b.score("daily", "ana"))
		require.EqualValues(t, 980, b.score("contest", "mit"))
		page := redistest.Must(b.store.Page(t.Context(), "laps", 1, 1))(t)
		require.EqualValues(t, 9, page.Entries[0].Score)
		require.Equal(t, `{"car":7}`, page.Entries[0].Data)
		require.Zero(t, b.length(stream), "applied entries are deleted")
		pending := redistest.Must(b.rdb.XPending(t.Context(), stream, "rankcast").Result())(t)
		require.Zero(t, pending.Count)
		letters, _ := b.letters()
		require.Empty(t, letters)
	})
}

// Each refused entry is a dead letter that names the field, and the entries after it count.
func TestRefusedEntries(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		b := newBench(t, url)
		b.add("board", "stars", "member", "m", "score", "5", "id", "known")
		var want []letter
		var wantFields [][]string
		for _, of := range []struct {
			code, field string
			entry       []string
		}{
			{"unknown_board", "", []string{"board", "none", "member", "m", "score", "1"}},
			{"unknown_event", "", []string{"event", "none", "star", "s17"}},
			{"invalid_request", "score", []string{"board", "stars", "member", "m", "score", "1.5"}},
			{"out_of_range", "score", []string{"board", "low", "member", "m", "score", "11"}},
			{"out_of_range", "score", []string{"board", "stars", "member", "m", "score", "9007199254740992"}},
			{"invalid_request", "member", []string{"board", "stars", "score", "1"}},
			{"invalid_request", "board", []string{"member", "m", "score", "1"}},
			{"invalid_request", "colour", []string{"board", "stars", "member", "m", "score", "1", "colour", "red"}},
			{"invalid_request", "score", []string{"board", "stars", "member", "m", "score", "1", "score", "2"}},
			{"invalid_request", "op", []string{"board", "stars", "member", "m", "score", "1", "op", "most"}},
			{"invalid_request", "if", []string{"board", "stars", "member", "m", "score", "1", "if", ""}},
			{"invalid_request", "data", []string{"board", "stars", "member", "m", "score", "1", "data", "{"}},
			{"invalid_request", "at", []string{"board", "hot", "member", "m", "score", "1", "at", "noon"}},
			{"invalid_request", "at", []string{"board", "stars", "member", "m", "score", "1", "at", "1763900000123"}},
			{"invalid_request", "id", []string{"board", "stars", "member", "m", "score", "1", "id", ""}},
			{"invalid_request", "flowers", []string{"event", "gift", "star", "s17", "user", "u4", "flowers", "many"}},
			{"invalid_request", "user", []string{"event", "gift", "star", "s17", "flowers", "3"}},
			{"invalid_request", "colour", []string{"event", "gift", "star", "s17", "user", "u4", "flowers", "3", "colour", "red"}},
			{"invalid_request", "rankcast:entry", []string{"board", "stars", "member", "m", "score", "1", "rankcast:entry", "x"}},
			{"invalid_request", "score", []string{"board", "contest", "member", "m", "score", "1"}},
			{"invalid_request", "score", []string{"board", "contest", "member", "m", "score", "1", "columns", "solved:1"}},
			{"invalid_request", "columns", []string{"board", "contest", "member", "m", "columns", "solved"}},
			{"invalid_request", "columns", []string{"board", "stars", "member", "m", "columns", "solved:1"}},
			{"out_of_range", "columns.solved", []string{"board", "contest", "member", "m", "columns", "solved:21"}},
			{"not_open", "board", []string{"board", "daily@-1", "member", "m", "score", "1"}},
			{"out_of_range", "score", []string{"event", "sad", "star", "s17", "n", "11"}},
			{"idempotency_mismatch", "id", []string{"board", "stars", "member", "other", "score", "1", "id", "known"}},
			{"partly_refused", "score", []string{"event", "cheer", "star", "s17", "n", "11"}},
		} {
			id := b.add(of.entry...)
			want, wantFields = append(want, letter{stream, id, of.code, of.field}), append(wantFields, of.entry)
		}
		b.add("board", "stars", "member", "m", "score", "5")
		in := b.ingest()
		b.drain(in.consumer(stream))
		letters, fields := b.letters()
		for i := range want {
			if want[i].Field == "" { // the name of the field is the concern of the store
				want[i].Field = letters[i].Field
			}
		}
		require.Equal(t, want, letters)
		require.Equal(t, wantFields, fields)
		require.EqualValues(t, 10, b.score("stars", "m"))
		require.EqualValues(t, 1, b.score("hot", "s17"), "the board that did not refuse the event")
		require.EqualValues(t, len(want), counted(t, in, resultRefused))
		require.EqualValues(t, 2, counted(t, in, resultApplied))
		moved, left, err := in.Replay(t.Context(), Refused)
		require.NoError(t, err)
		require.Equal(t, []int{len(want) - 2, 2}, []int{moved, left}, "two may have counted")
	})
}

// An entry whose answer was lost is sent again with its id, before any later entry.
func TestLostAnswers(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		for name, fault := range map[string]func(*faultyStore){
			"not applied": func(f *faultyStore) { f.before = once() },
			"applied":     func(f *faultyStore) { f.after = once() },
		} {
			b := newBench(t, url)
			b.dropLease() // of the case before
			member := name
			b.add("board", "laps", "member", member, "score", "1")
			b.add("event", "gift", "star", "s17", "user", member, "flowers", "3")
			b.add("board", "laps", "member", member, "score", "2")
			fault(b.fake)
			in := b.ingest()
			c := in.consumer(stream)
			require.ErrorIs(t, redistest.ErrorOf(c.batch(t.Context())), definition.ErrUnavailable)
			require.EqualValues(t, 3, b.length(stream), name)
			b.add("board", "laps", "member", member, "score", "3")
			b.fake.updates = nil
			b.drain(c)
			require.EqualValues(t, 3, b.score("laps", member), name)
			require.EqualValues(t, 3, b.score("fans:s17", member), name)
			var order []int64
			for _, u := range b.fake.updates {
				order = append(order, u.Score)
			}
			require.Equal(t, []int64{1, 2, 3}, order, name)
			require.EqualValues(t, 4, counted(t, in, resultApplied)+counted(t, in, resultDuplicate), name)
		}
	})
}

// A board that cannot be written delays its own entries, and no update of it comes before another.
func TestAFailureKeepsTheOrderOfEachBoard(t *testing.T) {
	t.Parallel()
	b := newBench(t, redistest.Embedded(t))
	b.add("board", "laps", "member", "m", "score", "1")
	b.add("event", "gift", "star", "s17", "user", "u4", "flowers", "3")
	fails := once()
	b.fake.before = fails
	c := b.ingest().consumer(stream)
	require.Error(t, redistest.ErrorOf(c.batch(t.Context())))
	require.Empty(t, b.fake.events, "the event comes after the update that failed")
	b.drain(c)
	require.Len(t, b.fake.events, 1)
}

func TestOneConsumerAStream(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		b := newBench(t, url)
		first, second := b.ingest().consumer(stream), b.ingest().consumer(stream)
		redistest.Must(first.batch(t.Context()))(t)
		b.add("board", "stars", "member", "s17", "score", "3")
		b.add("board", "none", "member", "s17", "score", "3")
		pause := redistest.Must(second.batch(t.Context()))(t)
		require.Equal(t, busyPause, pause)
		require.EqualValues(t, 2, b.length(stream))
		require.Empty(t, b.fake.updates, "the second has applied nothing")
		// The lease of the first ends while its store is at work, and the second applies the same entries.
		b.fake.after = func() error {
			b.fake.after = nil
			b.dropLease()
			b.fake.mu.Unlock()
			defer b.fake.mu.Lock()
			b.drain(second)
			return nil
		}
		pause = redistest.Must(first.batch(t.Context()))(t)
		require.Equal(t, busyPause, pause)
		require.EqualValues(t, 3, b.score("stars", "s17"))
		letters, _ := b.letters()
		require.Len(t, letters, 1)
		require.Zero(t, counted(t, first.Ingest, resultApplied)+counted(t, first.Ingest, resultDuplicate)+counted(t, first.Ingest,
			resultRefused), "the second has counted them")
	})
}

// A consumer that dies does not release its lease. The lease ends by itself, and another consumer takes the entries over.
func TestLeaseEnds(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		b := newBench(t, url)
		b.add("board", "stars", "member", "s17", "score", "3")
		dead, next := b.ingest().consumer(stream), b.ingest().consumer(stream)
		taken := redistest.Must(dead.take(t.Context(), maxEntries))(t)
		require.Len(t, taken.entries, 1)
		ttl := b.leaseTTL()
		require.Positive(t, ttl, "the lease never ends")
		require.LessOrEqual(t, ttl, leaseDuration)
		pause := redistest.Must(next.batch(t.Context()))(t)
		require.Equal(t, busyPause, pause)
		require.LessOrEqual(t, b.leaseTTL(), leaseDuration)
		require.Zero(t, b.score("stars", "s17"))
		b.endLeaseIn(time.Millisecond)
		b.drain(next)
		require.EqualValues(t, 3, b.score("stars", "s17"))
	})
}

// Each call of the holder of a lease renews the lease, and no call of another consumer does.
func TestRenewals(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		b := newBench(t, url)
		in := redistest.Must(New(b.rdb, b.fake, Config{Lease: hour}))(t)
		holder, other := in.consumer(stream), in.consumer(stream)
		take := func(c *consumer) {
			redistest.Must(c.take(t.Context(), maxEntries))(t)
		}
		renew := func(c *consumer) {
			held := redistest.Must(c.renew(t.Context()))(t)
			require.Equal(t, c == holder, held)
		}
		take(holder)
		for _, call := range []func(*consumer){take, renew} {
			b.endLeaseIn(hour / 2)
			call(other)
			require.LessOrEqual(t, b.leaseTTL(), hour/2)
			call(holder)
			require.Greater(t, b.leaseTTL(), hour/2)
		}
	})
}

// A consumer that rests for longer than its lease renews the lease in time, until another consumer has it.
func TestLongRest(t *testing.T) {
	t.Parallel()
	rdb := redis.NewClient(&redis.Options{}) // outside the bubble, because the client looks up a name
	t.Cleanup(func() { rdb.Close() })
	synctest.Test(t, func(t *testing.T) {
		var renewals []time.Time
		state := "ok"
		rdb.AddHook(redistest.Hook(func(_ context.Context, cmds []redis.Cmder, _ redis.ProcessPipelineHook) error {
			require.Equal(t, "ingest_conclude", cmds[0].(interface{ Script() string }).Script())
			renewals = append(renewals, time.Now())
			cmds[0].(interface{ SetVal(any) }).SetVal([]any{state}) // in place of Redis
			return nil
		}))
		in := redistest.Must(New(rdb, nil, Config{}))(t)
		c := in.consumer(stream)
		c.lease = leaseHeld
		last := time.Now()
		c.rest(t.Context(), 3*leaseDuration)
		require.NotEmpty(t, renewals)
		for _, at := range append(renewals, time.Now()) {
			require.Less(t, at.Sub(last), leaseDuration)
			last = at
		}
		state, renewals = "busy", nil
		c.rest(t.Context(), 3*leaseDuration)
		require.Len(t, renewals, 1)
		require.Equal(t, 3*leaseDuration, time.Since(last))
	})
}

// A process logs which consumer has the stream at its first look and at each change, and then no more. It says how long
// the takeover from a dead consumer lasts.
func TestTheLogNamesTheConsumer(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		const busy, held = `another process consumes the stream; this process takes the stream over if that one has died" ` +
			`stream=rc:ingest within=21s`, "this process consumes the stream"
		b := newBench(t, url)
		first := b.ingest().consumer(stream)
		var log redistest.Log
		in := redistest.Must(New(b.rdb, b.fake, Config{Log: slog.New(slog.NewTextHandler(&log, nil))}))(t)
		next := in.consumer(stream)
		look := func(c *consumer) {
			redistest.Must(c.batch(t.Context()))(t)
		}
		lines := func(busyLines, heldLines int) {
			t.Helper()
			text := log.String()
			require.Equal(t, []int{busyLines, heldLines}, []int{strings.Count(text, busy), strings.Count(text, held)}, text)
		}
		look(first)
		lines(0, 0)
		for range 2 {
			look(next)
			lines(1, 0)
		}
		b.dropLease()
		for range 2 {
			look(next)
			lines(1, 1)
		}
		b.dropLease()
		look(first)
		for range 2 {
			look(next)
			lines(2, 1)
		}
	})
}

// While Redis is not reached, the log says so, and not which call failed first.
func TestTheLogSaysThatRedisIsAway(t *testing.T) {
	t.Parallel()
	addr := fmt.Sprintf("127.0.0.1:%d", redistest.FreePort(t))
	rdb := redistest.Must(ranking.Open("redis://" + addr))(t)
	t.Cleanup(func() { rdb.Close() })
	store := ranking.New(rdb, ranking.Config{})
	t.Cleanup(store.Close)
	require.ErrorIs(t, store.CheckRights(t.Context()), definition.ErrUnavailable)
	var log redistest.Log
	in := redistest.Must(New(rdb, store, Config{Log: slog.New(slog.NewTextHandler(&log, nil))}))(t)
	c := in.consumer(stream)
	_, err := c.batch(t.Context())
	c.note(err)
	require.Contains(t, log.String(), `msg="the consumer cannot apply entries; it tries again" stream=rc:ingest error="dial tcp `+
		addr+`: connect: connection refused"`)
}

// A batch ends at its bound of bytes. An entry above the bound is a dead letter, and never leaves Redis.
func TestLargeEntries(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		b := newBench(t, url)
		c := b.ingest().consumer(stream)
		half := strings.Repeat("x", maxBatchBytes/2)
		for range 12 {
			b.add("board", "stars", "member", "m", "score", "1", "data", half)
		}
		huge := b.add("board", "stars", "member", "m", "score", "1", "data", half+half)
		last := b.add("board", "stars", "member", "m", "score", "1")
		first := redistest.Must(c.take(t.Context(), maxEntries))(t)
		require.Len(t, first.entries, 10, "the size of each is known after the delivery of ten")
		again := redistest.Must(c.take(t.Context(), maxEntries))(t)
		require.Len(t, again.entries, 2)
		for i, e := range again.entries {
			require.True(t, e.again)
			e.again, e.age = false, 0
			require.Equal(t, first.entries[i], e)
		}

		b.drain(c)
		letters, _ := b.letters()
		require.Len(t, letters, 13)
		codes := make(map[string]int)
		for _, l := range letters {
			codes[l.Code]++
			if l.Entry == huge {
				require.Equal(t, codeTooLarge, l.Code)
			}
			require.NotEqual(t, last, l.Entry)
		}
		require.Equal(t, map[string]int{codeTooLarge: 1, "invalid_request": 12}, codes, "the data of the others are too large for a board")
		require.EqualValues(t, 1, b.score("stars", "m"))
	})
}

// Run releases the lease at its end, so another process need not wait for it.
func TestRunReleasesTheLease(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		b := newBench(t, url)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var run sync.WaitGroup
		run.Go(func() { b.ingest().Run(ctx) })
		b.add("board", "stars", "member", "s17", "score", "3")
		redistest.UntilEqual(t, "the entry to count", 3, func() int64 { return b.score("stars", "s17") })
		cancel()
		redistest.Wait(t, "the end of run", run.Wait)
		exists := redistest.Must(b.rdb.Exists(t.Context(), "rc:{rc:ingest}:lease").Result())(t)
		require.Zero(t, exists)
	})
}

// On a board with a window an entry counts from its own time, and on other boards from now.
func TestTimeOfEntries(t *testing.T) {
	t.Parallel()
	b := newBench(t, redistest.Embedded(t))
	now := redistest.Must(b.rdb.Time(t.Context()).Result())(t)
	at := now.Add(-hour / 2).UTC().Truncate(1e6)
	id := fmt.Sprintf("%d-1", at.UnixMilli())
	b.addAs(id, "board", "hot", "member", "m", "score", "1")
	b.addAs(fmt.Sprintf("%d-2", at.UnixMilli()), "event", "cheer", "star", "m", "n", "1")
	b.addAs(fmt.Sprintf("%d-3", at.UnixMilli()), "board", "daily", "member", "m", "score", "1")
	b.addAs(fmt.Sprintf("%d-4", at.UnixMilli()), "event", "gift", "star", "m", "user", "u", "flowers", "1")
	given := at.Add(hour / 4)
	b.addAs(fmt.Sprintf("%d-5", at.UnixMilli()), "board", "hot", "member", "m", "score", "1", "at", fmt.Sprint(given.UnixMilli()))
	b.drain(b.ingest().consumer(stream))
	letters, _ := b.letters()
	require.Empty(t, letters)
	require.EqualValues(t, 1, b.score("daily", "m"), "the board does not take a time")
	byID := make(map[string]definition.Update)
	for _, u := range b.fake.updates {
		byID[u.ID] = u
	}
	require.Equal(t, at, byID["rc:ingest "+id].At)
	require.True(t, byID["rc:ingest "+id].AtIfWindowed)
	require.True(t, byID[fmt.Sprintf("rc:ingest %d-3", at.UnixMilli())].AtIfWindowed)
	require.False(t, byID[fmt.Sprintf("rc:ingest %d-5", at.UnixMilli())].AtIfWindowed, "the producer gives the time")
	require.Equal(t, given, byID[fmt.Sprintf("rc:ingest %d-5", at.UnixMilli())].At)
	require.Equal(t, fmt.Sprint(at.UnixMilli()), string(b.fake.events[0].Fields["at"]))
	require.NotContains(t, b.fake.events[1].Fields, "at", "no board of this event has a window")
}

func TestCheckStream(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"rc:ingest", "orders", "星", string(slices.Repeat([]byte("a"), maxStreamBytes))} {
		require.NoError(t, CheckStream(name), name)
		longest := name + " 18446744073709551615-18446744073709551615"
		require.NoError(t, definition.CheckText("id", longest), "it makes a request id")
	}
	for _, name := range []string{"", "rc:{a}", "a\nb", string(slices.Repeat([]byte("a"), maxStreamBytes+1))} {
		require.ErrorIs(t, CheckStream(name), definition.ErrInvalid, name)
	}
	require.ErrorIs(t, redistest.ErrorOf(New(nil, nil, Config{Streams: []string{"a", "a"}})), definition.ErrInvalid)
	require.ErrorIs(t, redistest.ErrorOf(New(nil, nil, Config{Rate: MinRate - 1})), definition.ErrInvalid)
}
