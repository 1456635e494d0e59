package webhook_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/definition/definitiontest"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
	"rankcast/server/webhook"
)

func TestMain(m *testing.M) { redistest.Main(m) }

// startReceiver has a receiver listen.
func startReceiver(t testing.TB, r *servertest.Receiver) *httptest.Server {
	s := httptest.NewServer(r)
	t.Cleanup(s.Close)
	return s
}

// startNode looks after boards and tells a receiver, as a server does.
func startNode(t testing.TB, redisURL, receiverURL string) (store *ranking.Store, stop func()) {
	rdb := redistest.Dial(t, redisURL)
	log := slog.New(slog.DiscardHandler)
	store = ranking.New(rdb, ranking.Config{CallTimeout: redistest.CallTimeout, Announce: 2, Deliver: []string{ranking.AllBoards}})
	hook, err := webhook.New(store, webhook.Config{
		URL: receiverURL, Secret: servertest.WebhookSecret, Log: log, Timeout: 300 * time.Millisecond, Concurrency: 2,
		PollInterval: 5 * time.Millisecond, MinBackoff: 20 * time.Millisecond, MaxBackoff: 100 * time.Millisecond,
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	var roles sync.WaitGroup
	roles.Go(func() { store.RunHousekeeping(ctx, log) })
	roles.Go(func() { hook.Run(ctx) })
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			redistest.Wait(t, "the end of roles", roles.Wait)
			store.Close()
		})
	}
	t.Cleanup(stop)
	return store, stop
}

// closePeriods writes to some boards, has them end in about five seconds, the soonest for a board in use, and
// lists them.
func closePeriods(t testing.TB, s *ranking.Store, family string) (boards []string, ends time.Time) {
	define := func(after time.Duration) error {
		ends = time.Now().Add(after).Truncate(time.Millisecond)
		return s.Define(t.Context(), definition.Set{Boards: []definition.Board{{Name: family + ":{n}", Ends: ends}}})
	}
	require.NoError(t, define(time.Hour))
	for i := range 5 {
		board := fmt.Sprint(family, ":", i)
		outcomes, err := s.Apply(t.Context(), board, []definition.Update{{Member: "a", Score: 5}, {Member: "b", Score: 9},
			{Member: "c", Score: 1}})
		require.NoError(t, err)
		for _, o := range outcomes {
			require.NoError(t, o.Err)
		}
		boards = append(boards, board)
	}
	after := 5 * time.Second
	for define(after) != nil { // the machine is slow
		require.Less(t, after, time.Minute)
		after *= 2
	}
	return boards, ends
}

// awaitDelivered waits until nothing is to be delivered any more of some boards.
func awaitDelivered(t testing.TB, redisURL string, boards []string) {
	rdb := redistest.Dial(t, redisURL)
	redistest.Eventually(t, "all to be delivered", func() error {
		for _, board := range boards {
			done := false      // on the only shard that announces, or on the board
			var notes []string // also of the other shards
			for _, name := range ranking.ShardNames(board, definitiontest.Shards()) {
				noted, err := rdb.HGetAll(t.Context(), "rc:{"+name+"}:p").Result()
				require.NoError(t, err)
				delete(noted, "/") // is no period
				all := len(noted) > 0
				for _, note := range noted {
					all = all && strings.HasSuffix(note, " done")
					notes = append(notes, note)
				}
				done = done || all
			}
			if !done {
				return fmt.Errorf("%s: %q", board, notes)
			}
		}
		n, err := rdb.ZCard(t.Context(), "rc:{/}:turns").Result()
		if n > 0 {
			err = fmt.Errorf("%d deliveries", n)
		}
		return err
	})
}

// requireOneID requires that each board was sent under one id.
func requireOneID(t testing.TB, r *servertest.Receiver, boards []string) {
	t.Helper()
	_, ids := r.Tries()
	for _, board := range boards {
		require.Equal(t, 1, ids[board], board)
	}
	require.Len(t, ids, len(boards))
}

// Two nodes tell a receiver that works: each closed period once.
func TestEachClosedPeriodArrivesOnce(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	r := &servertest.Receiver{T: t}
	s := startReceiver(t, r)
	store, _ := startNode(t, redis.URL(), s.URL)
	startNode(t, redis.URL(), s.URL)
	boards, _ := closePeriods(t, store, "cup")
	awaitDelivered(t, redis.URL(), boards)
	requireOneID(t, r, boards)
	tries, _ := r.Tries()
	for _, board := range boards {
		require.Equal(t, 1, tries[board], board)
	}
	for _, m := range r.Messages() {
		require.EqualValues(t, 3, m.Total)
		require.Equal(t, "[{1 b 9} {2 a 5}]", fmt.Sprint(m.Top))
	}
	from := r.From()
	slices.Sort(from)
	require.Len(t, slices.Compact(from), len(boards), "a connection each")
}

