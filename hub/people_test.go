package hub

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub/hubtest"
	"rankcast/ranking"
	"rankcast/ranking/feed"
	"rankcast/ranking/sortkey"
)

// rename changes a profile and tells the hub.
func rename(h *Hub, f *fakeBoard, member, name string) {
	f.dub(member, name)
	h.FeedProfile("user", member)
}

// withPeople is a board of users of whom some have names, and somebody who watches it.
func withPeople(t *testing.T, test func(t *testing.T, h *Hub, f *fakeBoard, conn *fakeConn)) {
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.kind = "user"
		f.set("a", 3)
		f.set("b", 2)
		f.dub("a", "Ann")
		_, conn, _ := join(t, h, 10)
		h.FeedSubscribed("b")
		synctest.Wait()
		require.Equal(t, []string{"snapshot"}, conn.take(t), "names come with the first frame")
		require.Equal(t, f.named(f.top(10)), conn.board.Top)
		require.Equal(t, "Ann", conn.board.Top[0].Name)
		test(t, h, f, conn)
	})
}

func TestProfileThatChangesIsToldAtOnceAndAlone(t *testing.T) {
	withPeople(t, func(t *testing.T, h *Hub, f *fakeBoard, conn *fakeConn) {
		pass(time.Second)
		seq := conn.board.Seq
		for i, name := range []string{"Anna", "", "<b>Ann</b>"} {
			rename(h, f, "a", name)
			synctest.Wait()
			m := conn.frames[len(conn.frames)-1]
			require.Equal(t, []string{"delta"}, conn.take(t), i)
			require.Len(t, m.Rows, 1, "nothing else is told")
			require.Equal(t, []int64{seq, seq}, []int64{m.From, m.Seq}, "a profile changes no seq")
			require.Equal(t, f.named(f.top(10)), conn.board.Top)
			require.Equal(t, name, conn.board.Top[0].Name)
			pass(time.Second)
		}
		rename(h, f, "nobody here", "X")
		pass(time.Second)
		require.Empty(t, conn.take(t))
		h.FeedChanges(f.set("b", 5))
		pass(time.Second)
		require.Equal(t, []string{"delta"}, conn.take(t))
		require.Equal(t, f.named(f.top(10)), conn.board.Top)
	})
}

func TestMemberEntersWithItsName(t *testing.T) {
	withPeople(t, func(t *testing.T, h *Hub, f *fakeBoard, conn *fakeConn) {
		pass(time.Second)
		f.dub("new", "Newt")
		f.takeReads()
		f.setSlow(20*time.Millisecond, false)
		h.FeedChanges(f.set("new", -20))
		synctest.Wait()
		require.Empty(t, conn.take(t), "it waits for its name")
		pass(20 * time.Millisecond)
		require.Equal(t, []string{"delta"}, conn.take(t))
		require.Equal(t, "Newt", conn.board.Top[6].Name)
		require.Equal(t, []int{1}, f.takeReads(), "nobody else is read")
	})
}

func TestChangeWaitsForNoProfileLongerThanOneRead(t *testing.T) {
	for name, broken := range map[string]bool{"slow": false, "failing": true} {
		t.Run(name, func(t *testing.T) {
			withPeople(t, func(t *testing.T, h *Hub, f *fakeBoard, conn *fakeConn) {
				pass(time.Second)
				f.dub("new", "Newt")
				f.setSlow(300*time.Millisecond, broken)
				h.FeedChanges(f.set("new", -20))
				pass(99 * time.Millisecond)
				require.Empty(t, conn.take(t))
				pass(2 * time.Millisecond)
				require.Equal(t, []string{"delta"}, conn.take(t))
				require.Equal(t, f.top(10), unnamed(conn.board.Top), "it goes out without")
				require.Empty(t, conn.board.Top[6].Name)
				h.FeedChanges(f.set("new", -19))
				pass(110 * time.Millisecond)
				require.Equal(t, []string{"delta"}, conn.take(t), "and nobody waits for it again")
				f.setSlow(0, false)
				pass(5 * time.Second)
				require.Equal(t, []string{"delta"}, conn.take(t), "the name comes when it is there")
				require.Equal(t, f.named(f.top(10)), conn.board.Top)
				require.False(t, isStale(h), "all scores were right")
			})
		})
	}
}

