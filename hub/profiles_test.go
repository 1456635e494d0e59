package hub

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/feed"
	"rankcast/ranking/sortkey"
)

func TestProfileChangeIsSentAtOnceAndAlone(t *testing.T) {
	withProfiles(t, func(t *testing.T, h *Hub, f *fakeBoard, conn *fakeConn) {
		seq := conn.board.Seq
		for i, name := range []string{"Anna", "", "<b>Ann</b>"} {
			changeProfile(h, f, "a", name, 0)
			m := conn.frames[len(conn.frames)-1]
			require.Equal(t, []string{"delta"}, conn.take(t), i)
			require.Len(t, m.Rows, 1, "nothing else is sent")
			require.Equal(t, []int64{seq, seq}, []int64{m.From, m.Seq}, "a profile changes no seq")
			require.Equal(t, f.withProfiles(f.top(10)), conn.board.Top)
			require.Equal(t, name, conn.board.Top[0].Name)
			pass(time.Second)
		}
		changeProfile(h, f, "absent", "X", time.Second)
		require.Empty(t, conn.take(t))
		deliver(h, f.set("b", 5), time.Second)
		require.Equal(t, []string{"delta"}, conn.take(t))
		require.Equal(t, f.withProfiles(f.top(10)), conn.board.Top)
	})
}

func TestMemberEntersWithItsProfile(t *testing.T) {
	withProfiles(t, func(t *testing.T, h *Hub, f *fakeBoard, conn *fakeConn) {
		f.setProfile("new", "Newt")
		f.takeReads()
		f.setSlow(20*time.Millisecond, false)
		deliver(h, f.set("new", -20), 0)
		require.Empty(t, conn.take(t), "it waits for its name")
		pass(20 * time.Millisecond)
		require.Equal(t, []string{"delta"}, conn.take(t))
		require.Equal(t, "Newt", conn.board.Top[6].Name)
		require.Equal(t, []int{1}, f.takeReads(), "no other profile is read")
	})
}

func TestSlowClientEndsWithTheRightProfiles(t *testing.T) {
	withProfiles(t, func(t *testing.T, h *Hub, f *fakeBoard, conn *fakeConn) {
		slow, behind, _ := watchTop(t, h, 10)
		synctest.Wait()
		behind.take(t)
		behind.setFull(true)
		for i := range 3 {
			pass(time.Second)
			changeProfile(h, f, "a", fmt.Sprint("Ann ", i), 0)
		}
		pass(time.Second)
		require.Empty(t, behind.take(t))
		behind.setFull(false)
		slow.Ready()
		pass(time.Second)
		require.Equal(t, []string{"snapshot"}, behind.take(t), "the delta from its seq to that seq is not for it")
		require.Equal(t, f.withProfiles(f.top(10)), behind.board.Top)
		require.Equal(t, conn.board, behind.board)
	})
}

// A board shows no names once its members are of a kind without profiles.
func TestProfilesFollowTheKind(t *testing.T) {
	withProfiles(t, func(t *testing.T, h *Hub, f *fakeBoard, conn *fakeConn) {
		_, own := watch(t, h, "b", Watch{Top: 10, Me: "a", Around: 1})
		pass(time.Second)
		require.Equal(t, "Ann", own.board.Me.Around[0].Name)
		f.profilesMu.Lock()
		f.profiles = nil // what was read before stays in the cache
		f.profilesMu.Unlock()
		pass(3 * time.Second)
		require.Equal(t, f.top(10), conn.board.Top)
		require.Equal(t, f.top(2), own.board.Me.Around)
	})
}

// A board shows the names of another kind within a second after its members are of that
// kind, long before a verification.
func TestKindChangeIsSentAtOnce(t *testing.T) {
	t.Parallel()
	for name, stars := range map[string]map[string]string{"with names": {"a": "Alpha", "low0": "Low"}, "without": nil} {
		t.Run(name, func(t *testing.T) {
			withProfiles(t, func(t *testing.T, h *Hub, f *fakeBoard, conn *fakeConn) {
				_, own := watch(t, h, "b", Watch{Top: 10, Me: "a", Around: 1})
				pass(1500 * time.Millisecond)
				pages := len(f.pages)
				for range 3 {
					f.setKind("star", stars)
					pass(1100 * time.Millisecond)
					require.Equal(t, f.withProfiles(f.top(10)), conn.board.Top)
					pass(time.Second) // followers are notified of others once a second
					require.Equal(t, f.withProfiles(f.top(2)), own.board.Me.Around)
					require.Equal(t, stars["a"], own.board.Me.Around[0].Name)
					f.setKind("user", map[string]string{"a": "Ann"})
					pass(1100 * time.Millisecond)
					require.Equal(t, f.withProfiles(f.top(10)), conn.board.Top)
				}
				require.Len(t, f.pages, pages, "no page is read for that")
				require.Empty(t, f.logged())
				h.FeedProfile("star", "a")
				for _, m := range membersWithPlaces(h) {
					require.Equal(t, "user", m.kind, "no profile of the old kind is left")
				}
			})
		})
	}
}

