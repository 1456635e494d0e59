package live_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub"
	"rankcast/hub/hubtest"
	"rankcast/ranking/definition"
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
					a := n.Do("POST", "/v1/boards/"+d.Name+"/scores", `{"updates":[`+strings.Join(updates, ",")+`]}`)
					require.Equal(t, 200, a.Status, a.Body)
					if m := fmt.Sprint("m", random.IntN(60)); random.IntN(3) == 0 {
						if _, there := recount[m]; there {
							delete(recount, m)
							require.Equal(t, 200, n.Do("DELETE", "/v1/boards/"+d.Name+"/members/"+m, "").Status)
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