// A profile that cannot be read leaves the others as they are, and is tried again alone.
func TestProfileThatCannotBeReadTakesNoOthersAway(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.kind, f.unread = "user", "b"
		f.set("a", 3)
		f.set("b", 2)
		f.dub("a", "Ann")
		f.dub("b", "Bob")
		_, conn, _ := join(t, h, 10)
		h.FeedSubscribed("b")
		synctest.Wait()
		require.Equal(t, []string{"snapshot"}, conn.take(t))
		require.Equal(t, "Ann", conn.board.Top[0].Name)
		require.Empty(t, conn.board.Top[1].Name)
		pass(5 * time.Second)
		reads := f.takeReads()
		require.Equal(t, 6, reads[0])
		require.Greater(t, len(reads), 2)
		for _, n := range reads[1:] {
			require.Equal(t, 1, n)
		}
		f.peopleMu.Lock()
		f.unread = ""
		f.peopleMu.Unlock()
		pass(5 * time.Second)
		require.Equal(t, f.named(f.top(10)), conn.board.Top)
		require.Equal(t, []string{"delta"}, conn.take(t))
		require.Len(t, f.takeReads(), 1)
	})
}

func unnamed(entries []hubtest.Entry) []hubtest.Entry {
	list := slices.Clone(entries)
	for i := range list {
		list[i].Name, list[i].Avatar = "", ""
	}
	return list
}

func TestSteadyBoardReadsProfilesOnlyWhenTheyAreOld(t *testing.T) {
	withPeople(t, func(t *testing.T, h *Hub, f *fakeBoard, conn *fakeConn) {
		require.Equal(t, []int{6}, f.takeReads(), "all in one call")
		pass(2 * time.Minute)
		reads := f.takeReads()
		require.GreaterOrEqual(t, len(reads), 4)
		require.LessOrEqual(t, len(reads), 6)
		for _, n := range reads {
			require.Equal(t, 6, n, "all in one call")
		}
		for i := range 100 {
			h.FeedChanges(f.set("a", int64(100+i)))
			pass(time.Millisecond)
		}
		require.Empty(t, f.takeReads())
		require.Equal(t, []string{"delta", "delta"}, conn.take(t)[:2])
	})
}

func TestKindWithoutProfilesIsNotRead(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.kind = "user"
		f.set("a", 3)
		_, conn, _ := join(t, h, 10)
		h.FeedSubscribed("b")
		pass(5 * time.Minute)
		h.FeedChanges(f.set("b", 5))
		pass(5 * time.Minute)
		require.Empty(t, f.takeReads())
		conn.take(t)
		rename(h, f, "a", "Ann")
		synctest.Wait()
		require.Equal(t, []string{"delta"}, conn.take(t), "the first profile of a kind")
		require.Equal(t, f.named(f.top(10)), conn.board.Top)
	})
}

// The first profile of a kind is found though its message was lost.
func TestFirstProfileThatNobodyHeardOf(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.kind = "user"
		f.set("a", 3)
		_, conn, _ := join(t, h, 10)
		h.FeedSubscribed("b")
		pass(time.Second)
		conn.take(t)
		f.dub("a", "Ann")
		pass(2 * time.Second)
		require.Equal(t, f.named(f.top(10)), conn.board.Top)
	})
}

func TestProfileThatNobodyHeardOfShowsWithinAMinute(t *testing.T) {
	withPeople(t, func(t *testing.T, h *Hub, f *fakeBoard, conn *fakeConn) {
		for i := range 20 {
			pass(time.Duration(rand.N(int64(time.Minute))))
			f.dub("b", fmt.Sprint("Bob ", i))
			pass(time.Minute)
			require.Equal(t, f.named(f.top(10)), conn.board.Top)
		}
	})
}

func TestProfilesAreReadAgainWhenTheFeedIsBack(t *testing.T) {
	withPeople(t, func(t *testing.T, h *Hub, f *fakeBoard, conn *fakeConn) {
		pass(time.Second)
		h.FeedDown(time.Now())
		f.dub("a", "Anna")
		f.dub("b", "Bob")
		h.FeedUp()
		h.FeedSubscribed("b")
		pass(time.Second)
		require.Equal(t, f.named(f.top(10)), conn.board.Top)
	})
}

// A profile that changes while it is read shows as it is in the end.
func TestProfileThatChangesWhileItIsRead(t *testing.T) {
	withPeople(t, func(t *testing.T, h *Hub, f *fakeBoard, conn *fakeConn) {
		pass(time.Second)
		f.setSlow(50*time.Millisecond, false)
		rename(h, f, "a", "Anna")
		pass(20 * time.Millisecond)
		rename(h, f, "a", "Annabel")
		pass(time.Second)
		require.Equal(t, "Annabel", conn.board.Top[0].Name)
	})
}