// A receiver that fails in one way and another gets each again, until it works.
func TestFailingReceiver(t *testing.T) {
	t.Parallel()
	trapped := false
	trap := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { trapped = true }))
	defer trap.Close()
	redis := redistest.Start(t)
	hang := make(chan struct{})
	r := &servertest.Receiver{T: t, Answer: func(n int, w http.ResponseWriter, req *http.Request) {
		switch n % 8 {
		case 0:
			w.WriteHeader(500)
		case 1:
			http.Redirect(w, req, trap.URL, http.StatusTemporaryRedirect)
		case 2: // hangs before it answers
			<-hang
		case 3: // hangs up
			panic(http.ErrAbortHandler)
		case 4: // hangs within its answer, which would be a failure
			w.WriteHeader(503)
			http.NewResponseController(w).Flush()
			<-hang
		case 5: // has a great deal to say
			w.WriteHeader(400)
			for range 1000 {
				w.Write(make([]byte, 100_000))
			}
		case 6: // has taken it, and then hangs
			http.NewResponseController(w).Flush()
			<-hang
		}
	}}
	s := startReceiver(t, r)
	store, stop := startNode(t, redis.URL(), s.URL)
	boards, _ := closePeriods(t, store, "cup")
	awaitDelivered(t, redis.URL(), boards)
	stop()
	close(hang)
	requireOneID(t, r, boards)
	tries, _ := r.Tries()
	n := 0
	for _, board := range boards {
		n += tries[board]
	}
	require.Greater(t, n, 2*len(boards), "most tries fail")
	require.False(t, trapped, "nobody else is told")
}

// A receiver that says more than it was asked: what comes after its first answer
// counts for nothing, neither for this message nor for another.
func TestReceiverWithExtraAnswers(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r := &servertest.Receiver{T: t}
	var mu sync.Mutex
	taken := make(map[string]int) // by id: those that were answered by a success first
	var conns sync.WaitGroup
	conns.Go(func() {
		for n := 0; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns.Go(func() {
				defer c.Close()
				for in := bufio.NewReader(c); ; { // more may come: it does not hang up
					req, err := http.ReadRequest(in)
					if err != nil {
						return
					}
					id := req.Header.Get("webhook-id")
					r.Keep(req)
					const no, yes = "HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nno", "HTTP/1.1 200 Yes\r\nContent-Length: 3\r\n\r\nyes"
					if n%2 == 0 {
						io.WriteString(c, no+yes+yes)
					} else {
						mu.Lock()
						taken[id]++
						mu.Unlock()
						io.WriteString(c, yes+no+no)
					}
				}
			})
		}
	})
	store, stop := startNode(t, redis.URL(), "http://"+l.Addr().String())
	boards, _ := closePeriods(t, store, "cup")
	awaitDelivered(t, redis.URL(), boards)
	stop()
	l.Close()
	redistest.Wait(t, "the end of conns", conns.Wait)
	requireOneID(t, r, boards)
	require.Len(t, taken, len(boards), "none counts as delivered that was refused")
	for id, n := range taken {
		require.Equal(t, 1, n, "%s was taken once, and not sent again", id)
	}
}

// A receiver is down, and so is the node later; another node tells what waited.
func TestReceiverDownDuringRestart(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	r := &servertest.Receiver{T: t, Answer: func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }}
	s := startReceiver(t, r)
	address := s.Listener.Addr().String()
	store, stop := startNode(t, redis.URL(), s.URL)
	boards, _ := closePeriods(t, store, "cup")
	redistest.Until(t, "each to be tried", func() bool { tries, _ := r.Tries(); return len(tries) >= len(boards) })
	s.Close()
	stop()
	redis.Kill()
	redis.Start()
	_, stop = startNode(t, redis.URL(), s.URL) // in vain, too
	stop()

	l, err := net.Listen("tcp", address)
	require.NoError(t, err)
	r.Answer = nil
	s = httptest.NewUnstartedServer(r)
	s.Listener.Close()
	s.Listener = l
	s.Start()
	defer s.Close()
	startNode(t, redis.URL(), s.URL)
	awaitDelivered(t, redis.URL(), boards)
	requireOneID(t, r, boards)
}

// A node is killed while the receiver thinks about a message: another sends it when
// the first has had its time.
func TestNodeDiesDuringDelivery(t *testing.T) {
	t.Parallel()
	redisURL, set := redistest.Clocked(t)
	r := &servertest.Receiver{T: t}
	s := startReceiver(t, r)
	rdb := redistest.Dial(t, redisURL)
	dies := ranking.New(rdb, ranking.Config{CallTimeout: redistest.CallTimeout, Deliver: []string{ranking.AllBoards}})
	defer dies.Close()
	boards, now := closePeriods(t, dies, "cup")
	now = now.Add(time.Second)
	set(now)
	ctx, cancel := context.WithCancel(t.Context())
	var tends sync.WaitGroup
	tends.Go(func() { dies.RunHousekeeping(ctx, slog.New(slog.DiscardHandler)) })
	claimed := make(map[string]bool)
	now = now.Add(time.Second)
	redistest.Until(t, "all to be claimed", func() bool {
		now = now.Add(10 * time.Millisecond)
		set(now)
		due, err := dies.Deliveries(t.Context(), 10)
		require.NoError(t, err)
		for _, d := range due {
			claimed[d.ID] = true
		}
		return len(claimed) >= len(boards)
	})
	cancel()
	redistest.Wait(t, "the end of tends", tends.Wait)
	set(now.Add(ranking.DeliverWithin + time.Second))
	startNode(t, redisURL, s.URL)
	awaitDelivered(t, redisURL, boards)
	requireOneID(t, r, boards)
	for _, m := range r.Messages() {
		require.True(t, claimed[m.ID], "under the id that it had")
	}
}
