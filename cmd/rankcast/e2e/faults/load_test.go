package faults

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/client"
)

// sendEvery is the pace of one sender.
const sendEvery = 10 * time.Millisecond

// load sends random updates to random nodes, and keeps a ledger. Each update has an id, and is sent
// again, to any node, until it is acknowledged. So the ledger is what Redis must hold in the end.
type load struct {
	t       testing.TB
	nodes   []*faultNode
	gate    sync.RWMutex // an attempt holds it for reading, pause for writing
	senders sync.WaitGroup
	ended   chan struct{} // closed by finish: no new update
	stop    sync.Once
	refused sync.Once // fails the test
	paused  bool      // only the test's goroutine uses it

	mu       sync.Mutex
	attempts []attempt
	ledger   map[string]map[string]int64 // acknowledged: by board and member
}

// attempt is one request of an update.
type attempt struct {
	status int // 0: no answer
	at     time.Time
	took   time.Duration
	why    error
}

// startLoad starts so many senders.
func startLoad(t testing.TB, nodes []*faultNode, senders int) *load {
	l := &load{t: t, nodes: nodes, ended: make(chan struct{})}
	l.forget()
	for i := range senders {
		random := rand.New(rand.NewPCG(2, uint64(i)))
		l.senders.Go(func() { l.send(random, i) })
	}
	t.Cleanup(func() {
		if l.paused { // the test has failed
			l.resume()
		}
		l.finish()
	})
	return l
}

// forget begins a new ledger, for a Redis that has lost all data.
func (l *load) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ledger = make(map[string]map[string]int64)
	for board := range written {
		l.ledger[board] = make(map[string]int64)
	}
}

func (l *load) send(random *rand.Rand, sender int) {
	tick := time.NewTicker(sendEvery)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-tick.C:
		case <-l.ended:
			return
		}
		board := pick(random, "points", "laps", "season")
		u := client.Update{
			Member: fmt.Sprint("m", random.IntN(faultMembers)), Score: 1 + random.Int64N(100), ID: fmt.Sprintf("%d-%d", sender, n),
		}
		for !l.try(pick(random, l.nodes...), board, u) {
			select {
			case <-tick.C:
			case <-l.t.Context().Done(): // the test has failed
				return
			}
		}
	}
}

// try sends an update once, and reports whether it was acknowledged.
func (l *load) try(n *faultNode, board string, u client.Update) bool {
	l.gate.RLock()
	defer l.gate.RUnlock()
	at := time.Now()
	_, err := n.client.Update(context.Background(), board, u)
	a := attempt{status: 200, at: at, took: time.Since(at), why: err}
	if err != nil {
		var answer *client.Error
		a.status = 0
		if errors.As(err, &answer) {
			a.status = answer.Status
			if a.status != 503 { // in no fault is an update refused
				l.refused.Do(func() { l.t.Errorf("an update was answered %d: %s", answer.Status, answer.Message) })
			}
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.attempts = append(l.attempts, a)
	if err == nil {
		l.enter(board, u.Member, u.Score)
	}
	return err == nil
}

// enter enters an update into the ledger. The caller holds mu.
func (l *load) enter(board, member string, score int64) {
	was, there := l.ledger[board][member]
	switch {
	case board != "laps":
		score += was
	case there:
		score = min(score, was)
	}
	l.ledger[board][member] = score
}

// around sends updates past the nodes: one for each member, to each board.
func (l *load) around(store *ranking.Store) {
	random := rand.New(rand.NewPCG(3, 3))
	for board := range written {
		updates := make([]definition.Update, faultMembers)
		for i := range updates {
			updates[i] = definition.Update{Member: fmt.Sprint("m", i), Score: 1 + random.Int64N(100)}
		}
		outcomes, err := store.Apply(context.Background(), board, updates)
		assert.NoError(l.t, err)
		l.mu.Lock()
		for i, o := range outcomes {
			assert.NoError(l.t, o.Err)
			l.enter(board, updates[i].Member, updates[i].Score)
		}
		l.mu.Unlock()
	}
}

// queue enters an update that another process applies, from a stream.
func (l *load) queue(board, member string, score int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.enter(board, member, score)
}

// pause returns once no attempt is under way. None begins until resume.
func (l *load) pause() {
	l.gate.Lock()
	l.paused = true
}

func (l *load) resume() {
	l.paused = false
	l.gate.Unlock()
}

// finish sends no new updates, and returns once each update is acknowledged.
func (l *load) finish() {
	l.stop.Do(func() { close(l.ended) })
	l.senders.Wait()
}

// since returns the attempts that began at a time or later.
func (l *load) since(at time.Time) (some []attempt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range l.attempts {
		if !a.at.Before(at) {
			some = append(some, a)
		}
	}
	return some
}

// untilAnswered waits until so many attempts since a time were answered with a status.
func (l *load) untilAnswered(status int, since time.Time, n int) {
	l.t.Helper()
	redistest.Eventually(l.t, fmt.Sprintf("%d answers with status %d", n, status), func() error {
		got := make(map[int]int)
		for _, a := range l.since(since) {
			got[a.status]++
		}
		if got[status] < n {
			return fmt.Errorf("answers by status: %v", got)
		}
		return nil
	})
}

// slowest is the longest time until an answer with a status, of attempts since a time.
func (l *load) slowest(status int, since time.Time) (longest time.Duration) {
	for _, a := range l.since(since) {
		if a.status == status {
			longest = max(longest, a.took)
		}
	}
	return longest
}
