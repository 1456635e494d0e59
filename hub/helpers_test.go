package hub

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"rankcast/hub/hubtest"
	"rankcast/ranking"
	"rankcast/ranking/feed"
	"rankcast/ranking/redistest"
)

// sentTimes counts how often each frame was sent.
func sentTimes(conns []*recordingConn) map[*Frame]int {
	times := make(map[*Frame]int)
	for _, k := range conns {
		for _, f := range k.frames {
			times[f]++
		}
	}
	return times
}

// followFeed joins a new connection that follows a feed.
func followFeed(t *testing.T, h *Hub, name string) (*Client, *fakeConn, *Subscription) {
	conn := &fakeConn{}
	c := h.Join(conn, nil)
	sub, err := h.Follow(c, name, nil, func() {})
	require.NoError(t, err)
	return c, conn, sub
}

// isStale reports whether clients were told that their boards may be old.
func isStale(h *Hub) bool {
	h.status.mu.Lock()
	defer h.status.mu.Unlock()
	return h.status.stale
}

func orderOperation() { operations.Add(1) }

// pass lets simulated time pass, and waits until all that is due has happened.
func pass(d time.Duration) {
	orderOperation()
	time.Sleep(d)
	synctest.Wait()
}

// withHub runs a test beside others, with a hub on simulated time: a wait is over when nothing more can happen.
func withHub(t *testing.T, test func(t *testing.T, h *Hub, f *fakeBoard)) {
	t.Parallel()
	withHubAlone(t, test)
}

// withHubFor is withHub for each case of a table, by name.
func withHubFor[C any](t *testing.T, cases map[string]C, test func(t *testing.T, h *Hub, f *fakeBoard, c C)) {
	t.Parallel()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) { test(t, h, f, c) })
		})
	}
}

// withHubAlone is withHub beside no other test.
func withHubAlone(t *testing.T, test func(t *testing.T, h *Hub, f *fakeBoard)) {
	f := newFakeBoard()
	withHubOf(t, f, Config{Log: slog.New(&f.logs), Shards: 2}, func(t *testing.T, h *Hub) { test(t, h, f) })
}

// withHubOf runs a test with a hub of another source.
func withHubOf(t *testing.T, from interface {
	Source
	Feed
}, cfg Config, test func(t *testing.T, h *Hub)) {
	synctest.Test(t, func(t *testing.T) {
		h := New(from, from, cfg)
		defer runHub(h)()
		h.FeedUp()
		synctest.Wait()
		test(t, h)
	})
}

// runHub runs a hub until stop is called.
func runHub(h *Hub) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := redistest.Go(func() { h.Run(ctx) })
	return func() {
		cancel()
		<-ended
	}
}

// requireNothingRuns requires that all goroutines of boards and event feeds have ended.
func requireNothingRuns(t *testing.T, h *Hub) {
	t.Helper()
	ended := redistest.Go(h.running.Wait)
	synctest.Wait()
	select {
	case <-ended:
	default:
		t.Fatal("a goroutine of a board or an event feed runs on")
	}
}

// requireNothingStays requires that boards and event feeds have left no goroutine, and no delivery.
func requireNothingStays(t *testing.T, h *Hub) {
	t.Helper()
	requireNothingRuns(t, h)
	for _, s := range h.shards {
		require.Empty(t, s.deliveries)
	}
}

// jsonOf is the message of a frame.
func jsonOf(f *Frame) []byte {
	pieces := f.JSON()
	return slices.Concat(pieces[:]...)
}

// onWire is entries as clients hold them.
func onWire(entries []ranking.Entry) []hubtest.Entry {
	list := []hubtest.Entry{}
	for _, e := range entries {
		list = append(list, hubtest.Entry{Rank: e.Rank, Member: e.Member, Score: e.Score, Data: hubtest.Raw(e.Data)})
	}
	return list
}

