//go:build upgrade

package faults

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/redis/go-redis/v9"

	"rankcast/ranking/redistest"
	"rankcast/server/client"
)

const giftStars, giftUsers = 5, 30

// giftLoad sends events beside the updates of a load, and keeps a ledger of the boards of gift. Each event has an
// id and is sent until it is acknowledged, and then once more. Either time a random node answers, of any
// version.
type giftLoad struct {
	load   *load
	mu     sync.Mutex
	ledger map[string]map[string]int64 // acknowledged: by board and member
}

// startGifts starts so many senders, which pause and end with those of the load. It waits until each member is
// on the boards.
func startGifts(l *load, senders int) *giftLoad {
	g := &giftLoad{load: l, ledger: make(map[string]map[string]int64)}
	for i := range senders {
		random := rand.New(rand.NewPCG(4, uint64(i)))
		l.senders.Go(func() { g.send(random, i) })
	}
	redistest.Eventually(l.t, "a gift of each user", func() error {
		g.mu.Lock()
		defer g.mu.Unlock()
		if n := len(g.ledger["senders"]); n < giftUsers {
			return fmt.Errorf("of %d", n)
		}
		return nil
	})
	return g
}

// member is a random member of a board.
func (g *giftLoad) member(random *rand.Rand, board string) string {
	if board == "stars" {
		return fmt.Sprint("s", random.IntN(giftStars))
	}
	return fmt.Sprint("u", random.IntN(giftUsers))
}

func (g *giftLoad) send(random *rand.Rand, sender int) {
	tick := time.NewTicker(sendEvery)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-tick.C:
		case <-g.load.ended:
			return
		}
		star, user, flowers := g.member(random, "stars"), g.member(random, "fans:s1"), 1+random.Int64N(9)
		e := client.Event{ID: fmt.Sprintf("gift-%d-%d", sender, n),
			Data: jsontext.Value(fmt.Sprintf(`{"star":%q,"user":%q,"flowers":%d}`, star, user, flowers))}
		var answers [2][]client.Outcome
		for i := range answers {
			for answers[i] = nil; answers[i] == nil; {
				if answers[i] = g.try(pick(random, g.load.nodes...), e, func() {
					if i == 0 {
						g.enter(star, user, flowers)
					}
				}); answers[i] != nil {
					continue
				}
				select {
				case <-tick.C:
				case <-g.load.t.Context().Done(): // the test has failed
					return
				}
			}
		}
		g.compare(e.ID, answers[0], answers[1])
	}
}

// queue sends gifts by the stream of rankcast ingest.
func (g *giftLoad) queue(r *redistest.Redis, n int) error {
	pipe := r.Admin().Pipeline()
	random := rand.New(rand.NewPCG(6, 0))
	for range n {
		star, user, flowers := g.member(random, "stars"), g.member(random, "fans:s1"), 1+random.Int64N(9)
		pipe.XAdd(g.load.t.Context(), &redis.XAddArgs{Stream: "rc:ingest", Values: []any{"event", "gift", "star", star, "user", user,
			"flowers", flowers}})
		g.enter(star, user, flowers)
	}
	_, err := pipe.Exec(g.load.t.Context())
	return err
}

// try sends an event once. It returns nil unless all its updates are acknowledged. Then it calls enter before
// the load may pause.
func (g *giftLoad) try(n *faultNode, e client.Event, enter func()) []client.Outcome {
	g.load.gate.RLock()
	defer g.load.gate.RUnlock()
	outcomes, err := n.client.Event(g.load.t.Context(), "gift", e)
	for _, o := range outcomes {
		err = errors.Join(err, o.Err)
	}
	if err != nil {
		var answer *client.Error
		if errors.As(err, &answer) && answer.Status != 503 {
			g.load.refused.Do(func() { g.load.t.Errorf("an event was answered %d: %s", answer.Status, answer.Message) })
		}
		return nil
	}
	enter()
	return outcomes
}

// compare requires that the second answer to an event repeats the first, and counts nothing.
func (g *giftLoad) compare(id string, first, again []client.Outcome) {
	for i := range again {
		if !again[i].Result.Duplicate {
			g.load.refused.Do(func() { g.load.t.Errorf("event %s counts twice: %+v", id, again[i].Result) })
		}
		first[i].Result.Duplicate = true // if the first answer got lost
		if !reflect.DeepEqual(first[i], again[i]) {
			g.load.refused.Do(func() {
				g.load.t.Errorf("event %s: a retry is answered %+v; want %+v", id, again[i].Result, first[i].Result)
			})
		}
	}
}

func (g *giftLoad) enter(star, user string, flowers int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for board, member := range map[string]string{"stars": star, "fans:" + star: user, "senders": user, "built": user, "twice": user} {
		if g.ledger[board] == nil {
			g.ledger[board] = make(map[string]int64)
		}
		if g.ledger[board][member] += flowers; board == "twice" {
			g.ledger[board][member] += flowers
		}
	}
}

// counted returns an error unless a node answers each board as the ledger has it.
func (g *giftLoad) counted(n *faultNode) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for board, want := range g.ledger {
		page, err := n.client.Top(g.load.t.Context(), board, client.Query{Limit: 1000})
		if err != nil {
			return err
		}
		if got := scoresOf(page.Top); !maps.Equal(got, want) {
			return fmt.Errorf("board %s: %v; acknowledged: %v", board, got, want)
		}
	}
	return nil
}
