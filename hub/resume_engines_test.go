package hub

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rankcast/hub/hubtest"
	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/feed"
	"rankcast/ranking/proptest"
	"rankcast/ranking/redistest"
)

// On each engine: whenever Redis goes back under writes, with or without its connections, also to a state
// that no node has heard of, of the same epoch and seq: each client holds a list that its node has shown at the
// position that the client holds, and in the end each holds what Redis holds. Of a board with shards, one may go back alone, also to
// the state before its first member. On a cluster, one master goes back, lags, restarts or fails over.
func TestEveryResumeEndsRightOnEngines(t *testing.T) {
	t.Parallel()
	redistest.Both(t, func(t *testing.T) {
		e := resumeEngine{url: redistest.Embedded(t)}
		proxy := redistest.StartProxy(t, e.url)
		o, err := redis.ParseURL(e.url)
		require.NoError(t, err)
		admin := redis.NewClient(o)
		t.Cleanup(func() { admin.Close() })
		e.nodes, e.servers = proxy.URL(), []func() *redis.Client{func() *redis.Client { return admin }}
		e.faults = map[string]func(int){"no connection": func(int) { proxy.Cut() }}
		checkResumes(t, e, 4, resumeBoard, resumeShards(3))
	}, func(t *testing.T) {
		server := redistest.Start(t)
		e := resumeEngine{url: server.URL(), nodes: server.URL(), servers: []func() *redis.Client{server.Admin}}
		e.faults = e.cuts(t)
		checkResumes(t, e, 16, resumeBoard, resumeShards(3))
	})
	t.Run("cluster", func(t *testing.T) {
		t.Parallel()
		c := redistest.StartCluster(t)
		c.AddReplicas()
		e := resumeEngine{url: c.URL, nodes: c.URL, holder: c.MasterOf}
		for i := range c.Masters {
			e.servers = append(e.servers, func() *redis.Client { return c.Masters[i].Admin() })
		}
		e.faults = e.cuts(t)
		e.faults["failover"] = c.Takeover
		e.faults["restart"] = func(master int) {
			c.Masters[master].Kill()
			c.Masters[master].Start()
		}
		e.faults["lag"] = func(master int) {
			require.NoError(t, c.Masters[master].Admin().Do(t.Context(), "CLIENT", "PAUSE", 30).Err())
		}
		checkResumes(t, e, 1, resumeShards(2), resumeShards(3), resumeShards(16))
	})
}

// resumeEngine is the Redis of a law.
type resumeEngine struct {
	url     string
	nodes   string                      // the URL for nodes
	servers []func() *redis.Client      // a client of each, for what a test does without Rankcast
	holder  func(key string) int        // the number of the server that has a key; nil: there is one server
	faults  map[string]func(server int) // what may happen to a server, beside its going back
}

// cuts are the faults that end the connections to a server: those that have subscribed, or all.
func (e resumeEngine) cuts(t *testing.T) map[string]func(server int) {
	kill := func(server int, which ...any) {
		require.NoError(t, e.servers[server]().Do(t.Context(), append([]any{"CLIENT", "KILL"}, which...)...).Err())
	}
	return map[string]func(int){
		"no subscription": func(server int) { kill(server, "TYPE", "pubsub") },
		"no connection": func(server int) {
			kill(server, "TYPE", "pubsub")
			kill(server, "TYPE", "normal", "SKIPME", "yes")
		},
	}
}

var resumeBoard = definition.Board{Name: "b:{n}", Mode: definition.Last}

func resumeShards(n int) definition.Board {
	return definition.Board{Name: fmt.Sprintf("s%d:{n}", n), Mode: definition.Last, Shards: n}
}

func checkResumes(t *testing.T, e resumeEngine, cases int, families ...definition.Board) {
	truth := newNodeStore(redistest.Dial(t, e.url))
	t.Cleanup(truth.close)
	runs := 0
	for _, family := range families {
		despiteFaults(t, func() error { return truth.DefineBoard(t.Context(), family, ranking.Moderator{}) })
		proptest.Check(t, cases, func(t *rapid.T) {
			runs++
			w := &enginesWorld{T: t, resumeEngine: e, truth: truth, family: family,
				name: strings.ReplaceAll(family.Name, "{n}", fmt.Sprint(runs))}
			w.run()
		})
	}
}

// nodeStore is a Store with a client of its own.
type nodeStore struct {
	*ranking.Store
	rdb redis.UniversalClient
}

func newNodeStore(rdb redis.UniversalClient) nodeStore {
	return nodeStore{ranking.New(rdb, ranking.Config{CallTimeout: redistest.CallTimeout}), rdb}
}

func (s nodeStore) close() {
	s.Close()
	s.rdb.Close()
}

// enginesWorld is one board in Redis, the nodes that watch it, and clients that come and go between them.
type enginesWorld struct {
	*rapid.T
	resumeEngine
	family  definition.Board
	name    string // of the board
	truth   nodeStore
	nodes   []*resumeNode
	clients []*resumeClient
	saved   []savedState
}

// savedState is an earlier state of a server, or one that no node has heard of.
type savedState struct {
	server  int
	restore func()
}