// subscribe joins a connection, and subscribes it to a name of a board. At the end of the test, all frames of a fakeConn
// must have folded.
func subscribe(t testing.TB, h *Hub, conn Conn, name string, w Watch) (*Client, *Subscription) {
	t.Helper()
	if conn, folds := conn.(*fakeConn); folds {
		t.Cleanup(func() { conn.take(t) })
	}
	instance, _, _ := strings.Cut(name, "@")
	c := h.Join(conn, nil)
	sub, err := h.Subscribe(c, ranking.Board{Name: name, Instance: instance}, w, nil, func() {})
	require.NoError(t, err)
	return c, sub
}

// watch subscribes a new connection to a name.
func watch(t testing.TB, h *Hub, name string, w Watch) (*Client, *fakeConn) {
	t.Helper()
	conn := &fakeConn{}
	c, _ := subscribe(t, h, conn, name, w)
	return c, conn
}

// watchMember subscribes a new connection that follows a member.
func watchMember(t testing.TB, h *Hub, top int, member string, around int) (*Client, *fakeConn, *Subscription) {
	t.Helper()
	conn := &fakeConn{}
	c, sub := subscribe(t, h, conn, "b", Watch{Top: top, Me: member, Around: around})
	return c, conn, sub
}

// watchTop subscribes a new connection to the first entries.
func watchTop(t testing.TB, h *Hub, top int) (*Client, *fakeConn, *Subscription) {
	t.Helper()
	return watchMember(t, h, top, "", 0)
}

// resume subscribes a new connection that resumes from what another one held.
func resume(t testing.TB, h *Hub, held hubtest.Board, w Watch) (*Client, *fakeConn) {
	t.Helper()
	conn := &fakeConn{board: held}
	w.Resume = Position{held.Life, held.Seq}
	c, _ := subscribe(t, h, conn, "b", w)
	return c, conn
}

// confirm confirms the subscription of the feed to the board, and lets time pass.
func confirm(h *Hub, then time.Duration) {
	h.FeedSubscribed("b")
	pass(then)
}

// deliver passes changes on as the feed does, and lets time pass.
func deliver(h *Hub, c *feed.Changes, then time.Duration) {
	h.FeedChanges(c)
	pass(then)
}

// free makes a connection take frames again.
func free(c *Client, conn *fakeConn) {
	conn.setFull(false)
	c.Ready()
	synctest.Wait()
}

// watchTopLive is watchTop with a feed that confirms its subscription. The connection gets its first frame at once, and
// the interval after that frame is over.
func watchTopLive(t testing.TB, h *Hub, top int) *fakeConn {
	t.Helper()
	_, conn, _ := watchTop(t, h, top)
	confirm(h, 0)
	require.Equal(t, []string{"snapshot"}, conn.take(t))
	pass(time.Second)
	return conn
}

// fillAndWatchMember makes a board of 200 members, of which a new connection sees three and follows one, with a feed that
// confirms its subscription. The connection has its first frames, and the interval after them is over.
func fillAndWatchMember(t testing.TB, h *Hub, f *fakeBoard, member string, around int) *fakeConn {
	t.Helper()
	f.fill(200)
	_, conn, _ := watchMember(t, h, 3, member, around)
	confirm(h, 3*time.Second)
	require.Equal(t, []string{"snapshot", "me"}, conn.take(t))
	return conn
}

// meHolds checks the last me frame of a connection.
func meHolds(t *testing.T, f *fakeBoard, conn *fakeConn, member string, around int) {
	t.Helper()
	rank, score := f.standing(member)
	me := conn.board.Me
	require.NotNil(t, me, "no me frame of %q", member)
	require.Equal(t, rank, hubtest.Value(me.Rank), "rank of %q", member)
	require.Equal(t, score, hubtest.Value(me.Score), "score of %q", member)
	if around > 0 {
		require.Equal(t, f.around(member, around), me.Around, "around %q", member)
	}
}

