package live_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"rankcast/hub"
	"rankcast/hub/hubtest"
	"rankcast/ranking/definition"
	"rankcast/ranking/definition/definitiontest"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// From Redis to what clients fold: for every mode, order and tie rule, random
// updates in batches that change a member several times, and removals, end in
// the board on every socket, and in what a plain recount of the scores gives.
func TestEverySocketConverges(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		var boards []definition.Board
		for _, mode := range []definition.Mode{definition.Sum, definition.Best, definition.Last} {
			for _, order := range []definition.Order{definition.Desc, definition.Asc} {
				for _, ties := range []definition.Ties{definition.First, definition.ByMember} {
					boards = append(boards, definition.Board{Name: fmt.Sprintf("%s-%s-%s", mode, order, ties), Mode: mode, Order: order, Ties: ties})
				}
			}
		}
		n := servertest.Start(t, url, servertest.Config{Hub: hub.Config{Interval: time.Millisecond, MeInterval: time.Millisecond}}, boards...)
		for _, d := range boards {
			random := rand.New(rand.NewPCG(7, uint64(len(d.Name))))
			type held struct {
				score   int64
				arrived int
			}
			recount := make(map[string]held)
			arrivals := 0
			small, large := servertest.Dial(t, n.Addr), servertest.Dial(t, n.Addr)
			small.Subscribe(d.Name, 5)
			large.Subscribe(d.Name, 1000)
			follower, followed := servertest.Dial(t, n.Addr), fmt.Sprint("m", random.IntN(60))
			follower.Send(`{"type":"subscribe","board":%q,"me":%q,"around":2}`, d.Name, followed)
			for range convergenceRounds {
				for range 12 {
					var updates []string
					for range 1 + random.IntN(6) {
						m, score := fmt.Sprint("m", random.IntN(60)), random.Int64N(8)-2
						updates = append(updates, fmt.Sprintf(`{"member":%q,"score":%d}`, m, score))
						was, there := recount[m]
						better := d.Order == definition.Desc && score > was.score || d.Order == definition.Asc && score < was.score
						switch {
						case d.Mode == definition.Sum:
							score += was.score
						case d.Mode == definition.Best && there && !better:
							score = was.score
						}
						if !there || score != was.score {
							arrivals++
							recount[m] = held{score, arrivals}
						}
					}
					n.Require(200, "POST", "/v1/boards/"+d.Name+"/scores", `{"updates":[`+strings.Join(updates, ",")+`]}`)
					if m := fmt.Sprint("m", random.IntN(60)); random.IntN(3) == 0 {
						if _, there := recount[m]; there {
							delete(recount, m)
							n.Require(200, "DELETE", "/v1/boards/"+d.Name+"/members/"+m, "")
						}
					}
				}
				var want []hubtest.Entry
				for m, h := range recount {
					want = append(want, hubtest.Entry{Member: m, Score: h.score})
				}
				slices.SortFunc(want, func(a, b hubtest.Entry) int {
					switch {
					case a.Score != b.Score && d.Order == definition.Desc:
						return int(b.Score - a.Score)
					case a.Score != b.Score:
						return int(a.Score - b.Score)
					case d.Ties == definition.First:
						return recount[a.Member].arrived - recount[b.Member].arrived
					default:
						return strings.Compare(a.Member, b.Member)
					}
				})
				for i := range want {
					want[i].Rank = int64(i) + 1
				}
				top, total := n.Top(d.Name, 1000)
				require.Equal(t, want, top, d.Name)
				require.EqualValues(t, len(want), total)
				at := slices.IndexFunc(want, func(e hubtest.Entry) bool { return e.Member == followed })
				follower.Until(d.Name, "its place", func(b *hubtest.Board) bool {
					if b.Me == nil || at < 0 {
						return b.Me != nil && b.Me.Rank == nil
					}
					return b.Me.Rank != nil && *b.Me.Rank == want[at].Rank && *b.Me.Score == want[at].Score &&
						slices.Equal(b.Me.Around, want[max(0, at-2):min(len(want), at+3)])
				})
				large.Until(d.Name, "the board", func(b *hubtest.Board) bool { return slices.Equal(b.Top, want) })
				small.Until(d.Name, "the top 5", func(b *hubtest.Board) bool { return b.Total == total && slices.Equal(b.Top, want[:5]) })
			}
		}
	})
}

// Clients that come, ask, stall and vanish in every order leave nothing behind
// and break nothing for the others.
func TestChurn(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{Hub: hub.Config{Interval: time.Millisecond}},
		definition.Board{Name: "b"}, definition.Board{Name: "c"})
	watcher := servertest.Dial(t, n.Addr)
	watcher.Subscribe("b", 20)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	done := make(chan error)
	for i := range 8 {
		go func() {
			done <- func() error {
				for j := range 25 {
					ws, _, err := websocket.Dial(ctx, "ws://"+n.Addr+"/v1/live", nil)
					if err != nil {
						return err
					}
					for k := range rand.IntN(6) {
						ws.Write(ctx, websocket.MessageText, fmt.Appendf(nil, `{"type":"subscribe","id":%d,"board":"%c","top":%d}`, k, 'b'+rune(k%2), k*3))
						n.Store.Apply(ctx, "b", []definition.Update{{Member: fmt.Sprint("m", rand.IntN(30)), Score: 1}})
					}
					if (i+j)%3 == 0 {
						ws.Close(websocket.StatusNormalClosure, "")
					} else {
						ws.CloseNow()
					}
				}
				return nil
			}()
		}()
	}
	for range 8 {
		require.NoError(t, redistest.Receive(t, "the run to end", done))
	}
	want, total := n.Top("b", 20)
	watcher.Until("b", "the board", func(b *hubtest.Board) bool { return b.Total == total && fmt.Sprint(b.Top) == fmt.Sprint(want) })
	redistest.UntilEqual(t, "the others to be gone", 1, n.Hub.Watched)
}

