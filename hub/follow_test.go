package hub

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub/hubtest"
	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/feed"
)

// fill gives the board members m000, m001, ... of which the first has the highest
// score, in steps of ten.
func (f *fakeBoard) fill(members int) {
	for i := range members {
		f.set(fmt.Sprintf("m%03d", i), int64(10*(members-i)))
	}
}

// standing is where a member is.
func (f *fakeBoard) standing(member string) (rank, score any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range f.entries() {
		if e.Member == member {
			return e.Rank, e.Score
		}
	}
	return nil, nil
}

// around are the neighbours of a member.
func (f *fakeBoard) around(member string, k int) []hubtest.Entry {
	all := f.top(math.MaxInt)
	at := slices.IndexFunc(all, func(e hubtest.Entry) bool { return e.Member == member })
	if at < 0 {
		return []hubtest.Entry{}
	}
	return all[max(0, at-k):min(len(all), at+k+1)]
}

// follow subscribes a new connection that follows a member.
func follow(t *testing.T, h *Hub, top int, member string, around int) (*Client, *fakeConn, *Subscription) {
	conn := &fakeConn{}
	c := h.Join(conn)
	sub, err := h.Subscribe(c, theBoard, Watch{Top: top, Me: member, Around: around}, nil, func() {})
	require.NoError(t, err)
	return c, conn, sub
}

// meHolds checks that a connection was told where its member is.
func meHolds(t *testing.T, f *fakeBoard, conn *fakeConn, member string, around int) {
	t.Helper()
	rank, score := f.standing(member)
	me := conn.board.Me
	require.NotNil(t, me, "nothing was told of %q", member)
	require.Equal(t, rank, hubtest.Value(me.Rank), "rank of %q", member)
	require.Equal(t, score, hubtest.Value(me.Score), "score of %q", member)
	if around > 0 {
		require.Equal(t, f.around(member, around), me.Around, "around %q", member)
	}
}

func TestOwnChangeIsToldAtOnceOthersOnceAnInterval(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		_, conn, _ := follow(t, h, 3, "m100", 0)
		h.FeedSubscribed("b")
		synctest.Wait()
		require.Equal(t, []string{"snapshot", "me"}, conn.take(t))
		meHolds(t, f, conn, "m100", 0)
		pass(3 * time.Second)
		pages, lookups := len(f.pages), len(f.lookups)

		h.FeedChanges(f.set("m150", 1005))
		synctest.Wait()
		require.Equal(t, []string{"me"}, conn.take(t), "after a quiet time at once")
		meHolds(t, f, conn, "m100", 0)
		for i := range 8 {
			h.FeedChanges(f.set(fmt.Sprint("m16", i), 1005))
			pass(110 * time.Millisecond)
		}
		require.Empty(t, conn.take(t), "then not within the interval")
		h.FeedChanges(f.set("m100", 1001))
		pass(100 * time.Millisecond) // a frame of the board
		require.Equal(t, []string{"me"}, conn.take(t), "its own change is told at once")
		meHolds(t, f, conn, "m100", 0)
		h.FeedChanges(f.set("m170", 1005))
		pass(time.Second)
		require.Equal(t, []string{"me"}, conn.take(t), "what moved it meanwhile comes in one frame")
		meHolds(t, f, conn, "m100", 0)
		h.FeedChanges(f.set("m199", 1))
		pass(5 * time.Second)
		require.Empty(t, conn.take(t), "what happens behind it is no news")
		require.False(t, h.boards["b"].ranksMoved, "and then nothing is due")
		require.Equal(t, pages, len(f.pages), "a follower costs no reads")
		require.Equal(t, lookups, len(f.lookups))
	})
}

