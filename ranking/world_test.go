package ranking

import (
	"cmp"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/redistest"
)

// feedWord is an item of the feed of periods.
type feedWord struct {
	At   string `json:"at"`
	Data struct {
		Board  string          `json:"board"`
		Period string          `json:"period"`
		Opened *string         `json:"opened"`
		Ended  string          `json:"ended"`
		Total  int64           `json:"total"`
		Top    json.RawMessage `json:"top"`
	} `json:"data"`
}

func (w feedWord) name() string { return definition.Qualify(w.Data.Board, w.Data.Period) }

// friday is when simulated time begins.
var friday = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// world is some nodes' stores on one Redis. On the embedded one time passes as the
// test has it; on a real one as it does.
type world struct {
	t      testing.TB
	url    string
	rdb    redis.UniversalClient // the test's own
	now    time.Time             // Redis's, where it is simulated
	set    func(time.Time)       // nil on a real Redis whose clock is its own
	clock  *clockHook            // nil but on a real Redis whose clock is simulated
	stores []*Store

	mu   sync.Mutex
	told []feedWord // on the feed of periods
}

func (w *world) open(stores int, cfg Config, boards []definition.Board) {
	w.rdb = w.client()
	for range stores {
		w.store(cfg)
	}
	require.NoError(w.t, w.stores[0].Define(w.t.Context(), definition.Set{Boards: boards}))
	sub := w.rdb.Subscribe(context.Background(), keyspace.New("rc").Feed(definition.PeriodsFeed))
	must(sub.Receive(w.t.Context()))(w.t)
	done := redistest.Go(func() {
		for m := range sub.Channel(redis.WithChannelSize(10_000)) {
			var words []feedWord
			if m.Payload == "" || json.Unmarshal([]byte(m.Payload), &words) != nil {
				words = []feedWord{{At: m.Payload}}
			}
			w.mu.Lock()
			w.told = append(w.told, words...)
			w.mu.Unlock()
		}
	})
	w.t.Cleanup(func() { sub.Close(); <-done })
}

func (w *world) client() redis.UniversalClient {
	rdb := redistest.Dial(w.t, w.url)
	if w.clock != nil {
		rdb.AddHook(redistest.Hook(w.clock.pass))
	}
	return rdb
}

// store adds a node's, which is patient.
func (w *world) store(cfg Config) *Store {
	cfg.CallTimeout = cmp.Or(cfg.CallTimeout, redistest.CallTimeout)
	s := New(w.client(), cfg)
	s.catalog.clock.still = w.set != nil
	w.t.Cleanup(s.Close)
	w.stores = append(w.stores, s)
	return s
}

// pass moves the clock on.
func (w *world) pass(d time.Duration) {
	w.now = w.now.Add(d)
	w.set(w.now)
}

// passSimulated moves the clock on, if it is a simulated one.
func (w *world) passSimulated(d time.Duration) {
	if w.set != nil {
		w.pass(d)
	}
}

// tend makes all nodes do what is due, at one time, until nothing is due.
func (w *world) tend() {
	w.t.Helper()
	require.NoError(w.t, w.tryTend())
}

