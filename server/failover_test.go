package server_test

import (
	"errors"
	"flag"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub/hubtest"
	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/definition/definitiontest"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// failovers is the number of rounds of TestClusterChanges. make soak runs more rounds.
var failovers = flag.Int("failovers", 1, "rounds of failovers on a cluster")

// clusterWorld is two nodes on a cluster, a socket to each of them that watches all boards, and a sender for
// each board.
type clusterWorld struct {
	t       *testing.T
	cluster *redistest.Cluster
	nodes   []*servertest.Node
	sockets []*servertest.Socket
	boards  []*clusterBoard
	sending sync.WaitGroup
	stop    atomic.Bool
	pause   sync.RWMutex // held for writing while the senders wait
	probes  int          // updates that requireLive has sent
}

// clusterBoard is a board of a clusterWorld. The senders update clusterMembers members. All sockets follow the one that is below all
// others.
type clusterBoard struct {
	name    string
	shards  int                          // 0: none
	counted [clusterMembers]atomic.Int64 // updates of each member that a node has acknowledged
}

const (
	clusterMembers = 11
	lowest         = clusterMembers - 1 // the number of the member that the sockets follow
	lowestScore    = -1_000_000         // of that member, without its updates
)

// places are the names under which Redis holds the board: that of each shard, or its own.
func (b *clusterBoard) places() []string { return ranking.ShardNames(b.name, b.shards) }

// placeOf is the place of a member, by its number.
func (b *clusterBoard) placeOf(member int) string {
	return ranking.NameOf(b.name, clusterMember(member), b.shards)
}

func clusterMember(number int) string { return fmt.Sprint("m", number) }

// inTop is how many updates of all members but the lowest were acknowledged.
func (b *clusterBoard) inTop() (n int64) {
	for i := range lowest {
		n += b.counted[i].Load()
	}
	return n
}

// startClusterWorld starts all of it. Each master has boards, and one board has a shard on each master.
func startClusterWorld(t *testing.T) *clusterWorld {
	w := &clusterWorld{t: t, cluster: redistest.StartCluster(t)}
	w.cluster.AddReplicas()
	cfg := servertest.Config{}
	cfg.Ranking.CallTimeout = 2 * time.Second
	const shards = 3
	w.nodes = []*servertest.Node{
		servertest.Start(t, w.cluster.URL, cfg, definition.Board{Name: "b:{n}"}, definition.Board{Name: "s:{n}", Shards: shards}),
		servertest.Start(t, w.cluster.URL, cfg),
	}
	masters := make(map[int]bool)
	for i := 0; len(w.boards) < 6 || len(masters) < 3; i++ {
		b := &clusterBoard{name: fmt.Sprint("b:", i)}
		masters[w.masterOf(b.name)] = true
		w.boards = append(w.boards, b)
	}
	for i := 0; ; i++ {
		b := &clusterBoard{name: fmt.Sprint("s:", i), shards: shards}
		clear(masters)
		for _, place := range b.places() {
			masters[w.masterOf(place)] = true
		}
		if len(masters) == shards {
			w.boards = append(w.boards, b)
			break
		}
	}
	for _, n := range w.nodes {
		n.UntilReady()
	}
	for _, b := range w.boards {
		// More members than a view holds, about the score of the lowest one: nodes look that member up.
		updates := []definition.Update{{Member: clusterMember(lowest), Score: lowestScore}}
		for i := range 40 {
			updates = append(updates, definition.Update{Member: fmt.Sprint("still", i), Score: lowestScore + int64(i-10)*10})
		}
		outcomes, err := w.nodes[0].Store.Apply(t.Context(), b.name, updates)
		require.NoError(t, err)
		for _, o := range outcomes {
			require.NoError(t, o.Err)
		}
	}
	for _, n := range w.nodes {
		s := servertest.Dial(t, n.Addr)
		for _, b := range w.boards {
			s.Send(`{"type":"subscribe","id":1,"board":%q,"top":10,"me":%q,"around":2}`, b.name, clusterMember(lowest))
			s.Next("ok")
			s.Next("snapshot")
		}
		w.sockets = append(w.sockets, s)
	}
	for i, b := range w.boards {
		w.sending.Go(func() { w.send(b, i) })
	}
	return w
}

// masterOf is the index of the master of a place.
func (w *clusterWorld) masterOf(place string) int { return w.cluster.MasterOf("rc:{" + place + "}:c") }

// pace is the least time between two updates of one sender. Without one, the tests of this file take nearly as much CPU as all
// others of the package.
const pace = 10 * time.Millisecond

// send sends updates that add 1, one after another. It sends each update again until a node acknowledges it.
func (w *clusterWorld) send(b *clusterBoard, number int) {
	ready := time.NewTicker(pace)
	defer ready.Stop()
	sendOne := func(i int) {
		w.pause.RLock()
		defer w.pause.RUnlock()
		body := fmt.Sprintf(`{"member":%q,"score":1,"id":"%d"}`, clusterMember(i%clusterMembers), i)
		for try := number; !w.stop.Load(); try++ {
			<-ready.C
			at := "http://" + w.nodes[try%2].Addr + "/v1/boards/" + b.name + "/scores"
			if a, err := servertest.Try(w.t, "POST", at, body); err == nil && a.Status == 200 {
				b.counted[i%clusterMembers].Add(1)
				return
			}
		}
	}
	for i := 0; !w.stop.Load(); i++ {
		sendOne(i)
	}
}

// goesOn waits until updates count on all boards, and until each socket shows changes that were made by then.
func (w *clusterWorld) goesOn() {
	w.t.Helper()
	type counts struct{ inTop, lowest int64 }
	at := make(map[*clusterBoard]counts)
	for _, b := range w.boards {
		from := b.inTop()
		redistest.Eventually(w.t, "further updates of "+b.name, func() error {
			if at[b] = (counts{b.inTop(), b.counted[lowest].Load()}); at[b].inTop < from+20 {
				return fmt.Errorf("%d updates", at[b].inTop-from)
			}
			return nil
		})
	}
	for _, s := range w.sockets {
		for b, n := range at {
			s.Until(b.name, fmt.Sprintf("%+v updates of %s", n, b.name), func(is *hubtest.Board) bool {
				return sum(is.Top) >= n.inTop && is.Me != nil && is.Me.Score != nil && *is.Me.Score >= lowestScore+n.lowest
			})
		}
	}
}

// requireLive requires that each node receives the changes of each board, and of each shard. Without that, a node still shows
// them, once a second, by the seq check.
func (w *clusterWorld) requireLive() {
	w.t.Helper()
	w.pause.Lock()
	defer w.pause.Unlock()
	for _, n := range w.nodes {
		n.UntilMetric("rankcast_redis_up", 1)
		var last [3]float64
		redistest.Until(w.t, "the last changes of the senders", func() bool {
			last[0], last[1], last[2] = last[1], last[2], n.Metric("rankcast_changes_total")
			return last[0] == last[2]
		})
	}
	for _, b := range w.boards {
		probed := make(map[string]bool)
		for member := range lowest {
			if place := b.placeOf(member); !probed[place] {
				probed[place] = true
				w.probe(b, member)
			}
		}
		require.Len(w.t, probed, len(b.places()))
	}
}

// probe sends an update of a member, until its change arrives at each node.
func (w *clusterWorld) probe(b *clusterBoard, member int) {
	w.t.Helper()
	for _, n := range w.nodes {
		redistest.Eventually(w.t, "a change of "+b.placeOf(member), func() error {
			before := n.Metric("rankcast_changes_total")
			body := fmt.Sprintf(`{"member":%q,"score":1,"id":"probe-%d"}`, clusterMember(member), w.probes)
			if err := n.Do("POST", "/v1/boards/"+b.name+"/scores", body).Is(200); err != nil {
				return err
			}
			b.counted[member].Add(1)
			w.probes++
			if n.Metric("rankcast_changes_total") == before {
				return errors.New("it did not arrive")
			}
			return nil
		})
	}
}

// end stops the senders. All members but those in places of lossy have exactly what was acknowledged, and none has more. Each socket
// shows what the masters hold, and is told that its boards are current.
func (w *clusterWorld) end(lossy map[string]bool) {
	w.t.Helper()
	w.stop.Store(true)
	w.sending.Wait()
	exact := 0
	for i, s := range w.sockets {
		for _, b := range w.boards {
			want, _ := w.nodes[i].Top(b.name, 10)
			var lowestIs hubtest.Message
			path := fmt.Sprintf("/v1/boards/%s/members/%s?around=2", b.name, clusterMember(lowest))
			w.nodes[i].Require(200, "GET", path, "").Into(&lowestIs)
			scores := map[string]int64{clusterMember(lowest): *lowestIs.Score - lowestScore}
			for _, e := range want {
				scores[e.Member] = e.Score
			}
			require.Len(w.t, scores, clusterMembers)
			unanswered := int64(1) // the last update may have no answer
			for member := range clusterMembers {
				n, is := b.counted[member].Load(), scores[clusterMember(member)]
				require.LessOrEqual(w.t, is, n+unanswered, "%s of %s", clusterMember(member), b.name)
				if place := b.placeOf(member); !lossy[place] {
					exact++
					require.GreaterOrEqual(w.t, is, n, "%s of %s", clusterMember(member), place)
					unanswered -= is - n
				}
			}
			s.Until(b.name, "the board of the master", func(is *hubtest.Board) bool {
				return fmt.Sprint(is.Top) == fmt.Sprint(want) && is.Me != nil && is.Me.Score != nil && *is.Me.Score == *lowestIs.Score &&
					*is.Me.Rank == *lowestIs.Rank && fmt.Sprint(is.Me.Around) == fmt.Sprint(lowestIs.Around)
			})
		}
		for s.Stale != nil && *s.Stale {
			s.Next("status")
		}
	}
	require.GreaterOrEqual(w.t, exact, 2*clusterMembers)
}

// A master is killed. A machine with a master and another replica hangs, and comes back after the failover. A master
// hands its slots to its replica, slots with a board and with a shard move, and a new node gets such slots. Clients stay connected,
// and updates count again. Every acknowledged update that Redis kept is in every view.
func TestClusterChanges(t *testing.T) {
	t.Parallel()
	w := startClusterWorld(t)
	defer w.sending.Wait()
	defer w.stop.Store(true)
	w.goesOn()
	measured := func(what string, change func() time.Time) {
		changed := change()
		w.goesOn()
		t.Logf("%s: all boards go on after %v", what, time.Since(changed).Round(10*time.Millisecond))
		w.requireLive()
	}

	lossy := make(map[string]bool) // a master that is killed may not have copied its last updates
	var kept, keptShards []string  // places
	for _, b := range w.boards {
		for _, place := range b.places() {
			switch {
			case w.masterOf(place) == 0:
				lossy[place] = true
			case b.shards == 0:
				kept = append(kept, place)
			default:
				keptShards = append(keptShards, place)
			}
		}
	}
	require.GreaterOrEqual(t, len(kept), 2)
	require.Len(t, keptShards, 2)
	for round := range *failovers {
		w.cluster.Masters[0].Kill()
		for _, n := range w.nodes {
			n.UntilMetric("rankcast_redis_up", 0) // of some boards only
		}
		measured("a master killed", func() time.Time { return w.cluster.AwaitFailover(0) })
		w.cluster.StartReplica(0)
		hung := []*redistest.Redis{w.cluster.Masters[0], w.cluster.Replicas[1]} // the same boards may lose updates
		for _, server := range hung {
			server.Suspend()
		}
		measured("a machine that hangs", func() time.Time { return w.cluster.AwaitFailover(0) })
		for _, server := range hung { // the former master takes itself for a master at first
			server.Resume()
		}
		w.cluster.AwaitReplica(0)
		w.cluster.AwaitReplica(1)
		measured("a failover by the operator", func() time.Time { w.cluster.Failover(1); return time.Now() })
		t.Logf("round %d of %d", round+1, *failovers)
	}

	move := func(place string, to *redistest.Redis) { w.cluster.MoveSlot("rc:{"+place+"}:c", to) }
	measured("slots moved", func() time.Time {
		for _, place := range []string{kept[0], keptShards[0]} {
			move(place, w.cluster.Masters[(w.masterOf(place)+1)%3])
		}
		return time.Now()
	})
	measured("a node added", func() time.Time {
		added := w.cluster.AddMaster()
		move(kept[1], added)
		move(keptShards[1], added)
		return time.Now()
	})
	w.end(lossy)
}

// While a slot moves, the answer says why its boards take no updates.
func TestAnswerWhileASlotMoves(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t)
	n := servertest.Start(t, cluster.URL, servertest.Config{}, definition.Board{Name: "b"})
	post := func() servertest.Answer { return n.Do("POST", "/v1/boards/b/scores", `{"member":"ana","score":1}`) }
	require.Equal(t, 200, post().Status)
	key := "rc:{" + definitiontest.NameOf("b", "ana") + "}:c"
	to := cluster.Masters[(cluster.MasterOf(key)+1)%len(cluster.Masters)]
	move := cluster.BeginMove(key, to)
	a := post()
	servertest.RequireProblem(t, a, 503, "unavailable", "")
	require.Contains(t, a.Body, `"detail":"the store is not available: the slot of the board moves to another master of the cluster"`)
	move.Keys()
	move.End()
	redistest.Eventually(t, "the update", func() error { return post().Is(200) })
}

