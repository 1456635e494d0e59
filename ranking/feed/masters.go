package feed

import (
	"context"
	"maps"
	mathrand "math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/time/rate"
)

const (
	// rerouteFirst and rerouteMost bound the pause before boards without a route are routed again. Each pause is
	// twice the one before. A check resets the pause while no board waits to be routed.
	rerouteFirst = 200 * time.Millisecond
	rerouteMost  = time.Second
	// routeChecks is the number of checks of the routes in a probe interval.
	routeChecks = 4
)

// masters receives the changes of boards on a cluster, by sharded pub/sub: the master of a board has the
// channel of its changes. There is one connection to each master with watched boards.
//
// The goroutine of run routes each board to the connection to its master. A connection gives boards back when it
// fails, and when its Redis does not serve them. These boards are routed again after a pause.
type masters struct {
	feed    *Feed
	cluster *redis.ClusterClient

	// Only the goroutine of run accesses these.
	byAddress map[string]*masterConn
	checked   time.Time // when checkRoutes ran last

	// feed.handling guards these.
	routes map[string]*masterConn // by channel
	lost   map[string]bool        // channels that were reported as lost, and not confirmed since

	mu   sync.Mutex
	back []givenBack
	wake chan struct{} // holds one signal: back is not empty

	warnings rate.Sometimes // that a connection has failed: the node connects again each second
}

// givenBack is what a connection gives back.
type givenBack struct {
	channel string      // that has no route now; "" for none
	ended   *masterConn // gives all of its channels back; nil: it has not ended
	asOf    time.Time   // when ended last received anything
}

func newMasters(f *Feed, cluster *redis.ClusterClient) *masters {
	return &masters{
		feed: f, cluster: cluster, byAddress: make(map[string]*masterConn), checked: time.Now(),
		routes: make(map[string]*masterConn), lost: make(map[string]bool),
		wake: make(chan struct{}, 1), warnings: rate.Sometimes{Interval: time.Minute},
	}
}

// run routes boards until ctx ends, and returns once all connections have ended.
func (m *masters) run(ctx context.Context, h Handler) {
	var running sync.WaitGroup
	defer running.Wait()
	check := time.NewTicker(m.feed.interval / routeChecks)
	defer check.Stop()
	reroute := time.NewTimer(time.Hour)
	reroute.Stop()
	var waiting []string // channels to route when reroute fires
	pause, pausing := rerouteFirst, false
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.feed.boards.wake:
			add, drop := m.feed.boards.take()
			for _, name := range drop {
				m.leave(name)
			}
			m.reportAgain(add)
			waiting = append(waiting, m.routeAll(ctx, h, &running, add)...)
		case <-m.wake:
			waiting = append(waiting, m.takeBack(h)...)
		case <-reroute.C:
			waiting, pausing = m.routeAll(ctx, h, &running, m.withoutRoute(waiting)), false
		case <-check.C:
			if len(waiting) == 0 {
				pause = rerouteFirst
			}
			waiting = append(waiting, m.checkRoutes(ctx, h)...)
		}
		if len(waiting) > 0 && !pausing {
			reroute.Reset(pause/2 + mathrand.N(pause/2))
			pause, pausing = min(2*pause, rerouteMost), true
		}
	}
}

// reportAgain makes lose report the loss of channels that were watched again: to other clients than before.
func (m *masters) reportAgain(names []string) {
	m.feed.call(func() {
		for _, name := range names {
			delete(m.lost, name)
		}
	})
}

// routeAll routes channels, and returns those that still wait for a route.
func (m *masters) routeAll(ctx context.Context, h Handler, running *sync.WaitGroup, names []string) (waiting []string) {
	for i, name := range names {
		if !m.route(ctx, h, running, name) { // each further board would ask all nodes again
			return names[i:]
		}
	}
	return nil
}