func TestAllBoardsOfAKindGetAProfileChange(t *testing.T) {
	withProfiles(t, func(t *testing.T, h *Hub, f *fakeBoard, conn *fakeConn) {
		_, other := watch(t, h, "b2", Watch{Top: 3})
		h.FeedSubscribed("b2")
		pass(time.Second)
		require.Equal(t, []string{"snapshot"}, other.take(t))
		changeProfile(h, f, "a", "Anna", 0)
		require.Equal(t, []string{"delta"}, conn.take(t))
		require.Equal(t, []string{"delta"}, other.take(t))
		require.Equal(t, f.withProfiles(f.top(3)), other.board.Top)
		h.FeedProfile("star", "a") // of another kind
		pass(time.Second)
		require.Empty(t, conn.take(t))
	})
}

func TestFollowerGetsProfilesOfNeighbours(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.kind = "user"
		f.fill(200)
		f.setProfile("m150", "Mia")
		_, conn := watch(t, h, "b", Watch{Top: 3, Me: "m150", Around: 1})
		confirm(h, time.Second)
		require.Equal(t, []string{"snapshot", "me"}, conn.take(t), "the names around come with the rank")
		require.Equal(t, f.withProfiles(f.top(200)[149:152]), conn.board.Me.Around)
		require.Equal(t, "Mia", conn.board.Me.Around[1].Name)
		for _, m := range []string{"m149", "m150", "m151"} {
			changeProfile(h, f, m, "new "+m, time.Second)
			require.Equal(t, []string{"me"}, conn.take(t))
			require.Equal(t, f.withProfiles(f.top(200)[149:152]), conn.board.Me.Around)
		}
		changeProfile(h, f, "m153", "X", time.Second)
		require.Empty(t, conn.take(t))
		f.setProfile("m151", "lost")
		pass(time.Minute)
		require.Equal(t, f.withProfiles(f.top(200)[149:152]), conn.board.Me.Around)
	})
}

// Profiles of neighbours that arrive late are sent when they arrive.
func TestNeighbourProfilesThatCannotBeReadYet(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.kind = "user"
		f.fill(200)
		f.setProfile("m150", "Mia")
		f.setSlow(0, true)
		_, conn := watch(t, h, "b", Watch{Top: 3, Me: "m150", Around: 1})
		confirm(h, time.Second)
		require.Equal(t, f.top(200)[149:152], conn.board.Me.Around, "the rank does not wait")
		f.setSlow(0, false)
		pass(10 * time.Second)
		require.Equal(t, f.withProfiles(f.top(200)[149:152]), conn.board.Me.Around)
	})
}

// Whatever changes, is lost and fails: each client shows the current profiles a minute
// later.
func TestEveryClientEndsWithTheRightProfiles(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.kind = "user"
		for i := range 60 {
			f.set(fmt.Sprint("m", i), int64(i))
		}
		w := &watchers{t: t, h: h}
		w.draw = func() Watch {
			i := len(w.list)
			return Watch{Top: []int{0, 3, 10}[i%3], Me: fmt.Sprint("m", 10*i), Around: i % 4}
		}
		for range 6 {
			w.add()
		}
		h.FeedSubscribed("b")
		for range rounds(10) {
			for range 300 {
				member := fmt.Sprint("m", rand.IntN(70))
				switch rand.IntN(12) {
				case 0, 1:
					changeProfile(h, f, member, []string{"", "x", "y"}[rand.IntN(3)], 0)
				case 2:
					f.setProfile(member, []string{"", "lost"}[rand.IntN(2)])
				case 3:
					f.setSlow(time.Duration(rand.IntN(3))*70*time.Millisecond, rand.IntN(3) == 0)
				case 4:
					one := w.list[rand.IntN(len(w.list))]
					full := rand.IntN(2) == 0
					if one.conn.setFull(full); !full {
						one.Ready()
					}
				case 5:
					if rand.IntN(10) == 0 {
						f.setReadErr(errAway)
						h.FeedDown(time.Now())
						pass(time.Second)
						f.setReadErr(nil)
						h.FeedUp()
						h.FeedSubscribed("b")
					}
				default:
					h.FeedChanges(f.set(member, rand.Int64N(100)))
				}
				pass(time.Duration(rand.IntN(60)) * time.Millisecond)
			}
			f.setSlow(0, false)
			w.settle(70 * time.Second)
			for _, one := range w.list {
				require.Equal(t, f.withProfiles(f.top(one.watch.Top)), one.conn.board.Top)
				if k := one.watch.Around; k > 0 {
					require.Equal(t, f.withProfiles(f.around(one.watch.Me, k)), one.conn.board.Me.Around)
				}
			}
		}
		require.NotEmpty(t, membersWithPlaces(h))
	})
}