// Many who come at once are looked up together.
func TestFollowersThatJoinAtOnceAreLookedUpTogether(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(300)
		var conns []*fakeConn
		for i := range 600 { // half of them are on the board, 27 of these in the view
			_, conn, _ := follow(t, h, 10, fmt.Sprintf("m%03d", i), 0)
			conns = append(conns, conn)
		}
		h.FeedSubscribed("b")
		synctest.Wait()
		for i, conn := range conns {
			require.Equal(t, []string{"snapshot", "me"}, conn.take(t))
			meHolds(t, f, conn, fmt.Sprintf("m%03d", i), 0)
		}
		require.Equal(t, 1, len(f.pages))
		require.Equal(t, []int{ranking.MaxLookups, ranking.MaxLookups, 600 - 27 - 2*ranking.MaxLookups}, f.lookups)
	})
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) { // with neighbours, by the entries that they come to
		f.fill(300)
		var conns []*fakeConn
		for i := range 60 {
			_, conn, _ := follow(t, h, 10, fmt.Sprintf("m%03d", 100+i), MaxAround)
			conns = append(conns, conn)
		}
		h.FeedSubscribed("b")
		synctest.Wait()
		for i, conn := range conns {
			meHolds(t, f, conn, fmt.Sprintf("m%03d", 100+i), MaxAround)
		}
		require.Equal(t, []int{24, 24, 12}, f.lookups)
	})
}

// Who is in the first entries, or on a board that is all there, costs no look-up.
func TestWhoIsInTheViewIsNotLookedUp(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		_, in, _ := follow(t, h, 10, "low2", 1)
		_, out, _ := follow(t, h, 10, "nobody", 1)
		h.FeedSubscribed("b")
		synctest.Wait()
		meHolds(t, f, in, "low2", 1)
		meHolds(t, f, out, "nobody", 1)
		pass(time.Second)
		h.FeedChanges(f.set("nobody", -11))
		synctest.Wait()
		meHolds(t, f, in, "low2", 1)
		meHolds(t, f, out, "nobody", 1)
		require.Empty(t, f.lookups)
	})
}

// Neighbours far below the first entries are read again when one of them moved,
// at most once an interval, and one's own rank does not wait for that.
func TestNeighboursAreReadOnceAnInterval(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		_, conn, _ := follow(t, h, 3, "m100", 2)
		_, narrow, _ := follow(t, h, 3, "m100", 1)
		h.FeedSubscribed("b")
		synctest.Wait()
		meHolds(t, f, conn, "m100", 2)
		meHolds(t, f, narrow, "m100", 1)
		require.Equal(t, []int{1}, f.lookups, "both are served by one look-up")
		pass(3 * time.Second)
		conn.take(t)

		h.FeedChanges(f.set("m101", 991)) // the one behind, in its place
		synctest.Wait()
		require.Equal(t, []string{"me"}, conn.take(t))
		meHolds(t, f, conn, "m100", 2)
		require.Len(t, f.lookups, 2)
		for i := range 8 {
			h.FeedChanges(f.set("m101", int64(992+i%2)))
			pass(100 * time.Millisecond)
		}
		require.Len(t, f.lookups, 2)
		h.FeedChanges(f.set("m100", 1002))
		pass(100 * time.Millisecond)
		require.Equal(t, []string{"me"}, conn.take(t))
		require.EqualValues(t, 1002, *conn.board.Me.Score)
		require.Nil(t, conn.board.Me.Around, "they are not known at this moment")
		pass(time.Second)
		require.Equal(t, []string{"me"}, conn.take(t))
		require.Len(t, f.lookups, 3)
		meHolds(t, f, conn, "m100", 2)
		meHolds(t, f, narrow, "m100", 1)

		pass(3 * time.Second)
		conn.take(t)
		h.FeedChanges(f.set("m101", 995)) // begins an interval
		synctest.Wait()
		require.Equal(t, []string{"me"}, conn.take(t))
		h.FeedChanges(f.set("m100", 1003))
		h.FeedChanges(f.set("m100", 1002)) // and back
		pass(3 * time.Second)
		require.Empty(t, conn.take(t), "what is as it was is not told")
		lookups := len(f.lookups)
		h.FeedChanges(f.set("m103", 2)) // beyond those that are shown
		h.FeedChanges(f.set("m000", 1)) // moves all ranks
		pass(3 * time.Second)
		require.Len(t, f.lookups, lookups, "what is not near needs no look-up")
		meHolds(t, f, conn, "m100", 2)
		conn.take(t)
		h.FeedChanges(f.set("m199", 1))
		pass(3 * time.Second)
		require.Empty(t, conn.take(t), "nor is it told")
	})
}