// route passes a channel to the connection to its master. A channel with a route keeps it: checkRoutes finds another
// master. route reports false while the client does not know the masters at all. For a slot without a master the
// client names any node, which refuses the channel.
func (m *masters) route(ctx context.Context, h Handler, running *sync.WaitGroup, name string) bool {
	master, err := m.cluster.MasterForKey(ctx, name)
	if err != nil {
		return false
	}
	address := master.Options().Addr
	to := m.byAddress[address]
	if to == nil {
		ctx, cancel := context.WithCancel(ctx)
		to = &masterConn{of: m, address: address, channels: newChannels(), stop: cancel}
		m.byAddress[address] = to
		running.Go(func() { to.run(ctx, h, master) })
	}
	m.feed.call(func() {
		if m.routes[name] == nil {
			m.routes[name] = to
		}
		m.routes[name].channels.want(name)
	})
	return true
}

// leave ends the subscription to a channel that is not wanted any more.
func (m *masters) leave(name string) {
	m.feed.call(func() {
		m.unroute(name)
		delete(m.lost, name)
	})
}

// unroute ends the subscription to a channel. The caller is within feed.call.
func (m *masters) unroute(name string) {
	if from := m.routes[name]; from != nil {
		from.channels.leaveAll(name)
		delete(m.routes, name)
	}
}

// lose reports once that the changes of a board do not arrive, until they are confirmed. The caller is within
// feed.call.
func (m *masters) lose(h Handler, name string, asOf time.Time) {
	if board, ok := m.feed.keys.BoardOf(name); ok && !m.lost[name] {
		m.lost[name] = true
		h.FeedUnsubscribed(board, asOf)
	}
}

// withoutRoute returns those channels that have no route and are still wanted, each once.
func (m *masters) withoutRoute(names []string) []string {
	slices.Sort(names)
	names = slices.Compact(names)
	m.feed.handling.Lock()
	defer m.feed.handling.Unlock()
	return slices.DeleteFunc(names, func(name string) bool { return m.routes[name] != nil || !m.feed.boards.isWanted(name) })
}

// takeBack takes what the connections have given back since the last call. It returns the channels to route again.
func (m *masters) takeBack(h Handler) (names []string) {
	m.mu.Lock()
	list := m.back
	m.back = nil
	m.mu.Unlock()
	m.feed.call(func() {
		for _, b := range list {
			if b.ended == nil {
				names = append(names, b.channel)
				continue
			}
			b.ended.stop()
			if m.byAddress[b.ended.address] == b.ended {
				delete(m.byAddress, b.ended.address)
			}
			for name, at := range m.routes {
				if at == b.ended {
					m.lose(h, name, b.asOf)
					delete(m.routes, name)
					names = append(names, name)
				}
			}
		}
	})
	return names
}

// checkRoutes finds boards that have another master by now, without word from Redis. A master that is cut off from the
// others does not know that it was replaced. checkRoutes returns the channels of these boards, which have no route
// then. It ends the connections without boards.
func (m *masters) checkRoutes(ctx context.Context, h Handler) (moved []string) {
	m.feed.handling.Lock()
	routes := maps.Clone(m.routes)
	m.feed.handling.Unlock()
	used := make(map[*masterConn]bool)
	for name, at := range routes {
		if master, err := m.cluster.MasterForKey(ctx, name); err == nil && master.Options().Addr != at.address {
			moved = append(moved, name)
		} else {
			used[at] = true
		}
	}
	m.feed.call(func() {
		for _, name := range moved {
			m.lose(h, name, m.checked)
			m.unroute(name)
		}
		for address, at := range m.byAddress {
			if !used[at] {
				delete(m.byAddress, address)
				at.stop()
			}
		}
	})
	m.checked = time.Now()
	return moved
}

// giveBack passes channels, or the end of a connection, to the goroutine of run.
func (m *masters) giveBack(b givenBack) {
	m.mu.Lock()
	m.back = append(m.back, b)
	m.mu.Unlock()
	select {
	case m.wake <- struct{}{}:
	default:
	}
}
