package faults

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

var ingestingAt = regexp.MustCompile(`msg=ingesting .*admin=(\S+)`)

// launchIngest starts rankcast ingest and waits until it consumes. The process ends with the test.
func launchIngest(t testing.TB, args ...string) *e2etest.Process {
	return launchIngestOf(t, e2etest.Binary, args...)
}

// launchIngestOf is launchIngest of a program of any version.
func launchIngestOf(t testing.TB, program string, args ...string) *e2etest.Process {
	return e2etest.StartProcess(t, exec.Command(program, append([]string{"ingest", "--admin-addr", "127.0.0.1:0"}, args...)...), ingestingAt)
}

// ingestGift is the event of the tests of rankcast ingest.
var ingestGift = definition.Event{Name: "gift", Updates: []definition.Target{
	{Board: "total", Member: "{star}", Score: "{flowers}"}, {Board: "fans:{star}", Member: "{user}", Score: "{flowers}"},
}}

// newIngestStore opens the store of a Redis and defines the boards of the tests of rankcast ingest.
func newIngestStore(t *testing.T, url string) *ranking.Store {
	store := e2etest.OpenStore(t, url)
	require.NoError(t, store.Define(t.Context(), definition.Set{
		Boards: []definition.Board{{Name: "stars"}, {Name: "total"}, {Name: "fans:{star}"}}, Events: []definition.Event{ingestGift},
	}))
	return store
}

// Consumers, a node and Redis are killed in the middle of many entries, and of live updates of the same boards by the node.
// Other processes go on. Each entry and each acknowledged update counts once, and the clients of the node show that.
func TestIngestSurvivesKills(t *testing.T) {
	t.Parallel()
	const entries, rounds, star, lease = 3600, 3, "s17", "rc:{rc:ingest}:lease"
	r := redistest.Start(t, "--appendfsync", "always")
	store := newIngestStore(t, r.URL())
	tr := &trial{t: t, form: shortForm, redis: r}
	node := tr.addNode(nil, r.URL())
	tr.begin()
	boards := []string{"points", "laps", "season"}
	var flowers int64
	pipe := r.Admin().Pipeline()
	for i := range entries {
		score := int64(i%7 + 1)
		board, member := boards[i%len(boards)], fmt.Sprint("m", i%faultMembers)
		values := []string{"board", board, "member", member, "score", fmt.Sprint(score)}
		if i/50%2 == 1 { // in stretches, as producers of one kind send them
			values = []string{"event", "gift", "star", star, "user", "u4", "flowers", fmt.Sprint(score)}
			flowers += score
		} else {
			tr.load.queue(board, member, score)
		}
		pipe.XAdd(t.Context(), &redis.XAddArgs{Stream: "rc:ingest", Values: values})
	}
	_, err := pipe.Exec(t.Context())
	require.NoError(t, err)
	left := func() int64 {
		n, err := r.Admin().XLen(t.Context(), "rc:ingest").Result()
		if err != nil {
			return entries // Redis starts
		}
		return n
	}
	// below waits until fewer entries are left.
	below := func(n int64) {
		t.Helper()
		redistest.Eventually(t, "entries to be applied", func() error {
			if now := left(); now >= n {
				return fmt.Errorf("%d are left", now)
			}
			return nil
		})
	}
	proxy := redistest.StartProxy(t, r.URL())
	consumer := func() *e2etest.Process { return launchIngest(t, "--redis", proxy.URL(), "--rate", "2000") }
	works, waits := consumer(), consumer()
	for round := range rounds {
		tr.load.untilAnswered(200, time.Now(), tr.form.senders)
		below(int64(entries - entries/(rounds+1)*(round+1) + entries/8))
		// Redis has applied entries of the batch, and the consumer has not acknowledged them.
		gate := proxy.Gate("rc:{points}:")
		t.Cleanup(gate.Open)
		redistest.Receive(t, "the call to reach the gate", gate.Reached())
		killed := time.Now()
		works.Kill()
		waits.Kill()
		gate.Open()
		node.Kill()
		r.Kill()
		tr.load.untilAnswered(0, killed, 1)
		r.Start()
		require.Positive(t, left(), "they are killed in the middle")
		works, waits = consumer(), consumer()
		// The lease of the dead consumer ends, as after 20 s.
		require.NoError(t, r.Admin().Del(t.Context(), lease).Err())
		node.start()
	}
	below(1)
	tr.end()
	require.Equal(t, flowers, scoreOf(t, store, "total", star))
	require.Equal(t, flowers, scoreOf(t, store, "fans:"+star, "u4"))
	dead, err := r.Admin().XLen(t.Context(), "rc:{rc:ingest}:dead").Result()
	require.NoError(t, err)
	require.Zero(t, dead)

	// Of a process that stops, the lease goes too, so another one need not wait.
	for _, p := range []*e2etest.Process{works, waits} {
		p.Terminate()
		require.Zero(t, p.Ended(), p.Output())
		require.Contains(t, p.Output(), "msg=stopped")
	}
	require.Zero(t, r.Admin().Exists(t.Context(), lease).Val())
}

