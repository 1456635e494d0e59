package server_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/access/accesstest"
	"rankcast/server/servertest"
	"rankcast/server/status"
)

// reports runs the reports of a node until stop, or the end of the test.
func reports(t testing.TB, n *servertest.Node) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := redistest.Go(func() { n.Server.RunReports(ctx) })
	stop = sync.OnceFunc(func() { cancel(); <-ended })
	t.Cleanup(stop)
	return stop
}

// untilStatus asks whether all is well until the answer is as wanted: it may be a second old.
func untilStatus(t testing.TB, n *servertest.Node, what string, check func(status.Report) error) (report status.Report) {
	t.Helper()
	redistest.Eventually(t, what, func() error {
		a := n.Require(200, "GET", "/v1/nodes", "")
		report = status.Report{}
		a.Into(&report)
		if err := check(report); err != nil {
			return fmt.Errorf("%w: %s", err, a.Body)
		}
		return nil
	})
	return report
}

// codes are the codes of the problems of a report.
func codes(r status.Report) string {
	var all []string
	for _, p := range r.Problems {
		all = append(all, p.Code)
	}
	return strings.Join(all, " ")
}

func hasCodes(want string) func(status.Report) error {
	return func(r status.Report) error { return redistest.Differs(want, codes(r)) }
}

// Any node answers with the reports of all nodes, and with the problems. The answer leaves out a node that has stopped.
func TestNodes(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		cfg := servertest.Config{Server: server.Config{Node: "one:80/a", Version: "v1"}}
		n := servertest.Start(t, url, cfg, definition.Board{Name: "b"})
		n.UntilReady()
		reports(t, n)
		cfg.Server.Node = "two:80/b"
		other := servertest.Start(t, url, cfg)
		other.UntilReady()
		stop := reports(t, other)
		socket := servertest.Dial(t, n.Addr)
		socket.Subscribe("b", 3)
		n.Require(200, "POST", "/v1/boards/b/scores", `{"member":"m","score":1}`)
		report := untilStatus(t, other, "both nodes, with the watcher", func(r status.Report) error {
			if len(r.Nodes) != 2 || len(r.Nodes[0].Watchers) != 1 || r.Nodes[0].P99 == nil {
				return errors.New("not yet")
			}
			return nil
		})
		require.True(t, report.Well, report.Problems)
		require.Empty(t, report.Problems)
		require.NotNil(t, report.Now)
		require.Len(t, report.Redis, 1)
		one := report.Nodes[0]
		require.Equal(t, []string{"one:80/a", "serve", "v1"}, []string{one.ID, one.Role, one.Version})
		require.Equal(t, []int64{1, 0, 1, 0, 1}, []int64{one.Sockets, one.Streams, one.Subscriptions, one.Followers, one.WatchedBoards})
		require.Equal(t, "b", one.Watchers[0].Board)
		require.Equal(t, 1, one.Watchers[0].Subscriptions)
		require.Nil(t, one.Reason)
		require.NotNil(t, one.Seen)
		require.Equal(t, "two:80/b", report.Nodes[1].ID)
		require.Empty(t, report.Nodes[1].Watchers)

		stop()
		n.Server.Drain()
		report = untilStatus(t, n, "the other node to be gone, and this one to stop", func(r status.Report) error {
			return errors.Join(redistest.Differs(1, len(r.Nodes)), redistest.Differs("node_not_ready", codes(r)))
		})
		require.False(t, report.Well)
		require.Equal(t, "one:80/a", report.Problems[0].Node)
		require.Equal(t, "is not ready: the node is stopping", report.Problems[0].Message)

		servertest.RequireProblem(t, n.Do("GET", "/v1/nodes?verbose", ""), 400, "invalid_request", "verbose")
	})
}

// While Redis is away, a node answers with its own report alone, and says why.
func TestNodesWithoutRedis(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	n := servertest.Start(t, r.URL(), servertest.Config{Server: server.Config{Node: "one:80/a"}})
	n.UntilReady()
	reports(t, n)
	untilStatus(t, n, "all to be well", hasCodes(""))
	r.Kill()
	report := untilStatus(t, n, "the outage", func(r status.Report) error {
		return redistest.Differs("redis_away node_not_ready", codes(r))
	})
	require.False(t, report.Well)
	require.Nil(t, report.Now)
	require.Len(t, report.Nodes, 1)
	require.Equal(t, "one:80/a", report.Nodes[0].ID)
	require.Nil(t, report.Nodes[0].Seen)
	require.Contains(t, report.Problems[0].Message, "Redis is away: ")
	r.Start()
	untilStatus(t, n, "all to be well again", hasCodes(""))
}