func TestClientThatIsBehindEndsWithTheRightNames(t *testing.T) {
	withPeople(t, func(t *testing.T, h *Hub, f *fakeBoard, conn *fakeConn) {
		slow, behind, _ := join(t, h, 10)
		synctest.Wait()
		behind.take(t)
		behind.setFull(true)
		for i := range 3 {
			pass(time.Second)
			rename(h, f, "a", fmt.Sprint("Ann ", i))
		}
		pass(time.Second)
		require.Empty(t, behind.take(t))
		behind.setFull(false)
		slow.Ready()
		pass(time.Second)
		require.Equal(t, []string{"snapshot"}, behind.take(t), "the delta from its seq to that seq is not for it")
		require.Equal(t, f.named(f.top(10)), behind.board.Top)
		require.Equal(t, conn.board, behind.board)
	})
}

// resumes has a client that shows a board go on from there.
func resumes(t *testing.T, h *Hub, has hubtest.Board) *fakeConn {
	t.Helper()
	again := &fakeConn{board: has}
	_, err := h.Subscribe(h.Join(again), theBoard, Watch{Top: 10, Resume: ranking.State{Epoch: has.Epoch, Seq: has.Seq}}, nil, func() {})
	require.NoError(t, err)
	pass(time.Second)
	return again
}

// Who resumes at the seq at which a profile has changed may have seen it or not.
func TestResumeOverAProfileThatChanged(t *testing.T) {
	for _, later := range []time.Duration{time.Second, 10 * time.Minute} {
		for _, moves := range []bool{false, true} {
			t.Run(fmt.Sprint(later, " ", moves), func(t *testing.T) {
				withPeople(t, func(t *testing.T, h *Hub, f *fakeBoard, conn *fakeConn) {
					pass(10 * time.Minute) // all that was read at first has settled
					h.FeedChanges(f.set("low0", -15))
					pass(time.Second)
					has := conn.board
					rename(h, f, "a", "Anna")
					if moves {
						pass(time.Second)
						h.FeedChanges(f.set("low0", -20))
					}
					pass(later)
					again := resumes(t, h, has)
					require.Equal(t, []string{"delta"}, again.take(t))
					require.Equal(t, f.named(f.top(10)), again.board.Top)
				})
			})
		}
	}
}

// A client may come with a seq that another node gave it, which had not heard of the
// profile yet.
func TestResumeFromANodeThatMissedAProfile(t *testing.T) {
	withPeople(t, func(t *testing.T, h *Hub, f *fakeBoard, conn *fakeConn) {
		pass(10 * time.Minute)
		rename(h, f, "a", "Anna")
		pass(50 * time.Second)
		h.FeedChanges(f.set("low0", -20))
		pass(time.Second)
		has := conn.board // but for the name
		has.Top = slices.Clone(has.Top)
		has.Top[0].Name = "Ann"
		require.Equal(t, f.named(f.top(10)), resumes(t, h, has).board.Top)
	})
}

// What is known of the seq of one life of a board says nothing of another.
func TestResumeInAnotherLifeOfTheBoard(t *testing.T) {
	withPeople(t, func(t *testing.T, h *Hub, f *fakeBoard, conn *fakeConn) {
		pass(10 * time.Minute)
		h.FeedChanges(f.replace(map[string]int64{"a": 9, "b": 8, "low0": 1, "low1": 0}))
		pass(time.Second)
		for i := range 20 {
			h.FeedChanges(f.set("b", int64(-i)))
			pass(time.Second)
		}
		has := conn.board // but for the name
		has.Top = slices.Clone(has.Top)
		has.Top[0].Name = "Before"
		require.Equal(t, f.named(f.top(10)), resumes(t, h, has).board.Top)
	})
}

// A board whose members come to be of a kind without profiles shows no names.
func TestNamesGoWithTheKind(t *testing.T) {
	withPeople(t, func(t *testing.T, h *Hub, f *fakeBoard, conn *fakeConn) {
		own := &fakeConn{}
		_, err := h.Subscribe(h.Join(own), theBoard, Watch{Top: 10, Me: "a", Around: 1}, nil, func() {})
		require.NoError(t, err)
		pass(time.Second)
		require.Equal(t, "Ann", own.board.Me.Around[0].Name)
		f.peopleMu.Lock()
		f.profiles = nil
		f.peopleMu.Unlock()
		pass(3 * time.Second)
		require.Equal(t, f.top(10), conn.board.Top)
		require.Equal(t, f.top(2), own.board.Me.Around)
	})
}