// Where neighbours change again while they are read, they are shown as of then,
// and read again an interval later.
func TestNeighboursThatChangeWhileTheyAreRead(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		_, conn, _ := follow(t, h, 3, "m100", 2)
		h.FeedSubscribed("b")
		pass(3 * time.Second)
		var then []hubtest.Entry
		f.onPlaces.set(func() {
			f.onPlaces.clear()
			then = f.around("m100", 2)
			h.FeedChanges(f.set("m101", 993))
		})
		conn.take(t)
		h.FeedChanges(f.set("m101", 991))
		pass(200 * time.Millisecond)
		require.Equal(t, []string{"me"}, conn.take(t))
		require.Equal(t, then, conn.board.Me.Around)
		pass(time.Second)
		require.Equal(t, []string{"me"}, conn.take(t))
		meHolds(t, f, conn, "m100", 2)
	})
}

// An answer may be older than what was told of the member's own change meanwhile:
// nobody is told the old again.
func TestOldAnswerIsNotToldAfterANewerChange(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		_, conn, _ := follow(t, h, 3, "m100", 2)
		h.FeedSubscribed("b")
		pass(3 * time.Second)
		conn.take(t)
		f.onPlaces.set(func() {
			f.onPlaces.clear()
			h.FeedChanges(f.set("m100", 1500))
			time.Sleep(200 * time.Millisecond)
		})
		h.FeedChanges(f.set("m101", 991))
		pass(150 * time.Millisecond)
		require.Equal(t, []string{"me"}, conn.take(t))
		require.EqualValues(t, 1500, *conn.board.Me.Score)
		pass(200 * time.Millisecond)
		require.Empty(t, conn.take(t))
		pass(time.Second)
		require.Equal(t, []string{"me"}, conn.take(t))
		meHolds(t, f, conn, "m100", 2)
	})
}

// What is read may be ahead of what was heard: it waits, and changes that it has
// already are not counted twice.
func TestAnswersAheadOfTheFeedWait(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		_, other, _ := follow(t, h, 3, "m120", 0)
		for i := range 100 { // more than an audit compares
			follow(t, h, 3, fmt.Sprintf("m%03d", 101+i), 0)
		}
		h.FeedSubscribed("b")
		pass(time.Second)
		var late *feed.Changes
		f.beforeRead.set(func() { late = f.set("m150", 1005+f.state.Seq) })
		_, conn, _ := follow(t, h, 3, "m100", 1)
		pass(50 * time.Millisecond)
		require.Equal(t, []string{"snapshot"}, conn.take(t), "its place is known as of a moment that is still to come")
		h.FeedChanges(late)
		synctest.Wait()
		require.Equal(t, []string{"me"}, conn.take(t))
		meHolds(t, f, conn, "m100", 1)

		f.beforeRead.set(func() {
			late = f.set("m151", 1005+f.state.Seq)
			f.beforeRead.clear()
			go func() {
				time.Sleep(50 * time.Millisecond)
				h.FeedChanges(late)
			}()
		})
		lookups := len(f.lookups)
		pass(35 * time.Second) // an audit
		require.False(t, f.beforeRead.isSet())
		meHolds(t, f, conn, "m100", 1)
		meHolds(t, f, other, "m120", 0)
		require.Equal(t, []int{auditMembers}, f.lookups[lookups:], "some were compared, and nobody had to be looked up anew")
		require.NotContains(t, other.take(t)[1:], "snapshot")
	})
}

// A place that is known is not shown before the first entries are.
func TestPlaceWaitsForTheFirstEntries(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		follow(t, h, 3, "m100", 2)
		h.FeedSubscribed("b")
		pass(time.Second)
		f.mu.Lock()
		f.noPages = errors.New("no pages")
		f.mu.Unlock()
		_, conn, _ := follow(t, h, 100, "m100", 2)
		pass(time.Second)
		require.Equal(t, []string{"status true"}, conn.take(t))
		f.mu.Lock()
		f.noPages = nil
		f.mu.Unlock()
		pass(5 * time.Second)
		require.Equal(t, []string{"snapshot", "me", "status false"}, conn.take(t))
	})
}