// A report of rankcast ingest, and one that this version cannot read, stand beside those of nodes. A replica shows with the
// Redis, and what Redis does wrong.
func TestNodesOfOtherKinds(t *testing.T) {
	t.Parallel()
	r, replica := redistest.Start(t, "--maxmemory-policy", "allkeys-lru", "--maxmemory", "100mb"), redistest.Start(t)
	replica.Replicate(r)
	n := servertest.Start(t, r.URL(), servertest.Config{Server: server.Config{Node: "one/a"}})
	n.UntilReady()
	require.NoError(t, n.Store.ReportNode(t.Context(), "x2/b",
		[]byte(`{"id":"x2/b","role":"ingest","queue":{"entries":7,"lag":90.5,"dead_letters":2}}`)))
	require.NoError(t, n.Store.ReportNode(t.Context(), "x3/c", []byte(`{"sockets":"many"}`)))
	report := untilStatus(t, n, "the problems", func(r status.Report) error {
		return redistest.Differs("redis_evicts queue_lags dead_letters node_not_ready", codes(r))
	})
	require.Equal(t, "one/a", report.Nodes[0].ID, "the node that is asked has not reported yet")
	require.Nil(t, report.Nodes[0].Seen)
	require.Equal(t, "x3/c", report.Nodes[2].ID)
	require.Equal(t, "its version reports in another form", *report.Nodes[2].Reason)
	require.Equal(t, &status.Queue{Entries: 7, Lag: 90.5, DeadLetters: 2}, report.Nodes[1].Queue)
	require.Equal(t, "applies entries 90 seconds late: 7 wait", report.Problems[1].Message)
	require.Equal(t, *report.Redis[0].Address, report.Problems[0].Redis)
	require.Len(t, report.Redis[0].Replicas, 1)
}

// However many ask, Redis is asked once a second.
func TestNodesAreReadOnceForAll(t *testing.T) {
	t.Parallel()
	const askers = 100
	r := redistest.Start(t)
	n := servertest.Start(t, r.URL(), servertest.Config{})
	reads := func() int {
		stats := r.Admin().Info(t.Context(), "commandstats").Val()
		found := regexp.MustCompile(`cmdstat_info:calls=(\d+)`).FindStringSubmatch(stats)
		if found == nil {
			return 0 // Redis counts a call once it is done
		}
		calls, err := strconv.Atoi(found[1])
		require.NoError(t, err)
		return calls
	}
	before, began := reads(), time.Now()
	var all sync.WaitGroup
	for range askers {
		all.Go(func() {
			if a, err := servertest.Try(t, "GET", "http://"+n.Addr+"/v1/nodes", ""); err != nil || a.Status != 200 {
				t.Error(err, a.Status, a.Body)
			}
		})
	}
	redistest.Wait(t, "the callers of the test", all.Wait)
	calls := reads() - before - 1 // that of reads itself
	seconds := int(time.Since(began)/time.Second) + 1
	require.Positive(t, calls)
	require.LessOrEqual(t, calls, seconds+1)
}

// The state of the files of a node is in its report, and a fault is a problem.
func TestNodesShowFiles(t *testing.T) {
	t.Parallel()
	const keys = "keys: [{name: ops, hash: HASH:ops, scopes: [admin]}]\n"
	g := accesstest.Start(t, keys)
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{Server: server.Config{Access: g.Guard}})
	n.UntilReady()
	reports(t, n)
	until := func(what, want string) {
		redistest.Eventually(t, what, func() error {
			var report status.Report
			a := n.Require(200, "GET", "/v1/nodes", "", bearer(g.Key("ops"))...)
			if a.Into(&report); len(report.Nodes) == 0 || report.Nodes[0].Access == nil {
				return errors.New(a.Body)
			}
			return redistest.Differs(want, codes(report))
		})
	}
	until("no fault", "")
	g.Replace("key: []\n")
	until("the fault", "access_file")
	g.Replace(keys)
	until("the end of the fault", "")
}