func (w *enginesWorld) run() {
	w.save() // there is no board yet
	if w.family.Shards > 0 {
		// More than a view holds, so that nodes count the places of those who are last.
		var updates []definition.Update
		for i := range 20 {
			updates = append(updates, definition.Update{Member: fmt.Sprint("m", i), Score: 5})
		}
		w.apply(updates...)
	}
	w.write(rapid.IntRange(1, 8).Draw(w.T, "writes at first"))
	var first []func()
	for _, server := range w.servers {
		first = append(first, redistest.Save(w, server))
	}
	for range 3 { // histories of one epoch that no node hears of
		w.write(rapid.IntRange(1, 4).Draw(w.T, "writes"))
		w.save()
		for _, restore := range first {
			restore()
		}
	}
	for range 2 {
		w.nodes = append(w.nodes, w.start())
	}
	defer func() {
		for _, n := range w.nodes {
			n.stop()
		}
	}()
	for range 5 {
		w.clients = append(w.clients, &resumeClient{
			me: rapid.SampledFrom([]string{"", "a", "f"}).Draw(w.T, "me"), conn: &fakeConn{},
		})
	}
	actions := map[string]func(*rapid.T){
		"write":   func(*rapid.T) { w.write(1) },
		"save":    func(*rapid.T) { w.save() },
		"fault":   func(*rapid.T) { w.fault(rapid.IntRange(0, len(w.servers)-1).Draw(w.T, "server")) },
		"go back": func(*rapid.T) { w.goBack() },
		"go back while a client is away": func(*rapid.T) {
			c := rapid.SampledFrom(w.clients).Draw(w.T, "client")
			if c.node != nil {
				c.leave()
			}
			w.goBack()
			if rapid.Bool().Draw(w.T, "noticed") {
				w.settle()
			}
			w.come(c)
		},
		"settle": func(*rapid.T) { w.settle() },
		"restart": func(*rapid.T) {
			restart(rapid.IntRange(0, len(w.nodes)-1).Draw(w.T, "node"), w.nodes, w.clients, w.start)
		},
		"": func(*rapid.T) { w.holds() },
	}
	actions["write more"] = func(*rapid.T) { w.write(rapid.IntRange(1, 4).Draw(w.T, "writes")) }
	actions["come or leave"] = func(*rapid.T) {
		if c := rapid.SampledFrom(w.clients).Draw(w.T, "client"); c.node != nil {
			c.leave()
		} else {
			w.come(c)
		}
	}
	actions["come or leave again"] = actions["come or leave"]
	actions["come or leave once more"] = actions["come or leave"]
	w.Repeat(actions)
	for _, c := range w.clients {
		if c.node == nil {
			w.come(c)
		}
	}
	w.settle()
}

// save keeps the state of each server, and that of each shard alone.
func (w *enginesWorld) save() {
	for i, server := range w.servers {
		w.saved = append(w.saved, savedState{i, redistest.Save(w, server)})
	}
	for i := range w.family.Shards {
		keys, server := "rc:{"+ranking.ShardName(w.name, i)+"}:", 0
		if w.holder != nil {
			server = w.holder(keys)
		}
		w.saved = append(w.saved, savedState{server, redistest.SaveKeys(w, w.servers[server], keys+"*")})
	}
}

// fault makes one fault of a server.
func (w *enginesWorld) fault(server int) {
	w.faults[rapid.SampledFrom(slices.Sorted(maps.Keys(w.faults))).Draw(w.T, "fault")](server)
}

// start starts a node with a store, a feed and a hub of its own. Intervals are short, so that much happens in little time.
func (w *enginesWorld) start() *resumeNode {
	store, log := newNodeStore(redistest.Dial(w, w.resumeEngine.nodes)), slog.New(slog.DiscardHandler)
	changes := feed.New(store.rdb, log, feed.Config{ProbeInterval: redistest.CallTimeout})
	h := New(store, changes, Config{
		Log: log, Shards: 2, Interval: time.Millisecond, MeInterval: time.Millisecond,
		CheckInterval: 20 * time.Millisecond, VerifyInterval: 60 * time.Millisecond,
	})
	stopHub := runHub(h)
	ctx, cancel := context.WithCancel(context.Background())
	ended := redistest.Go(func() { changes.Run(ctx, h) })
	return &resumeNode{h, func() {
		stopHub()
		cancel()
		<-ended
		store.close()
	}}
}

// updates draws updates of any members.
func (w *enginesWorld) updates(n int) (all []definition.Update) {
	for range n {
		all = append(all, definition.Update{
			Member: rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "g", "h"}).Draw(w.T, "member"),
			Score:  rapid.Int64Range(0, 9).Draw(w.T, "score"),
		})
	}
	return all
}

// write writes some updates, one by one.
func (w *enginesWorld) write(n int) {
	for _, u := range w.updates(n) {
		w.apply(u)
	}
}

// apply sends updates until each of them has been acknowledged.
func (w *enginesWorld) apply(updates ...definition.Update) {
	despiteFaults(w, func() error {
		outcomes, err := w.truth.Apply(context.Background(), w.name, updates)
		for _, o := range outcomes {
			err = errors.Join(err, o.Err)
		}
		return err
	})
}

