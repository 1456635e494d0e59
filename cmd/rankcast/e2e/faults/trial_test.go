package faults

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/ranking"
	"rankcast/ranking/redistest"
	"rankcast/server/client"
	"rankcast/server/servertest"
)

// faultForm is the volume of a fault test: short in make test, and long in make soak, see longForm.
type faultForm struct {
	watchers int           // on each node
	senders  int           // of updates, all together
	span     time.Duration // of a fault, at least; 0: until each client has been told and updates have failed
	rounds   int           // of a fault that is repeated
	args     []string      // of the nodes
	boards   string        // boards file of the nodes; "": faultBoards
	program  string        // of the nodes at first; "": the one under test
}

// shortForm finds silence soon.
var shortForm = faultForm{watchers: 8, senders: 3, rounds: 1, args: []string{"--probe-interval", "500ms"}}

// trial is one run of the fault suite: a Redis, nodes that reach it through a proxy each, watchers
// of every node, and a load of updates. All of it ends with the test.
//
// The load keeps a ledger of what it sent, so a trial compares four accounts of each board: the
// ledger, Redis, GET, and the view of each watcher.
type trial struct {
	t     *testing.T
	form  faultForm
	redis *redistest.Redis
	nodes []*faultNode
	load  *load
}

// faultNode is a node of a trial. It keeps its address when it is started again.
type faultNode struct {
	*e2etest.Process
	t        *testing.T
	program  string           // that start launches; "": the one under test
	proxy    *redistest.Proxy // on its way to Redis; nil: it has none
	args     []string
	client   *client.Client
	witness  *servertest.Socket // reads each status frame; see told
	watchers []*watcher
}

// faultMembers is the number of members that updates change.
const faultMembers = 300

// faultBoards are the boards of a trial: three that the load writes to, one for each way to count and
// to order; and others for what a test does itself.
const faultBoards = `boards:
  points: {}
  laps: {mode: best, order: asc}
  season: {period: year, ties: shared}
  quiet: {}
  crowd: {mode: last}
  hourly: {period: hour}
  recent: {window: 30m, refresh: live}
`

// written are the boards that the load writes to, by their order.
var written = map[string]int64{"points": -1, "laps": 1, "season": -1}

// newTrial starts a trial of so many nodes on a Redis, and waits until all watchers show what Redis
// holds.
func newTrial(t *testing.T, f faultForm, r *redistest.Redis, nodes int) *trial {
	tr := &trial{t: t, form: f, redis: r}
	for range nodes {
		proxy := redistest.StartProxy(t, r.URL())
		tr.addNode(proxy, proxy.URL())
	}
	tr.begin()
	return tr
}

// addNode starts a node that reaches Redis at url, with a socket that hears its status.
func (tr *trial) addNode(proxy *redistest.Proxy, url string) *faultNode {
	// Another process may take a port of the range for :0 while a node is away.
	addr := fmt.Sprintf("127.0.0.1:%d", redistest.FreePort(tr.t))
	n := &faultNode{t: tr.t, program: tr.form.program, proxy: proxy,
		args: append([]string{"--redis", url, "--addr", addr, "--boards",
			e2etest.Write(tr.t, "boards.yaml", cmp.Or(tr.form.boards, faultBoards))}, tr.form.args...)}
	n.start()
	n.client = newClient(tr.t, addr)
	n.witness = servertest.Dial(tr.t, addr)
	n.witness.Subscribe("quiet", 1) // so that it hears nothing but status frames
	tr.nodes = append(tr.nodes, n)
	return n
}

// begin starts the watchers and the load.
func (tr *trial) begin() {
	for i, n := range tr.nodes {
		random := rand.New(rand.NewPCG(1, uint64(i)))
		for range tr.form.watchers {
			n.watchers = append(n.watchers, watch(tr.t, n.client, pick(random, "points", "laps", "season"), client.Watch{
				Top: pick(random, 3, 10, 100), Me: fmt.Sprint("m", random.IntN(faultMembers)), Around: random.IntN(4),
			}))
		}
	}
	tr.load = startLoad(tr.t, tr.nodes, tr.form.senders)
	tr.load.untilAnswered(200, time.Now(), 50*tr.form.senders)
	tr.load.pause()
	tr.right(tr.nodes...)
	tr.load.resume()
}

func pick[T any](random *rand.Rand, from ...T) T { return from[random.IntN(len(from))] }

// start starts the node's process and waits until the node is ready.
func (n *faultNode) start() {
	n.Process = e2etest.LaunchProgram(n.t, cmp.Or(n.program, e2etest.Binary), nil, n.args...)
	n.Ready()
}