func scoreOf(t *testing.T, store *ranking.Store, board, member string) int64 {
	t.Helper()
	n, err := store.Around(context.WithoutCancel(t.Context()), board, member, 0)
	require.NoError(t, err)
	return n.Entry.Score
}

// A consumer that is killed while Redis has no answer for it leaves its entries to another process.
func TestIngestIsTakenOver(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	store := newIngestStore(t, r.URL())
	first := launchIngest(t, "--redis", r.URL())
	redistest.Eventually(t, "the lease", func() error { return r.Admin().Get(t.Context(), "rc:{rc:ingest}:lease").Err() })
	ttl, err := r.Admin().PTTL(t.Context(), "rc:{rc:ingest}:lease").Result()
	require.NoError(t, err)
	require.Less(t, ttl.Seconds(), 29.0, "another process looks at the lease once a second, so it takes over within 30 s")
	second := launchIngest(t, "--redis", r.URL())
	require.NoError(t, first.Cmd.Process.Signal(syscall.SIGSTOP))
	require.NoError(t, r.Admin().XAdd(t.Context(),
		&redis.XAddArgs{Stream: "rc:ingest", Values: []string{"board", "stars", "member", "m", "score", "3"}}).Err())
	require.NoError(t, r.Admin().Del(t.Context(), "rc:{rc:ingest}:lease").Err())
	redistest.Eventually(t, "the entry to be applied", func() error {
		if n := r.Admin().XLen(t.Context(), "rc:ingest").Val(); n > 0 {
			return fmt.Errorf("%d are left", n)
		}
		return nil
	})
	require.NoError(t, first.Cmd.Process.Signal(syscall.SIGCONT))
	first.Logs("another process consumes the stream")
	require.EqualValues(t, 3, scoreOf(t, store, "stars", "m"))
	redistest.Eventually(t, "the second process to count it", func() error { // after it has acknowledged the entry
		metrics := second.Request("GET", "/metrics", "").Body
		if !strings.Contains(metrics, `rankcast_ingest_entries_total{result="applied",stream="rc:ingest"} 1`) ||
			!strings.Contains(metrics, `rankcast_updates_total{result="applied"} 1`) {
			return errors.New(metrics)
		}
		return nil
	})
}

// Dead letters have the codes of the API. The command moves them back, says why it leaves others, and ends.
func TestIngestReplaysDeadLetters(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	store := newIngestStore(t, r.URL())
	launchIngest(t, "--redis", r.URL(), "--stream", "a,b")
	add := func(stream string, fields ...string) {
		t.Helper()
		require.NoError(t, r.Admin().XAdd(t.Context(), &redis.XAddArgs{Stream: stream, Values: fields}).Err())
	}
	add("a", "board", "stars", "member", "m", "score", "1", "id", "mine")
	add("a", "board", "stars", "member", "m", "score", "2", "id", "mine")
	add("a", "board", "late", "member", "m", "score", "3")
	add("b", "board", "late", "member", "m", "score", "3")
	var letters []redis.XMessage
	redistest.Eventually(t, "the dead letters", func() error {
		letters = append(r.Admin().XRange(t.Context(), "rc:{a}:dead", "-", "+").Val(), r.Admin().XRange(t.Context(), "rc:{b}:dead",
			"-", "+").Val()...)
		if len(letters) < 3 {
			return fmt.Errorf("%v", letters)
		}
		return nil
	})
	require.Equal(t, "idempotency_mismatch", letters[0].Values["code"])
	require.Equal(t, "unknown_board", letters[1].Values["code"])
	require.Equal(t, "board", letters[1].Values["field"])
	require.NoError(t, store.Define(t.Context(), definition.Set{Boards: []definition.Board{{Name: "late"}}}))
	replay := func(streams string) e2etest.Ran {
		return e2etest.Run(t, "", "ingest", "--redis", r.URL(), "--stream", streams, "--replay-dead")
	}
	require.NoError(t, r.Admin().Set(t.Context(), "rc:{broken}:dead", "no stream", 0).Err())
	out := replay("b,broken")
	require.Equal(t, []any{1, "1 dead letter moved before the error\n"}, []any{out.Code, out.Stdout}, out.Stderr)
	require.Contains(t, out.Stderr, "WRONGTYPE")
	replay("a,b").Is(t, 0, "1 dead letter moved, 1 left: only --replay-unknown moves what may have counted\n", "")
	redistest.Eventually(t, "both to count", func() error {
		if n, err := store.Around(t.Context(), "late", "m", 0); err != nil || n.Entry.Score != 6 {
			return fmt.Errorf("%v %v", n, err)
		}
		return nil
	})
	for _, wrong := range [][]string{
		{"ingest"}, {"ingest", "--redis", r.URL(), "--stream", "{a}"}, {"ingest", "--redis", r.URL(), "--rate", "1"},
		{"ingest", "--redis", r.URL(), "--replay-unknown"},
	} {
		require.NotZero(t, e2etest.Run(t, "", wrong...).Code, wrong)
	}
	r.Kill()
	out = replay("a,b")
	require.Equal(t, []any{1, ""}, []any{out.Code, out.Stdout}, out.Stderr)
	require.Contains(t, out.Stderr, "store unavailable")
}