// largePublication has 1,000 long rows.
func largePublication() *publication {
	s := &publication{period: "p", state: ranking.State{Epoch: "e", Seq: 7}, total: 1000}
	for i := range 1000 {
		s.top = append(s.top, ranking.Entry{Rank: int64(i) + 1, Member: fmt.Sprintf("m%03d-%s", i, strings.Repeat("x", 200)), Score: int64(-i)})
	}
	return s
}

// changeProfile changes a profile, sends the message of it, and lets time pass.
func changeProfile(h *Hub, f *fakeBoard, member, name string, then time.Duration) {
	f.setProfile(member, name)
	h.FeedProfile("user", member)
	pass(then)
}

// withProfiles runs a test on a board of users, some with names, and one client.
func withProfiles(t *testing.T, test func(t *testing.T, h *Hub, f *fakeBoard, conn *fakeConn)) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.kind = "user"
		f.set("a", 3)
		f.set("b", 2)
		f.setProfile("a", "Ann")
		conn := watchTopLive(t, h, 10) // names come with the first frame
		require.Equal(t, f.withProfiles(f.top(10)), conn.board.Top)
		require.Equal(t, "Ann", conn.board.Top[0].Name)
		test(t, h, f, conn)
	})
}

// rounds is how many rounds a random history has, fewer under the race detector. `make soak`
// repeats each test many times.
func rounds(n int) int { return max(n/slower, 1) }

func drawTop(t *rapid.T) int { return rapid.SampledFrom([]int{1, 3, 10}).Draw(t, "top") }

// restart ends the node i, whose clients leave it, and starts another one in its place.
func restart(i int, nodes []*resumeNode, clients []*resumeClient, start func() *resumeNode) {
	for _, c := range clients {
		if c.node == nodes[i] {
			c.leave()
		}
	}
	nodes[i].stop()
	nodes[i] = start()
}

// membersWithPlaces are the members whose profiles the hub's boards show.
func membersWithPlaces(h *Hub) []profileKey {
	h.profiles.mu.Lock()
	defer h.profiles.mu.Unlock()
	return slices.Collect(maps.Keys(h.profiles.places))
}

// withPeriods runs a test on a board with periods, at the start of the first one.
func withPeriods(t *testing.T, test func(t *testing.T, h *Hub, f *fakeBoard)) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.periods(every)
		test(t, h, f)
	})
}

// shows checks what a connection holds.
func shows(t *testing.T, conn *fakeConn, period string, final bool, top []hubtest.Entry) {
	t.Helper()
	require.Equal(t, period, conn.board.Period)
	require.Equal(t, final, conn.board.Final)
	require.Equal(t, top, append([]hubtest.Entry{}, conn.board.Top...))
}

// endsWere checks the ends that a connection was sent since the last call.
func endsWere(t *testing.T, f *fakeBoard, conn *fakeConn, n int, periods ...string) {
	t.Helper()
	var were []string
	for _, b := range conn.ends {
		were = append(were, b.Period)
		require.Equal(t, f.topOf("b@"+b.Period, n), append([]hubtest.Entry{}, b.Top...), "the end of %q", b.Period)
	}
	require.Equal(t, periods, were)
	conn.ends = nil
}

// endsThenShows checks that a connection was sent the end of a period alone, and holds the first entries of the next one.
func endsThenShows(t *testing.T, f *fakeBoard, conn *fakeConn, n int, ended, next string) {
	t.Helper()
	endsWere(t, f, conn, n, ended)
	shows(t, conn, next, false, f.top(n))
}

// runFeed runs a feed until the test ends.
func runFeed(t *testing.T, url string) (*feed.Feed, receivedChanges) {
	rdb := redistest.Dial(t, url)
	changes := feed.New(rdb, slog.New(slog.DiscardHandler), feed.Config{ProbeInterval: redistest.CallTimeout})
	events := make(receivedChanges, 4096)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- changes.Run(ctx, events) }()
	t.Cleanup(func() {
		cancel()
		require.ErrorIs(t, <-ended, context.Canceled)
	})
	return changes, events
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