// told waits until the node's clients have got a status frame: their boards may be old, or not.
func (n *faultNode) told(stale bool) { e2etest.UntilStale(n.witness, stale) }

// direct opens a store on Redis that does not go through the proxies of the nodes.
func (tr *trial) direct(url string) *ranking.Store { return e2etest.OpenStore(tr.t, url) }

// right waits until each watcher of the nodes shows what Redis holds, and returns when that was.
// Nothing is written meanwhile.
func (tr *trial) right(nodes ...*faultNode) time.Time {
	tr.t.Helper()
	redistest.Eventually(tr.t, "each watcher to show what Redis holds", func() error {
		held, err := tr.held()
		if err != nil {
			return err
		}
		for _, n := range nodes {
			for _, w := range n.watchers {
				if err := w.shows(held[w.board]); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return time.Now()
}

// held reads the boards in Redis itself.
func (tr *trial) held() (map[string][]client.Entry, error) {
	held := make(map[string][]client.Entry)
	for board, sign := range written {
		var err error
		if held[board], err = tr.entries(board, sign, board == "season"); err != nil {
			return nil, err
		}
	}
	return held, nil
}

// entries reads a board in Redis itself, without Rankcast: see "Keys in Redis" in operations.md. The board
// has one period at most.
func (tr *trial) entries(board string, sign int64, shared bool) ([]client.Entry, error) {
	ctx := tr.t.Context()
	keys, err := tr.redis.Admin().Keys(ctx, "rc:{"+board+"}:*:z").Result()
	if err != nil || len(keys) == 0 { // no key while the board is empty
		return nil, err
	}
	set, err := tr.redis.Admin().ZRangeWithScores(ctx, keys[0], 0, -1).Result()
	return entriesOf(set, sign, shared), err
}

// end stops the load once all its updates are acknowledged, and compares all accounts of each board.
func (tr *trial) end() {
	tr.t.Helper()
	tr.load.finish()
	tr.right(tr.nodes...)
	held, err := tr.held()
	require.NoError(tr.t, err)
	for board := range written {
		require.Equal(tr.t, tr.load.ledger[board], scoresOf(held[board]), "Redis holds what the load sent to board %s, each update once", board)
		for _, n := range tr.nodes {
			page, err := n.client.Top(tr.t.Context(), board, client.Query{Limit: 1000})
			require.NoError(tr.t, err)
			require.NoError(tr.t, sameEntries(page.Top, held[board]), "GET on %s, board %s", n.Addr, board)
			require.EqualValues(tr.t, len(held[board]), page.Total)
		}
	}
}

// stayed requires that no watcher of the nodes has lost its connection.
func (tr *trial) stayed(nodes ...*faultNode) {
	tr.t.Helper()
	for _, n := range nodes {
		for _, w := range n.watchers {
			require.Zero(tr.t, w.timesAway(), "a watcher of %s has lost its connection", n.Addr)
		}
	}
}

// last holds the fault for the span of the form.
func (tr *trial) last(since time.Time) {
	if left := tr.form.span - time.Since(since); left > 0 {
		<-time.After(left)
	}
}

// figures is a table of what the long form measures; the short form asserts no times.
type figures struct {
	mu    sync.Mutex
	lines []string
}

func (f *figures) add(what string, value any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if d, ok := value.(time.Duration); ok {
		value = d.Round(time.Millisecond)
	}
	f.lines = append(f.lines, fmt.Sprintf("| %s | %v |", what, value))
}

// suspend stops a process until resume, as one that hangs.
func suspend(t testing.TB, pid int) { require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP)) }

func resume(t testing.TB, pid int) { require.NoError(t, syscall.Kill(pid, syscall.SIGCONT)) }

// faults are the faults that have a short form and a long one, in the order of their figures.
var faults = []struct {
	name   string
	fault  func(*testing.T, faultForm) *figures
	rounds int // of the long form, if the fault is repeated
}{
	{"RedisRestarts", redisRestarts, 0},
	{"RedisRestartsEmpty", redisRestartsEmpty, 0},
	{"RedisPauses", redisPauses, 0},
	{"RedisHangs", redisHangs, 0},
	{"Failover", failover, 0},
	{"BlackHole", blackHole, 0},
	{"OutputBuffer", outputBuffer, 12},
	{"Kills", kills, 12},
	{"RollingRestart", rollingRestart, 3},
	{"RedisClock", redisClock, 0},
}

func TestFault(t *testing.T) {
	t.Parallel()
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			f.fault(t, shortForm)
		})
	}
}