// Sentinel promotes the replica three times: because the master was killed, because an operator asked for it, and because
// the master hangs. The last one comes back, and does not know that it is the master no longer. Clients stay connected,
// updates count again, and the views of two nodes are what the new master holds.
func TestSentinelFailover(t *testing.T) {
	t.Parallel()
	redis := redistest.StartSentinel(t)
	cfg := servertest.Config{}
	cfg.Ranking.CallTimeout = 2 * time.Second
	nodes := []*servertest.Node{
		servertest.Start(t, redis.URL(), cfg, definition.Board{Name: "b"}),
		servertest.Start(t, redis.URL(), cfg),
	}
	var sockets []*servertest.Socket
	for _, n := range nodes {
		n.UntilReady()
		s := servertest.Dial(t, n.Addr)
		s.Subscribe("b", 100)
		sockets = append(sockets, s)
	}

	var acknowledged atomic.Int64
	var stop atomic.Bool
	var sending sync.WaitGroup
	defer sending.Wait()
	defer stop.Store(true)
	sending.Go(func() {
		ready := time.NewTicker(pace)
		defer ready.Stop()
		for i := 0; !stop.Load(); i++ {
			<-ready.C
			body := fmt.Sprintf(`{"member":"m%d","score":1,"id":"%d"}`, i%50, i)
			if a, err := servertest.Try(t, "POST", "http://"+nodes[i%2].Addr+"/v1/boards/b/scores", body); err == nil && a.Status == 200 {
				acknowledged.Add(1)
			}
		}
	})
	goesOn := func() {
		t.Helper()
		from := acknowledged.Load()
		redistest.Eventually(t, "further updates to count", func() error {
			if now := acknowledged.Load(); now < from+50 {
				return fmt.Errorf("%d updates", now-from)
			}
			return nil
		})
		for _, s := range sockets { // a node ends a connection that nobody reads
			s.Until("b", "further updates", func(b *hubtest.Board) bool { return sum(b.Top) >= from+50 })
		}
	}
	goesOn()
	for round, fail := range []func(master *redistest.Redis){
		func(master *redistest.Redis) { master.Kill() },
		func(*redistest.Redis) { redis.Failover() },
		func(master *redistest.Redis) { master.Suspend() },
	} {
		master, other := redis.Servers[round%2], redis.Servers[1-round%2]
		fail(master)
		redis.AwaitMaster(other)
		promoted := time.Now()
		goesOn()
		t.Logf("round %d: updates count %v after the promotion", round, time.Since(promoted).Round(time.Millisecond))
		switch round {
		case 0:
			master.Start() // the Sentinels make it a replica
			other.AwaitReplica()
		case 2:
			master.Resume()
			other.AwaitReplica()
			goesOn()
		}
	}
	stop.Store(true)
	redistest.Wait(t, "the end of sending", sending.Wait)
	master, err := redis.Master()
	require.NoError(t, err)
	require.Same(t, redis.Servers[1], master)
	for i := range 50 {
		member := fmt.Sprint("m", i)
		require.NoError(t, master.Admin().ZScore(t.Context(), "rc:{"+definitiontest.NameOf("b", member)+"}::z", member).Err())
	}
	want, total := nodes[0].Top("b", 100)
	require.EqualValues(t, 50, total)
	for i, s := range sockets {
		s.Until("b", "the board of the new master", func(b *hubtest.Board) bool { return fmt.Sprint(b.Top) == fmt.Sprint(want) })
		require.NotNil(t, s.Boards["b"], "socket %d", i)
	}
}

