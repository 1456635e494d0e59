package hub

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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
// the state before its first member.
func TestEveryResumeEndsRightOnEngines(t *testing.T) {
	t.Parallel()
	redistest.Both(t, func(t *testing.T) {
		url := redistest.Embedded(t)
		proxy := redistest.StartProxy(t, url)
		checkResumes(t, resumeEngine{url, proxy.URL(), func(*redis.Client, bool) { proxy.Cut() }}, 4)
	}, func(t *testing.T) {
		url := redistest.Start(t).URL()
		kill := func(admin *redis.Client, all bool) {
			require.NoError(t, admin.Do(t.Context(), "CLIENT", "KILL", "TYPE", "pubsub").Err())
			if all {
				require.NoError(t, admin.Do(t.Context(), "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes").Err())
			}
		}
		checkResumes(t, resumeEngine{url, url, kill}, 16)
	})
}

// resumeEngine is the Redis of a law.
type resumeEngine struct {
	url   string
	nodes string // the URL for nodes
	// cut ends the connections that have subscribed; of all clients but admin, where all is set.
	cut func(admin *redis.Client, all bool)
}

func checkResumes(t *testing.T, e resumeEngine, cases int) {
	o, err := redis.ParseURL(e.url)
	require.NoError(t, err)
	admin := redis.NewClient(o)
	t.Cleanup(func() { admin.Close() })
	truth := newNodeStore(redistest.Dial(t, e.url))
	t.Cleanup(truth.close)
	runs := 0
	for _, family := range []definition.Board{
		{Name: "b:{n}", Mode: definition.Last},
		{Name: "s:{n}", Mode: definition.Last, Shards: 3},
	} {
		require.NoError(t, truth.DefineBoard(t.Context(), family, ranking.Moderator{}))
		proptest.Check(t, cases, func(t *rapid.T) {
			runs++
			w := &enginesWorld{T: t, resumeEngine: e, admin: admin, truth: truth, family: family,
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
	admin   *redis.Client
	truth   nodeStore
	nodes   []*resumeNode
	clients []*resumeClient
	saved   []func() // each restores an earlier state of Redis, or one that no node has heard of
}

func (w *enginesWorld) run() {
	w.save() // there is no board yet
	if w.family.Shards > 0 {
		// More than a view holds, so that nodes count the places of those who are last.
		var updates []definition.Update
		for i := range 20 {
			updates = append(updates, definition.Update{Member: fmt.Sprint("m", i), Score: 5})
		}
		_, err := w.truth.Apply(context.Background(), w.name, updates)
		require.NoError(w, err)
	}
	w.write(rapid.IntRange(1, 8).Draw(w.T, "writes at first"))
	first := redistest.Save(w, w.admin)
	for range 3 { // histories of one epoch that no node hears of
		w.write(rapid.IntRange(1, 4).Draw(w.T, "writes"))
		w.save()
		first()
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

// save keeps the state of Redis, and that of each shard alone.
func (w *enginesWorld) save() {
	w.saved = append(w.saved, redistest.Save(w, w.admin))
	for i := range w.family.Shards {
		w.saved = append(w.saved, redistest.SaveKeys(w, w.admin, "rc:{"+ranking.ShardName(w.name, i)+"}:*"))
	}
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
		w.despiteCuts(func() error {
			_, err := w.truth.Apply(context.Background(), w.name, []definition.Update{u})
			return err
		})
	}
}

// despiteCuts calls do again where it fails: a connection that was cut may be found only now.
func (w *enginesWorld) despiteCuts(do func() error) {
	err := redistest.Poll(context.Background(), func() error {
		err := do()
		if err != nil && !errors.Is(err, definition.ErrUnavailable) {
			w.Fatal(err)
		}
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
}

// goBack restores another state of Redis while writes go on. At times more writes follow, up to the seq of before.
func (w *enginesWorld) goBack() {
	before := w.page().Seq
	under := w.updates(rapid.IntRange(0, 6).Draw(w.T, "writes meanwhile"))
	restore := rapid.SampledFrom(w.saved).Draw(w.T, "to")
	cut := rapid.SampledFrom([]string{"none", "subscriptions", "all"}).Draw(w.T, "connections cut")
	var writing sync.WaitGroup
	writing.Go(func() {
		for _, u := range under {
			w.truth.Apply(context.Background(), w.name, []definition.Update{u}) // its connection may be cut
		}
	})
	restore()
	if cut != "none" {
		w.cut(w.admin, cut == "all")
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
	w.despiteCuts(func() (err error) {
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
