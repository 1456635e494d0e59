package ranking_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/feed"
	"rankcast/ranking/redistest"
	"rankcast/ranking/sortkey"
)

// newNode returns a node on a Redis, with the call timeout of tests.
func newNode(t testing.TB, url string, cfg ranking.Config) *ranking.Store {
	cfg.CallTimeout = redistest.CallTimeout
	s := ranking.New(redistest.Dial(t, url), cfg)
	t.Cleanup(s.Close)
	return s
}

func open(t testing.TB, url string, boards ...definition.Board) *ranking.Store {
	s := newNode(t, url, ranking.Config{})
	require.NoError(t, s.Define(t.Context(), definition.Set{Boards: boards}))
	return s
}

// onStore is redistest.OnEngines with a store that has the boards.
func onStore(t *testing.T, boards []definition.Board, test func(t *testing.T, s *ranking.Store)) {
	redistest.OnEngines(t, func(t *testing.T, url string) { test(t, open(t, url, boards...)) })
}

// must returns the result of a call that the test needs to succeed: must(s.Page(…))(t). The message of a failure is as of
// [require.NoError].
func must[T any](result T, err error) func(t require.TestingT, msgAndArgs ...any) T {
	return redistest.Must(result, err)
}

// errorOf is the error of a call whose result the test does not look at.
func errorOf[T any](_ T, err error) error { return err }

// applyOne sends one update and returns what it did.
func applyOne(t testing.TB, s *ranking.Store, board string, u definition.Update) ranking.Outcome {
	t.Helper()
	return must(ranking.ApplyOne(t.Context(), s, board, u))(t)
}

func applied(score, rank int64, previous *ranking.Standing) ranking.Outcome {
	return ranking.Outcome{Result: ranking.Result{Current: &ranking.Standing{Score: score, Rank: rank}, Previous: previous}}
}

func defineOne(t testing.TB, s *ranking.Store, def definition.Board) error {
	t.Helper()
	return s.DefineBoard(t.Context(), def, ranking.Moderator{})
}

// conflicts wants an ErrConflict that names the field.
func conflicts(t testing.TB, field string, err error) {
	t.Helper()
	ranking.Refuses(t, field, definition.ErrConflict, err)
}

// allKeys lists the keys that there are, sorted.
func allKeys(t testing.TB, url string) []string {
	t.Helper()
	rdb := redistest.Dial(t, url)
	defer rdb.Close()
	keys := must(rdb.Keys(t.Context(), "*").Result())(t)
	slices.Sort(keys)
	return keys
}

func unmarshal(text string, v any) error {
	return json.Unmarshal([]byte(text), v, json.MatchCaseInsensitiveNames(true))
}

// patience bounds every wait: far beyond what a slow machine takes.
const patience = time.Minute

// scores reads the scores of a board, by member.
func scores(t testing.TB, s *ranking.Store, board string) map[string]int64 {
	t.Helper()
	return byMember(t, s, board, func(e ranking.Entry) int64 { return e.Score })
}

// data reads what is with each entry of a board, by member.
func data(t testing.TB, s *ranking.Store, board string) map[string]string {
	t.Helper()
	return byMember(t, s, board, func(e ranking.Entry) string { return e.Data })
}

func byMember[T any](t testing.TB, s *ranking.Store, board string, of func(ranking.Entry) T) map[string]T {
	t.Helper()
	page := must(s.Page(t.Context(), board, 1, 1000))(t)
	got := make(map[string]T)
	for _, e := range page.Entries {
		got[e.Member] = of(e)
	}
	return got
}

func names(entries []ranking.Entry) (names []string) {
	for _, e := range entries {
		names = append(names, e.Member)
	}
	return names
}

func gift(id, star, user string, flowers int) ranking.EventCall {
	return ranking.Occurs(id, "star", star, "user", user, "flowers", flowers)
}

func happen(t testing.TB, s *ranking.Store, event string, all ...ranking.EventCall) []ranking.EventResult {
	t.Helper()
	h := must(s.ApplyEvents(t.Context(), event, all))(t)
	require.Len(t, h, len(all))
	return h
}

// listener hears the raw messages of a feed.
type listener struct {
	rdb     redis.UniversalClient
	sub     *redis.PubSub
	channel string
}