func (w *world) tryTend() error {
	var wg sync.WaitGroup
	errs := make([]error, len(w.stores))
	for i, s := range w.stores {
		wg.Go(func() {
			for more := true; more && errs[i] == nil; {
				more, errs[i] = s.housekeepDue(context.Background())
			}
			for more := true; more && errs[i] == nil; {
				more, errs[i] = s.eraseDue(context.Background())
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// until tends as time passes, until check is content. Simulated time goes on to when
// something is next on the agenda.
func (w *world) until(what string, check func() error) {
	w.t.Helper()
	if err := w.tryUntil(check); err != nil {
		w.t.Fatalf("waited in vain for %s at %v: %v", what, w.now, err)
	}
}

// tryUntil is until for a case of a property, which the caller fails.
func (w *world) tryUntil(check func() error) (err error) {
	if w.set == nil {
		return redistest.Poll(context.Background(), func() error { return cmp.Or(w.tryTend(), check()) })
	}
	for range 200 {
		// A machine at its limits makes calls fail; they are made again.
		if err = w.tryTend(); err != nil && !errors.Is(err, definition.ErrUnavailable) {
			return err
		} else if err == nil {
			if err = check(); err == nil {
				return nil
			}
		}
		if next := w.next(); next > w.now.UnixMicro() {
			w.pass(time.UnixMicro(next).Sub(w.now))
		}
	}
	return err
}

// next is when something is next on an agenda, in µs since 1970; 0: never.
func (w *world) next() int64 {
	next := int64(0)
	for _, agenda := range []string{keyspace.New("rc").Agenda(), keyspace.New("rc").ErasureAgenda()} {
		first := must(w.rdb.ZRangeWithScores(w.t.Context(), agenda, 0, 0).Result())(w.t)
		if len(first) > 0 && (next == 0 || int64(first[0].Score) < next) {
			next = int64(first[0].Score)
		}
	}
	return next
}

// quiet tends until nothing will ever be due.
func (w *world) quiet() {
	w.t.Helper()
	w.until("all to be quiet", func() error {
		if next := w.next(); next != 0 {
			return fmt.Errorf("something is due at %v", time.UnixMicro(next))
		}
		return nil
	})
}

// words are what was told on the feed of periods so far.
func (w *world) words() []feedWord {
	w.t.Helper()
	mark := newEpoch()
	require.NoError(w.t, w.rdb.Publish(w.t.Context(), keyspace.New("rc").Feed(definition.PeriodsFeed), mark).Err())
	var words []feedWord
	redistest.Eventually(w.t, "the feed", func() error {
		w.mu.Lock()
		defer w.mu.Unlock()
		if !slices.ContainsFunc(w.told, func(word feedWord) bool { return word.At == mark }) {
			return errors.New("not told yet")
		}
		w.told = slices.DeleteFunc(w.told, func(word feedWord) bool { return word.At == mark })
		words = slices.Clone(w.told)
		return nil
	})
	return words
}

// announced are the names of the periods told so far, sorted.
func (w *world) announced() []string {
	w.t.Helper()
	names := []string{}
	for _, word := range w.words() {
		names = append(names, word.name())
	}
	slices.Sort(names)
	return names
}

// allKeys are those in Redis, but for the definitions and the audit.
func (w *world) allKeys() []string {
	w.t.Helper()
	all := must(w.rdb.Keys(w.t.Context(), "*").Result())(w.t)
	slices.Sort(all)
	keys := keyspace.New("rc")
	return slices.DeleteFunc(all, func(k string) bool { return k == keys.Definitions() || k == keys.Audit() || k == clockKey })
}

// nothingLeft says what there is still in Redis.
func (w *world) nothingLeft() error {
	if all := w.allKeys(); len(all) > 0 {
		return fmt.Errorf("there is still %v", all)
	}
	return nil
}

// write adds to a member's score, and is acknowledged.
func (w *world) write(s *Store, board, member string, score int64) Result {
	w.t.Helper()
	o := must(s.Apply(w.t.Context(), board, []definition.Update{{Member: member, Score: score}}))(w.t)
	require.NoError(w.t, o[0].Err)
	return o[0].Result
}

// total is the number of members of a board.
func (w *world) total(board string) int64 {
	w.t.Helper()
	return must(w.stores[0].Page(w.t.Context(), board, 1, 1))(w.t).Total
}

// cared requires what must always be so, or data would stay for ever: each instance
// that there is anything of is listed, and on the agenda unless nothing of it ever
// falls due.
func (w *world) cared(ever bool) {
	w.t.Helper()
	k := keyspace.New("rc")
	for _, key := range w.allKeys() {
		instance, what, _ := strings.Cut(strings.TrimPrefix(key, "rc:{"), "}:")
		if strings.HasPrefix(instance, "/") {
			continue
		}
		instance, _ = keyspace.ParseShard(instance)
		n := must(definition.ParseName(instance))(w.t)
		_, err := w.rdb.ZScore(w.t.Context(), k.Instances(n.Slot()), instance).Result()
		require.NoError(w.t, err, "%s is there, and %s not listed", what, instance)
		if ever {
			_, err = w.rdb.ZScore(w.t.Context(), k.Agenda(), instance).Result()
			require.NoError(w.t, err, "%s is there, and %s not on the agenda", what, instance)
		}
	}
}

// simulated is a world whose clock stands still until it is moved.
func simulated(t testing.TB, stores int, cfg Config, boards ...definition.Board) *world {
	url, set := redistest.Clocked(t)
	set(friday)
	w := &world{t: t, url: url, now: friday, set: set}
	w.open(stores, cfg, boards)
	return w
}

// simulatedNode is such a world of one node.
func simulatedNode(t testing.TB, boards ...definition.Board) (*world, *Store) {
	w := simulated(t, 1, patient, boards...)
	return w, w.stores[0]
}

// worlds runs a test on simulated time, and on a real Redis.
func worlds(t *testing.T, stores int, cfg Config, boards func(now time.Time) []definition.Board, test func(t *testing.T, w *world)) {
	redistest.Both(t, func(t *testing.T) { test(t, simulated(t, stores, cfg, boards(friday)...)) }, func(t *testing.T) {
		w := &world{t: t, url: redistest.Start(t).URL()}
		w.open(stores, cfg, boards(time.Now().UTC()))
		test(t, w)
	})
}

// simulatedWorlds runs a test in a world whose clock stands still until it is moved: the
// embedded store's, and one that the scripts of a real Redis go by.
func simulatedWorlds(t *testing.T, stores int, cfg Config, boards []definition.Board, test func(t *testing.T, w *world)) {
	redistest.Both(t, func(t *testing.T) { test(t, simulated(t, stores, cfg, boards...)) },
		func(t *testing.T) { test(t, simulatedRedis(t, stores, cfg, boards...)) })
}

// onSimulatedNode runs a test in simulatedWorlds with one node, side by side with other tests.
func onSimulatedNode(t *testing.T, boards []definition.Board, test func(t *testing.T, w *world, s *Store)) {
	t.Parallel()
	simulatedWorlds(t, 1, Config{}, boards, func(t *testing.T, w *world) { test(t, w, w.stores[0]) })
}

func simulatedRedis(t testing.TB, stores int, cfg Config, boards ...definition.Board) *world {
	r := redistest.Start(t)
	plain := redistest.Dial(t, r.URL())
	w := &world{t: t, url: r.URL(), now: friday, clock: &clockHook{called: make(map[string]string)}}
	w.set = func(now time.Time) {
		require.NoError(t, plain.Set(context.Background(), clockKey, strconv.FormatInt(now.UnixMicro(), 10), 0).Err())
	}
	w.set(friday)
	w.open(stores, cfg, boards)
	return w
}

// clockKey holds the time, in µs since 1970, that scripts go by on a real Redis whose
// clock is simulated.
const clockKey = "clock"

// clockHook makes the scripts that a client calls read the time from clockKey.
type clockHook struct {
	mu     sync.Mutex
	called map[string]string // SHA-1 of what is called instead, by that of the script
}

func (h *clockHook) pass(ctx context.Context, cmds []redis.Cmder, send redis.ProcessPipelineHook) error {
	for _, cmd := range cmds {
		h.replace(cmd.Args())
	}
	return send(ctx, cmds)
}

// replace makes the call of a script one of the script with the simulated clock.
func (h *clockHook) replace(args []any) {
	sha := func(src string) string {
		sum := sha1.Sum([]byte(src))
		return hex.EncodeToString(sum[:])
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch args[0] {
	case "evalsha": // which Redis does not know at first
		if other, known := h.called[args[1].(string)]; known {
			args[1] = other
		}
	case "eval":
		src := simulatedTime.Replace(args[1].(string))
		h.called[sha(args[1].(string))], args[1] = sha(src), src
	}
}

var simulatedTime = strings.NewReplacer(
	"redis.call('TIME')", "(function() local t = redis.call('GET', '"+clockKey+"') return {t:sub(1, -7), t:sub(-6)} end)()",
	"call('TIME')", "(function() local t = redis.call('GET', '"+clockKey+"') return {t:sub(1, -7), t:sub(-6)} end)()",
)

// skip moves the clock on, where it is simulated.
func (w *world) skip(d time.Duration) {
	if w.set != nil {
		w.pass(d)
	}
}

// tendAfter moves the clock on, and tends.
func (w *world) tendAfter(d time.Duration) {
	w.t.Helper()
	w.pass(d)
	w.tend()
}

// housekeepDue does work that is due now, to its end. more reports that more work is due.
func (s *Store) housekeepDue(ctx context.Context) (more bool, err error) {
	c := newWorkers()
	more, err = s.startDue(ctx, c)
	return more, errors.Join(err, c.wait())
}