// A node whose Redis user loses a right names the right, by HTTP and on a socket, and changes
// nothing until the right is back.
func TestRightsThatAreLost(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t, redistest.WithDebug...)
	all := []string{"~rc:*", "&rc:*", "+@all"}
	n := servertest.Start(t, r.AppURL(all...), servertest.Config{}, definition.Board{Name: "stars"})
	n.UntilReady()
	s := servertest.Dial(t, n.Addr)

	r.AppURL(append(all, "-publish")...)
	before := r.Digest()
	post := func() servertest.Answer {
		return n.Do("POST", "/v1/boards/stars/scores", `{"member":"ana","score":1,"id":"1"}`)
	}
	refused := post()
	servertest.RequireProblem(t, refused, 503, "unavailable", "")
	require.Contains(t, refused.Body, `"counted":false`)
	const reason = `redis user \"app\": PUBLISH rc:probe:*, PUBLISH rc:{*}:c, PUBLISH rc:{/}:f:*, PUBLISH rc:{/}:profiles: ERR `
	redistest.Until(t, "the node to know the right", func() bool { return n.Store.MissingRights() != nil })
	for _, a := range []servertest.Answer{
		post(),
		n.Do("PUT", "/v1/boards/stars/members/ana/score", `{"score":1,"reason":"a test"}`),
		n.Do("PUT", "/v1/boards/new", `{}`),
		n.Do("PUT", "/v1/boards/stars/hidden/ana", ""),
		n.Do("PUT", "/v1/members/user/ana", `{"name":"Ana"}`),
		n.Do("POST", "/v1/boards/new/scores", `{"member":"ana","score":1}`),
		n.Do("GET", "/readyz", ""),
	} {
		servertest.RequireProblem(t, a, 503, "unavailable", "")
		require.Contains(t, a.Body, reason)
		require.NotEmpty(t, a.Header.Get("Retry-After"))
	}
	s.Send(`{"type":"update","id":1,"board":"stars","update":{"member":"ana","score":1,"id":"1"}}`)
	answer, err := s.Raw()
	require.NoError(t, err)
	require.Contains(t, string(answer), `"code":"unavailable"`)
	require.Contains(t, string(answer), reason)
	require.Equal(t, before, r.Digest())

	r.AppURL(all...)
	n.UntilReady() // by itself
	a := post()
	require.Equal(t, 200, a.Status, a.Body)
	require.Contains(t, a.Body, `"duplicate":false`)
	require.Contains(t, post().Body, `"duplicate":true`)
	_, total := n.Top("stars", 10)
	require.EqualValues(t, 1, total)
}