// items are those that were published since the last call.
func (l listener) items(t testing.TB) []string {
	t.Helper()
	const end = `[{"at":"","data":{}}]`
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	require.NoError(t, l.rdb.Publish(ctx, l.channel, end).Err())
	var items []string
	for {
		m := must(l.sub.ReceiveMessage(ctx))(t)
		if m.Payload == end {
			return items
		}
		var list []struct{ Data jsontext.Value }
		require.NoError(t, unmarshal(m.Payload, &list))
		for _, item := range list {
			items = append(items, string(item.Data))
		}
	}
}

func listen(t testing.TB, url, feed string) listener {
	t.Helper()
	rdb := redistest.Dial(t, url)
	channel := "rc:{/}:f:" + feed
	sub := rdb.Subscribe(t.Context(), channel)
	must(sub.Receive(t.Context()))(t)
	t.Cleanup(func() { sub.Close() })
	return listener{rdb, sub, channel}
}

// recorder is a feed.Handler that passes on what it hears.
type recorder chan any

type (
	up           struct{}
	down         struct{}
	unfollowed   struct{}
	subscribed   string
	unsubscribed string
	followed     string
	item         string
	profile      struct{ kind, member string }
)

func (r recorder) FeedUnfollowed(time.Time)                   { r <- unfollowed{} }
func (r recorder) FeedUp()                                    { r <- up{} }
func (r recorder) FeedDown(time.Time)                         { r <- down{} }
func (r recorder) FeedSubscribed(board string)                { r <- subscribed(board) }
func (r recorder) FeedUnsubscribed(board string, _ time.Time) { r <- unsubscribed(board) }
func (r recorder) FeedChanges(c *feed.Changes)                { r <- c }
func (r recorder) FeedFollowed(feed string)                   { r <- followed(feed) }
func (r recorder) FeedProfile(kind, member string)            { r <- profile{kind, member} }

func (r recorder) FeedItems(_ string, items [][]byte) {
	for _, i := range items {
		r <- item(i)
	}
}

// next waits for an event of type E and passes over others.
func next[E any](t testing.TB, r recorder) E {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		select {
		case e := <-r:
			if e, ok := e.(E); ok {
				return e
			}
		case <-ctx.Done():
			t.Fatalf("no %T was heard", *new(E))
		}
	}
}

// follow runs a feed on a client of its own until the test ends.
func follow(t testing.TB, url string, probe time.Duration) (*feed.Feed, recorder) {
	return followBy(t, must(ranking.Open(url))(t), probe)
}

// followBy runs a feed until the test ends, and closes its client then.
func followBy(t testing.TB, rdb redis.UniversalClient, probe time.Duration) (*feed.Feed, recorder) {
	f := feed.New(rdb, slog.New(slog.NewTextHandler(t.Output(), nil)), feed.Config{ProbeInterval: probe})
	heard := make(recorder, 4096)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- f.Run(ctx, heard) }()
	t.Cleanup(func() {
		cancel()
		if err := redistest.Receive(t, "the run to end", ended); !errors.Is(err, context.Canceled) {
			t.Errorf("feed ended with %v", err)
		}
		rdb.Close()
	})
	return f, heard
}

// channel is the channel of a board's changes.
func channel(board string) string { return "rc:{" + board + "}:c" }

func key(k sortkey.Key) *sortkey.Key { return &k }

// moment reads a time as these tests write it.
func moment(t testing.TB, s string) time.Time {
	return must(time.Parse(time.RFC3339Nano, s))(t)
}

// countsIn applies an update and returns the period that it counted in.
func countsIn(t testing.TB, s *ranking.Store, board string) string {
	t.Helper()
	o := applyOne(t, s, board, definition.Update{Member: "m", Score: 1})
	require.NoError(t, o.Err)
	return o.Result.Period
}

// requireRefused requires that an update of the board stars is refused with this reason, and that
// Redis stays as it is.
func requireRefused(t *testing.T, r *redistest.Redis, s *ranking.Store, reason string) {
	t.Helper()
	before := r.Digest()
	_, err := s.Apply(t.Context(), "stars", []definition.Update{{Member: "ana", Score: 1, ID: "1"}})
	var missing *definition.MissingRightsError
	require.ErrorAs(t, err, &missing)
	require.NotErrorIs(t, err, definition.ErrOutcomeUnknown)
	require.ErrorIs(t, err, definition.ErrUnavailable)
	require.Contains(t, missing.Reason, reason)
	require.Equal(t, before, r.Digest(), "a refused update changes nothing")
}