// step makes a new member the first: change is too slow for thousands of members.
func (p *fakePeriod) step(member string, score int64) *feed.Changes {
	p.state.Seq++
	p.scores[member] = score
	k := sortkey.Key(-score)
	c := feed.Change{Member: member, New: &k, Rank: 1, Position: 1}
	return &feed.Changes{Board: "b", Period: p.name, Epoch: p.state.Epoch, Seq: p.state.Seq, List: []feed.Change{c}}
}

// A member that many boards of one address show, and whose profile changes without pause, makes the changes on
// boards of others wait for no more than a moment. Each board shows the last profile in the end, and few of those
// before it.
func TestChangesOfAProfileOnManyBoards(t *testing.T) {
	const boards, changes = 1000, 50
	withProfiles(t, func(t *testing.T, h *Hub, f *fakeBoard, conn *fakeConn) {
		for i := range 200 {
			h.FeedChanges(f.set(fmt.Sprintf("m%03d", i), -int64(i)))
		}
		h.FeedChanges(f.set("z", -1000))
		_, all, _ := watchTop(t, h, 300)
		conns := make([]*fakeConn, boards)
		for i := range conns {
			conns[i] = &fakeConn{}
			name := fmt.Sprint("other", i) // shows a alone
			_, err := h.Subscribe(h.Join(conns[i], "an address"), ranking.Board{Name: name, Instance: name}, Watch{Top: 1}, nil, func() {})
			require.NoError(t, err)
			h.FeedSubscribed(name)
		}
		pass(time.Second)
		for _, c := range conns {
			require.Equal(t, "Ann", c.board.Top[0].Name)
			c.take(t)
		}

		for i := range changes {
			changeProfile(h, f, "a", fmt.Sprint("Ann ", i), 0) // some boards show the first change
		}
		changeProfile(h, f, "z", "Zoe", 2*profilePause+h.cfg.Interval)
		require.Equal(t, "Zoe", all.board.Top[len(all.board.Top)-1].Name)
		told := 0
		for _, c := range conns {
			told += len(c.take(t))
		}
		pieces := int((2*profilePause+h.cfg.Interval)/profilePause) + 1
		require.LessOrEqual(t, told, pieces*profilePiece, "a few boards at a time")
		changeProfile(h, f, "a", "Ann Smith", 0) // which some have seen, and some have not

		pass(2 * boards / profilePiece * profilePause)
		pass(time.Second)
		for _, c := range conns {
			require.Equal(t, "Ann Smith", c.board.Top[0].Name)
			require.LessOrEqual(t, len(c.take(t)), 2)
		}
	})
}

// A stranger who gives profiles to one kind of members after another wakes the boards a bounded number of
// times.
func TestFirstProfilesOfManyKinds(t *testing.T) {
	t.Parallel()
	index := newProfileIndex()
	for i := range maxKinds {
		require.True(t, index.change(profileKey{fmt.Sprint("kind", i), "a"}))
		require.False(t, index.change(profileKey{fmt.Sprint("kind", i), "b"}))
	}
	require.False(t, index.change(profileKey{"further", "a"}))
	require.Len(t, index.kinds, maxKinds)
}

// A board that comes to show a member while others wait for a change of its profile learns of the next change.
func TestChangeOfAProfileReachesABoardThatCame(t *testing.T) {
	t.Parallel()
	index, m := newProfileIndex(), profileKey{"user", "a"}
	var first, second board
	first.callers.init("an address")
	second.callers.init("an address")
	index.add(m, &first)
	index.change(m)
	index.add(m, &second)
	index.change(m)
	for _, want := range []*board{&first, &second, nil} {
		b, changed := index.next()
		require.Same(t, want, b)
		require.Equal(t, b != nil, changed[m])
	}
}