// Another number of neighbours of a member that is followed already.
func TestFollowersWithOtherNumbersOfNeighbours(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		first, _, _ := follow(t, h, 3, "m100", 5)
		h.FeedSubscribed("b")
		pass(time.Second)
		_, fewer, _ := follow(t, h, 3, "m100", 2)
		synctest.Wait()
		require.Equal(t, []string{"snapshot", "me"}, fewer.take(t))
		meHolds(t, f, fewer, "m100", 2)
		require.Len(t, f.lookups, 1, "these are known")
		release := f.hold()
		widest, more, _ := follow(t, h, 3, "m100", 9)
		synctest.Wait()
		require.Equal(t, []string{"snapshot", "me"}, more.take(t), "the rank at once")
		release()
		synctest.Wait()
		require.Equal(t, []string{"me"}, more.take(t), "and all when it was read")
		meHolds(t, f, more, "m100", 9)
		f100 := h.boards["b"].view.Following("m100")
		require.Equal(t, 9, f100.around)
		h.Leave(widest)
		synctest.Wait()
		require.Equal(t, 5, f100.around, "no more are read than somebody wants")
		h.Leave(first)
		synctest.Wait()
		require.Equal(t, 2, f100.around)
	})
}

// A place comes after each snapshot, and never before the first.
func TestPlaceFollowsASnapshot(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		f.setAway(errors.New("away"))
		_, early, _ := follow(t, h, 10, "m100", 0)
		h.FeedSubscribed("b")
		pass(time.Second)
		require.Equal(t, []string{"status true"}, early.take(t))
		f.setAway(nil)
		pass(5 * time.Second)
		require.Equal(t, []string{"snapshot", "me", "status false"}, early.take(t), "all is told before it counts as current")

		slow, conn, _ := follow(t, h, 10, "m100", 0)
		synctest.Wait()
		require.Equal(t, []string{"snapshot", "me"}, conn.take(t))
		conn.setFull(true)
		for i := range 5 {
			h.FeedChanges(f.set("m001", int64(5000+i)))
			pass(200 * time.Millisecond)
		}
		conn.setFull(false)
		slow.Ready()
		synctest.Wait()
		require.Equal(t, []string{"snapshot", "me"}, conn.take(t))
		require.NotContains(t, early.take(t), "snapshot")

		f.mu.Lock()
		f.state, f.scores = ranking.State{}, map[string]int64{}
		f.mu.Unlock()
		pass(5 * time.Second)
		require.Equal(t, []string{"snapshot", "me"}, conn.take(t), "of another life too, and nothing of the old one")
		meHolds(t, f, conn, "m100", 0)
	})
}

// After an outage clients are told that all is current only once each follower
// knows its place again.
func TestOutageEndsWhenFollowersKnowTheirPlace(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		_, conn, _ := follow(t, h, 3, "m100", 0)
		h.FeedSubscribed("b")
		pass(time.Second)
		conn.take(t)
		h.FeedDown(time.Now())
		f.set("m150", 1005) // nobody hears of it
		f.mu.Lock()
		f.noPlaces = errors.New("no places")
		f.mu.Unlock()
		h.FeedUp()
		h.FeedSubscribed("b")
		pass(5 * time.Second)
		require.Equal(t, []string{"status true"}, conn.take(t))
		require.Less(t, len(f.lookups), 20, "with pauses")
		f.mu.Lock()
		f.noPlaces = nil
		f.mu.Unlock()
		pass(5 * time.Second)
		require.Equal(t, []string{"me", "status false"}, conn.take(t))
		meHolds(t, f, conn, "m100", 0)
	})
}

// A look-up that failed is not waited for when nobody needs it any more.
func TestStaleEndsWhenTheFailedLookupIsNotNeeded(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		_, conn, _ := join(t, h, 3)
		h.FeedSubscribed("b")
		pass(time.Second)
		f.mu.Lock()
		f.noPlaces = errors.New("no places")
		f.mu.Unlock()
		c, _, _ := follow(t, h, 3, "m100", 0)
		pass(3 * time.Second)
		require.True(t, isStale(h))
		h.Leave(c)
		pass(3 * time.Second)
		require.False(t, isStale(h))
		require.Equal(t, []string{"snapshot", "status true", "status false"}, conn.take(t))
		require.Equal(t, 1, len(f.pages))
	})
}

// An audit compares ranks too, and mends what is wrong.
func TestAuditRepairsARank(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		_, conn, _ := follow(t, h, 3, "m100", 0)
		h.FeedSubscribed("b")
		synctest.Wait()
		f.mu.Lock()
		f.scores["m150"] = 1005 // as if a view had gone wrong at this seq
		f.mu.Unlock()
		pass(40 * time.Second)
		meHolds(t, f, conn, "m100", 0)
		conn.take(t)
	})
}