// What nobody follows costs nothing, and the last who leaves frees the view, the
// subscription and every goroutine.
// It is not parallel: it counts the goroutines of the process.
func TestLastSubscriberFreesView(t *testing.T) {
	r := redistest.Start(t)
	n := servertest.Start(t, r.URL(), servertest.Config{}, definition.Board{Name: "b"})
	descending(t, n, "b", 2000)
	heard := func(want int64) {
		t.Helper()
		redistest.UntilEqual(t, "the subscriptions in Redis", want, func() int64 {
			channel := "rc:{" + definitiontest.NameOf("b", "m0") + "}:c"
			subscribers, err := r.Admin().PubSubNumSub(t.Context(), channel).Result()
			require.NoError(t, err)
			return subscribers[channel]
		})
	}
	heard(0)
	before := runtime.NumGoroutine()
	for range 3 {
		var sockets []*servertest.Socket
		for i := range 40 {
			s := servertest.Dial(t, n.Addr)
			s.Send(`{"type":"subscribe","id":1,"board":"b","me":"m%d","around":%d}`, 50*i, i%3)
			meIs(s, "b", int64(50*i+1), int64(10*(2000-50*i)))
			sockets = append(sockets, s)
		}
		require.Equal(t, 1, n.Hub.Watched())
		require.Equal(t, 40, n.Hub.Followed())
		heard(1)
		for i, s := range sockets {
			if i%2 == 0 {
				s.Send(`{"type":"subscribe","id":2,"board":"b","top":5}`) // follows nobody from now on
				s.Next("snapshot")
			}
		}
		redistest.UntilEqual(t, "half of them to follow nobody", 20, n.Hub.Followed)
		for i, s := range sockets {
			if i%4 < 2 {
				s.Send(`{"type":"unsubscribe","id":3,"board":"b"}`)
				s.Next("ok")
			}
			s.WS.CloseNow()
		}
		redistest.UntilEqual(t, "the boards and the members that are watched", [2]int{},
			func() [2]int { return [2]int{n.Hub.Watched(), n.Hub.Followed()} })
		heard(0)
	}
	redistest.UntilEqual(t, "the goroutines that are left", 0, func() int { return max(0, runtime.NumGoroutine()-before) })
}

// A master of a cluster that dies is told to those who watch its boards, though
// changes of the others are still heard. No answer about a board with shards leaves those of that master out.
func TestClusterMasterOutage(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t)
	url, masters := cluster.URL, cluster.Masters
	var boards []definition.Board
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		boards = append(boards, definition.Board{Name: name})
	}
	boards = append(boards, definition.Board{Name: "sharded", Shards: 16})
	n := servertest.Start(t, url, servertest.Config{}, boards...)
	s := servertest.Dial(t, n.Addr)
	const members, followed = 80, "m79" // more than a view of ten holds
	score := func(d definition.Board) error {
		var updates []definition.Update
		for i := range members {
			updates = append(updates, definition.Update{Member: fmt.Sprint("m", i), Score: int64(members - i)})
		}
		outcomes, err := n.Store.Apply(t.Context(), d.Name, updates)
		for _, o := range outcomes {
			err = cmp.Or(err, o.Err)
		}
		return err
	}
	for _, d := range boards {
		require.NoError(t, score(d))
		s.Send(`{"type":"subscribe","id":1,"board":%q,"top":10,"me":%q,"around":1}`, d.Name, followed)
		s.Next("ok")
		s.Next("snapshot")
	}
	stale := func(want bool) {
		for s.Stale == nil || *s.Stale != want {
			s.Next("status")
		}
	}
	for _, m := range masters {
		m.Kill()
		stale(true)
		n.Require(503, "GET", "/readyz", "")
		for _, path := range []string{"top", "top?min_score=1", "members/" + followed, "at?score=7", "members?id=m0"} {
			servertest.RequireProblem(t, n.Do("GET", "/v1/boards/sharded/"+path, ""), 503, "unavailable", "")
		}
		m.Start()
		stale(false)
		redistest.Eventually(t, "the cluster to take scores again", func() error {
			for _, d := range boards {
				if err := score(d); err != nil {
					return err
				}
			}
			return nil
		})
		s.Stale = nil
		for _, d := range boards {
			want, total := n.Top(d.Name, 10)
			require.EqualValues(t, members, total)
			var place hubtest.Message
			n.Require(200, "GET", "/v1/boards/"+d.Name+"/members/"+followed+"?around=1", "").Into(&place)
			s.Until(d.Name, "the board", func(b *hubtest.Board) bool {
				return fmt.Sprint(b.Top) == fmt.Sprint(want) && b.Me != nil && b.Me.Score != nil && *b.Me.Score == *place.Score &&
					*b.Me.Rank == *place.Rank && fmt.Sprint(b.Me.Around) == fmt.Sprint(place.Around)
			})
		}
	}
}