// A board whose members come to be of another kind shows the names of that within a
// second, long before an audit.
func TestKindThatChangesShowsAtOnce(t *testing.T) {
	for name, stars := range map[string]map[string]string{"with names": {"a": "Alpha", "low0": "Low"}, "without": nil} {
		t.Run(name, func(t *testing.T) {
			withPeople(t, func(t *testing.T, h *Hub, f *fakeBoard, conn *fakeConn) {
				own := &fakeConn{}
				_, err := h.Subscribe(h.Join(own), theBoard, Watch{Top: 10, Me: "a", Around: 1}, nil, func() {})
				require.NoError(t, err)
				pass(1500 * time.Millisecond)
				pages := len(f.pages)
				for range 3 {
					f.become("star", stars)
					pass(1100 * time.Millisecond)
					require.Equal(t, f.named(f.top(10)), conn.board.Top)
					pass(time.Second) // followers are told of others once in a second
					require.Equal(t, f.named(f.top(2)), own.board.Me.Around)
					require.Equal(t, stars["a"], own.board.Me.Around[0].Name)
					f.become("user", map[string]string{"a": "Ann"})
					pass(1100 * time.Millisecond)
					require.Equal(t, f.named(f.top(10)), conn.board.Top)
				}
				require.Len(t, f.pages, pages, "no page is read for that")
				require.Empty(t, f.logged())
				h.FeedProfile("star", "a")
				h.register.mu.Lock()
				defer h.register.mu.Unlock()
				for m := range h.register.boards {
					require.Equal(t, "user", m.kind, "nobody is known as what it was")
				}
			})
		})
	}
}

// A node that has only begun to watch a board knows nothing of when profiles changed.
func TestResumeAtANodeThatHasJustBegun(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.kind = "user"
		f.set("a", 3)
		has := hubtest.Board{Epoch: f.state.Epoch, Seq: f.state.Seq, Total: 5, Top: f.top(10)}
		f.dub("a", "Ann")
		f.dub("low0", "Low")
		again := &fakeConn{board: has}
		_, err := h.Subscribe(h.Join(again), theBoard, Watch{Top: 10, Resume: ranking.State{Epoch: has.Epoch, Seq: has.Seq}}, nil, func() {})
		require.NoError(t, err)
		h.FeedSubscribed("b")
		pass(time.Second)
		require.Equal(t, []string{"snapshot"}, again.take(t))
		require.Equal(t, f.named(f.top(10)), again.board.Top)
	})
}

func TestAllBoardsOfAKindShowAProfile(t *testing.T) {
	withPeople(t, func(t *testing.T, h *Hub, f *fakeBoard, conn *fakeConn) {
		other := &fakeConn{}
		_, err := h.Subscribe(h.Join(other), ranking.Board{Name: "b2", Instance: "b2"}, Watch{Top: 3}, nil, func() {})
		require.NoError(t, err)
		h.FeedSubscribed("b2")
		pass(time.Second)
		require.Equal(t, []string{"snapshot"}, other.take(t))
		rename(h, f, "a", "Anna")
		synctest.Wait()
		require.Equal(t, []string{"delta"}, conn.take(t))
		require.Equal(t, []string{"delta"}, other.take(t))
		require.Equal(t, f.named(f.top(3)), other.board.Top)
		h.FeedProfile("star", "a") // of another kind
		pass(time.Second)
		require.Empty(t, conn.take(t))
	})
}

func TestFollowerIsToldTheNamesAroundIt(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.kind = "user"
		for i := range 200 {
			f.set(fmt.Sprintf("m%03d", i), int64(1000-i))
		}
		f.dub("m150", "Mia")
		conn := &fakeConn{}
		_, err := h.Subscribe(h.Join(conn), theBoard, Watch{Top: 3, Me: "m150", Around: 1}, nil, func() {})
		require.NoError(t, err)
		h.FeedSubscribed("b")
		pass(time.Second)
		require.Equal(t, []string{"snapshot", "me"}, conn.take(t), "the names around come with the rank")
		require.Equal(t, f.named(f.top(200)[149:152]), conn.board.Me.Around)
		require.Equal(t, "Mia", conn.board.Me.Around[1].Name)
		for _, m := range []string{"m149", "m150", "m151"} {
			rename(h, f, m, "new "+m)
			pass(time.Second)
			require.Equal(t, []string{"me"}, conn.take(t))
			require.Equal(t, f.named(f.top(200)[149:152]), conn.board.Me.Around)
		}
		rename(h, f, "m153", "X")
		pass(time.Second)
		require.Empty(t, conn.take(t))
		f.dub("m151", "unheard")
		pass(time.Minute)
		require.Equal(t, f.named(f.top(200)[149:152]), conn.board.Me.Around)
	})
}