// despiteFaults calls do again where it fails: a fault may be found only now, that of an earlier case too.
func despiteFaults(t require.TestingT, do func() error) {
	var final error // calling again does not help
	require.NoError(t, redistest.Poll(context.Background(), func() error {
		err := do()
		if err != nil && !errors.Is(err, definition.ErrUnavailable) {
			final = err
			return nil
		}
		return err
	}))
	require.NoError(t, final)
}

// goBack restores another state of a server while writes go on. At times more writes follow, up to the seq of before.
func (w *enginesWorld) goBack() {
	before := w.page().Seq
	under := w.updates(rapid.IntRange(0, 6).Draw(w.T, "writes meanwhile"))
	to := w.saved[rapid.IntRange(0, len(w.saved)-1).Draw(w.T, "to")]
	var writing sync.WaitGroup
	writing.Go(func() {
		for _, u := range under {
			w.truth.Apply(context.Background(), w.name, []definition.Update{u}) // its connection may be cut
		}
	})
	to.restore()
	if rapid.IntRange(0, 2).Draw(w.T, "with a fault") > 0 {
		w.fault(to.server)
	}
	writing.Wait()
	if rapid.Bool().Draw(w.T, "noticed at once") {
		w.settle()
	}
	if missing := before - w.page().Seq; missing > 0 && rapid.Bool().Draw(w.T, "up to the same seq") {
		w.write(int(missing))
	}
}

// page is what Redis holds.
func (w *enginesWorld) page() (p ranking.Page) {
	despiteFaults(w, func() (err error) {
		p, err = w.truth.Page(context.Background(), w.name, 1, 100)
		return err
	})
	return p
}

// come connects a client to any node, with any top. It resumes from what it holds.
func (w *enginesWorld) come(c *resumeClient) {
	c.top = drawTop(w.T)
	c.node = rapid.SampledFrom(w.nodes).Draw(w.T, "node")
	c.as = c.node.Join(c.conn, nil)
	held := c.conn.board
	b := ranking.Board{Name: w.name, Instance: w.name, Definition: w.family}
	_, err := c.node.Subscribe(c.as, b, Watch{Top: c.top, Me: c.me, Resume: Position{held.Life, held.Seq}}, nil, func() {})
	if err != nil {
		w.Fatal(err)
	}
}

// holds checks that each client that has got the newest version of its node holds its list.
func (w *enginesWorld) holds() {
	for i, c := range w.clients {
		if c.node == nil {
			continue
		}
		var err error
		c.as.shard.do(func() { err = c.differs() })
		if err != nil {
			w.Fatalf("client %d %v", i, err)
		}
	}
}

// differs returns an error if the client has got the newest version of its node, and holds another list. The shard
// of the client calls it.
func (c *resumeClient) differs() error {
	c.conn.mu.Lock()
	defer c.conn.mu.Unlock()
	if c.conn.foldErr != nil {
		return c.conn.foldErr
	}
	for _, d := range c.as.deliveries {
		v := d.stream.version.Load()
		if v == nil || v.publication == nil || d.version != v.number {
			continue
		}
		p := v.publication
		if is, want := c.conn.board.Top, onWire(p.top[:min(c.top, len(p.top))]); !slices.Equal(is, want) ||
			c.conn.board.Life != p.position(c.top).Life {
			return fmt.Errorf("holds\n%v at %s:%d, its node shows\n%v at %v", is, c.conn.board.Life, c.conn.board.Seq, want, p.position(c.top))
		}
	}
	return nil
}

// settle waits until each client that is connected holds what Redis holds.
func (w *enginesWorld) settle() {
	all := w.page().Entries
	for i, c := range w.clients {
		if c.node == nil {
			continue
		}
		err := redistest.Poll(context.Background(), func() error {
			w.holds()
			return c.right(all)
		})
		if err != nil {
			w.Fatalf("gave up waiting for client %d to be right: %v", i, err)
		}
	}
}

// right returns an error unless the client holds the list of Redis, and the place of the member that it follows.
func (c *resumeClient) right(all []ranking.Entry) error {
	c.conn.mu.Lock()
	defer c.conn.mu.Unlock()
	if is, want := c.conn.board.Top, onWire(all[:min(c.top, len(all))]); !slices.Equal(is, want) {
		return fmt.Errorf("holds\n%v at %s:%d, Redis\n%v", is, c.conn.board.Life, c.conn.board.Seq, want)
	}
	if c.me == "" {
		return nil
	}
	want := []any{nil, nil}
	if i := slices.IndexFunc(all, func(e ranking.Entry) bool { return e.Member == c.me }); i >= 0 {
		want = []any{all[i].Rank, all[i].Score}
	}
	me := c.conn.board.Me
	if me == nil {
		return fmt.Errorf("was not told the place of %s", c.me)
	}
	if is := []any{hubtest.Value(me.Rank), hubtest.Value(me.Score)}; !slices.Equal(is, want) {
		return fmt.Errorf("was told the place %v of %s, which is %v", is, c.me, want)
	}
	return nil
}