// Who resumes is sent what differs.
func TestResumeSendsWhatDiffers(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(50)
		_, stays, _ := join(t, h, 10)
		h.FeedSubscribed("b")
		synctest.Wait()
		held := stays.board
		h.FeedChanges(f.set("m007", 445))
		pass(time.Minute) // an audit
		require.Greater(t, len(f.pages), 1)
		h.FeedChanges(f.set("m003", 465))
		pass(time.Second)
		conn := &fakeConn{board: held}
		_, err := h.Subscribe(h.Join(conn), theBoard, Watch{Top: 10, Me: "m040", Resume: ranking.State{Epoch: held.Epoch, Seq: held.Seq}}, nil, func() {})
		require.NoError(t, err)
		synctest.Wait()
		require.Equal(t, f.top(10), conn.board.Top)
		require.Equal(t, []string{"delta", "me"}, conn.take(t))
		h.FeedChanges(f.set("m000", 5000))
		pass(time.Second)
		require.Equal(t, []string{"delta"}, conn.take(t))
		require.Equal(t, f.top(10), conn.board.Top)
	})
}

// A follower that shares its member with others shares the frames too, and when
// the last of them has gone nothing of it is left.
func TestFollowersOfAMemberShareIt(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		_, stays, _ := join(t, h, 10)
		h.FeedSubscribed("b")
		var clients []*Client
		var conns []*keeper
		for range 20 {
			k := &keeper{}
			c := h.Join(k)
			_, err := h.Subscribe(c, theBoard, Watch{Top: 10, Me: "m100"}, nil, func() {})
			require.NoError(t, err)
			clients, conns = append(clients, c), append(conns, k)
		}
		synctest.Wait()
		h.FeedChanges(f.set("m100", 1001))
		pass(time.Second)
		require.Len(t, sentTimes(conns), 3, "a snapshot and two places")
		require.Len(t, f.lookups, 1)
		b := h.boards["b"]
		for i, c := range clients {
			require.Equal(t, 1, b.view.Followed())
			h.Leave(c)
			synctest.Wait()
			require.Equal(t, i+1 == len(clients), b.view.Followed() == 0)
		}
		require.Empty(t, b.members)
		require.Empty(t, b.view.followed.ranks.blocks)
		require.Equal(t, []string{"snapshot"}, stays.take(t))
	})
}

// Many clients that follow members at random, change their mind, stall and go
// on, answers that are late, messages lost at random, a board that goes back:
// after a pause each knows just where its member is.
func TestEveryFollowerEndsRight(t *testing.T) {
	for ties, scores := range map[definition.Ties]int64{definition.First: 3000, definition.Shared: 100, definition.Dense: 100} {
		t.Run(string(ties), func(t *testing.T) { everyFollowerEndsRight(t, ties, scores) })
	}
}

func everyFollowerEndsRight(t *testing.T, ties definition.Ties, scores int64) {
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.ties = ties
		f.fill(300)
		member := func() string { return fmt.Sprintf("m%03d", rand.IntN(350)) }
		w := &watchers{t: t, h: h, outages: 4, draw: func() Watch {
			return Watch{Top: rand.IntN(10), Me: member(), Around: max(0, rand.IntN(6)-3)}
		}}
		for range 40 {
			w.add()
		}
		slow := func() { time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond) } // of simulated time
		f.beforeRead.set(slow)
		f.onPage.set(slow)
		f.onPlaces.set(slow)
		h.FeedSubscribed("b")
		for range 12 {
			again := f.was()
			for range 100 {
				c := f.random(member(), scores)
				if rand.IntN(60) > 0 {
					h.FeedChanges(c)
				}
				w.churn()
			}
			if rand.IntN(3) == 0 {
				pass(time.Second)
				again()
			}
			w.calm(6 * time.Second)
			for _, c := range w.list {
				require.Equal(t, f.top(c.watch.Top), append([]hubtest.Entry{}, c.conn.board.Top...))
				meHolds(t, f, c.conn, c.watch.Me, c.watch.Around)
			}
		}
	})
}