// Whoever is told of in the meantime, names around a follower come when they are there.
func TestNamesAroundThatCannotBeReadYet(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.kind = "user"
		for i := range 200 {
			f.set(fmt.Sprintf("m%03d", i), int64(1000-i))
		}
		f.dub("m150", "Mia")
		f.setSlow(0, true)
		conn := &fakeConn{}
		_, err := h.Subscribe(h.Join(conn), theBoard, Watch{Top: 3, Me: "m150", Around: 1}, nil, func() {})
		require.NoError(t, err)
		h.FeedSubscribed("b")
		pass(time.Second)
		require.Equal(t, f.top(200)[149:152], conn.board.Me.Around, "the rank does not wait")
		f.setSlow(0, false)
		pass(10 * time.Second)
		require.Equal(t, f.named(f.top(200)[149:152]), conn.board.Me.Around)
	})
}

// The law holds with profiles: whatever changes, is lost and fails, all show what is
// there a minute later.
func TestEveryoneEndsWithTheRightNames(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.kind = "user"
		for i := range 60 {
			f.set(fmt.Sprint("m", i), int64(i))
		}
		var conns []*fakeConn
		var clients []*Client
		for i := range 6 {
			conn := &fakeConn{}
			c := h.Join(conn)
			_, err := h.Subscribe(c, theBoard, Watch{Top: []int{0, 3, 10}[i%3], Me: fmt.Sprint("m", 10*i), Around: i % 4}, nil, func() {})
			require.NoError(t, err)
			conns, clients = append(conns, conn), append(clients, c)
		}
		h.FeedSubscribed("b")
		for range 10 {
			for range 300 {
				member := fmt.Sprint("m", rand.IntN(70))
				switch rand.IntN(12) {
				case 0, 1:
					rename(h, f, member, []string{"", "x", "y"}[rand.IntN(3)])
				case 2:
					f.dub(member, []string{"", "lost"}[rand.IntN(2)])
				case 3:
					f.setSlow(time.Duration(rand.IntN(3))*70*time.Millisecond, rand.IntN(3) == 0)
				case 4:
					i := rand.IntN(len(conns))
					full := rand.IntN(2) == 0
					conns[i].setFull(full)
					if !full {
						clients[i].Ready()
					}
				case 5:
					if rand.IntN(10) == 0 {
						f.setAway(errors.New("away"))
						h.FeedDown(time.Now())
						pass(time.Second)
						f.setAway(nil)
						h.FeedUp()
						h.FeedSubscribed("b")
					}
				default:
					h.FeedChanges(f.set(member, rand.Int64N(100)))
				}
				pass(time.Duration(rand.IntN(60)) * time.Millisecond)
			}
			f.setSlow(0, false)
			for i := range conns {
				conns[i].setFull(false)
				clients[i].Ready()
			}
			pass(70 * time.Second)
			all := f.named(f.top(100))
			for i, conn := range conns {
				conn.take(t)
				require.Equal(t, all[:min(len(all), []int{0, 3, 10}[i%3])], conn.board.Top)
				at := slices.IndexFunc(all, func(e hubtest.Entry) bool { return e.Member == fmt.Sprint("m", 10*i) })
				if k := i % 4; k > 0 {
					require.Equal(t, all[max(0, at-k):min(len(all), at+k+1)], conn.board.Me.Around)
				}
			}
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		require.NotEmpty(t, h.register.boards)
	})
}

// What a board knows of those whom it does not show any more is bounded, and all of it
// goes with the board.
func TestBoardForgetsWhoIsShownNoMore(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.kind = "user"
		f.dub("x", "X")
		_, _, sub := join(t, h, 3)
		h.FeedSubscribed("b")
		synctest.Wait()
		for i := range 4 * peopleSpare {
			h.FeedChanges(f.fakePeriod.step(fmt.Sprint("n", i), int64(i)))
			if i%100 == 0 {
				pass(time.Millisecond)
			}
		}
		pass(time.Second)
		h.register.mu.Lock()
		known := len(h.register.boards)
		h.register.mu.Unlock()
		require.Less(t, known, peopleSpare+300)
		h.Unsubscribe(sub)
		pass(time.Second)
		h.register.mu.Lock()
		defer h.register.mu.Unlock()
		require.Empty(t, h.register.boards)
	})
}

// step has a new member come first: change is too slow for thousands.
func (p *fakePeriod) step(member string, score int64) *feed.Changes {
	p.state.Seq++
	p.scores[member] = score
	k := sortkey.Key(-score)
	c := feed.Change{Member: member, New: &k, Rank: 1, Position: 1}
	return &feed.Changes{Board: "b", Period: p.name, Epoch: p.state.Epoch, Seq: p.state.Seq, List: []feed.Change{c}}
}
