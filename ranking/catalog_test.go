package ranking

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
	"rankcast/ranking/redistest"
)

// What one node defines the others find when they are asked for it, and what it
// changes or takes away a second later.
func TestDefinitionsOfOtherNodes(t *testing.T) {
	onTwoNodes(t, nil, func(t *testing.T, a, b *Store) {
		for i := range 5 { // as long as b's copy is young, too
			board := fmt.Sprint("b", i)
			require.ErrorIs(t, errorOf(b.Board(t.Context(), board)), definition.ErrUnknownBoard)
			require.ErrorIs(t, errorOf(b.ApplyEvents(t.Context(), board, []EventCall{{}})), definition.ErrUnknownEvent)
			require.NoError(t, a.Define(t.Context(), definition.Set{Boards: []definition.Board{{Name: board}},
				Events: []definition.Event{{Name: board, Updates: []definition.Target{{Board: board, Member: "m", Score: "1"}}}}}))
			require.Equal(t, board, must(b.Board(t.Context(), board))(t).Definition.Name)
			must(b.ApplyEvents(t.Context(), board, []EventCall{{}}))(t)
		}
		require.EqualValues(t, 1, must(b.Page(t.Context(), "b0", 1, 1))(t).Total)

		apply(t, a, "b0", definition.Update{Member: "m", Score: 9})
		define(t, a, definition.Board{Name: "b0", Mode: definition.Last})
		aged(b, lookAgain)
		require.EqualValues(t, 3, apply(t, b, "b0", definition.Update{Member: "m", Score: 3}).Result.Current.Score)
		require.ErrorIs(t, a.Delete(t.Context(), "b0", Moderator{}), definition.ErrConflict, "an event is for it")
		require.NoError(t, a.DeleteEvent(t.Context(), "b0", Moderator{}))
		require.NoError(t, a.Delete(t.Context(), "b0", Moderator{}))
		aged(b, lookAgain)
		require.ErrorIs(t, errorOf(b.Page(t.Context(), "b0", 1, 1)), definition.ErrUnknownBoard)
		require.ErrorIs(t, errorOf(b.ApplyEvents(t.Context(), "b0", []EventCall{{}})), definition.ErrUnknownEvent)
		require.ErrorIs(t, b.Delete(t.Context(), "b0", Moderator{}), definition.ErrUnknownBoard)
		require.ErrorIs(t, b.DeleteEvent(t.Context(), "b0", Moderator{}), definition.ErrUnknownEvent)
		require.ErrorIs(t, b.Define(t.Context(), definition.Set{Boards: []definition.Board{{Name: "b0"}}}), definition.ErrConflict,
			"its data are going")
	})
}

// A node that was stalled for longer than its lease writes by what is defined now.
func TestLease(t *testing.T) {
	t.Parallel()
	url, set := redistest.Clocked(t)
	now := time.Now()
	set(now)
	a, b := newNode(t, url), newNode(t, url)
	define(t, a, definition.Board{Name: "b"}, definition.Board{Name: "gone"})
	for _, board := range []string{"b", "gone"} {
		apply(t, b, board, definition.Update{Member: "m", Score: 5})
	}
	define(t, a, definition.Board{Name: "b", Mode: definition.Last}, definition.Board{Name: "gone"})
	require.NoError(t, a.Delete(t.Context(), "gone", Moderator{}))
	stall(b)
	set(now.Add(lease - time.Microsecond))
	require.EqualValues(t, 10, apply(t, b, "b", definition.Update{Member: "m", Score: 5}).Result.Current.Score, "by the lease that it has")
	set(now.Add(lease))
	before := b.rdb.HGetAll(t.Context(), "rc:{gone}::m").Val()
	_, err := b.Apply(t.Context(), "gone", []definition.Update{{Member: "m", Score: 5}})
	require.ErrorIs(t, err, definition.ErrUnknownBoard)
	require.Equal(t, before, b.rdb.HGetAll(t.Context(), "rc:{gone}::m").Val())
	require.EqualValues(t, 5, apply(t, b, "b", definition.Update{Member: "m", Score: 5}).Result.Current.Score)
	require.Less(t, lease, grace)
}

// A Redis that has lost all it had is told what boards there are by any node that
// knows. What was being deleted does not come back.
func TestDefinitionsAreWrittenBack(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		a := newNode(t, url)
		require.NoError(t, a.Define(t.Context(), definition.Set{
			Boards: []definition.Board{{Name: "b", Mode: definition.Best}, {Name: "fans:{x}", Period: "week"}, {Name: "gone"}},
			Events: []definition.Event{{Name: "gift", Updates: []definition.Target{{Board: "b", Member: "m", Score: "1"}}}}}))
		require.NoError(t, a.Delete(t.Context(), "gone", Moderator{}))
		boards := must(a.Boards(t.Context()))(t)
		require.NoError(t, a.rdb.FlushAll(t.Context()).Err())

		// As long as that fails the copy stays in use, for the next try.
		becomes := isLost
		cut(a, script.Define, func() fate { return becomes })
		aged(a, lease)
		again := must(a.Boards(t.Context()))(t)
		require.Equal(t, boards, again)
		require.Equal(t, []string{}, a.rdb.Keys(t.Context(), "*").Val())

		becomes = passes
		must(a.catalog.readFresh(t.Context()))(t)
		again = must(a.Boards(t.Context()))(t)
		require.Equal(t, boards, again)
		b := newNode(t, url)
		again = must(b.Boards(t.Context()))(t)
		require.Equal(t, boards, again)
		must(b.ApplyEvents(t.Context(), "gift", []EventCall{{}}))(t)
		require.EqualValues(t, 1, score(t, b, "b", "m"))
	})
}

// What a node does not understand, because a newer one wrote it, or somebody's hand,
// is unavailable there, and nothing else is.
func TestDefinitionThatIsNotUnderstood(t *testing.T) {
	t.Parallel()
	for what, value := range map[string]string{
		"no JSON":             `{"board":"b"`,
		"binary":              "\xff\x00",
		"empty":               ``,
		"no definition":       `[]`,
		"of another":          `{"board":"c"}`,
		"of an impossible":    `{"board":"b","timezone":"UTC"}`,
		"of a newer version":  `{"board":"b","mode":"sum","replicas":2}`,
		"of a newer version2": `{"board":"b","ties":"split"}`,
	} {
		t.Run(what, func(t *testing.T) {
			url := redistest.Embedded(t)
			a := newNode(t, url)
			events := []definition.Event{{Name: "gift", Updates: []definition.Target{{Board: "other", Member: "m", Score: "1"}}},
				{Name: "b", Updates: []definition.Target{{Board: "b", Member: "m", Score: "1"}}}}
			require.NoError(t, a.Define(t.Context(), definition.Set{Boards: []definition.Board{{Name: "b"}, {Name: "other"}}, Events: events}))
			apply(t, a, "b", definition.Update{Member: "m", Score: 1})
			require.NoError(t, a.rdb.HSet(t.Context(), "rc:{/}:definitions", "version", "newer", "board:b/0", value, "event:gift", value).Err())
			for _, s := range []*Store{a, newNode(t, url)} {
				if s.catalog.latest.Load() != nil {
					aged(s, lease)
				}
				unavailable := func(err error, named string) {
					t.Helper()
					require.ErrorIs(t, err, definition.ErrUnavailable)
					require.ErrorContains(t, err, named)
					for _, e := range []error{definition.ErrInvalid, definition.ErrUnknownBoard, definition.ErrUnknownEvent, definition.ErrConflict} {
						require.NotErrorIs(t, err, e)
					}
				}
				unavailable(errorOf(s.Page(t.Context(), "b", 1, 1)), "board:b/0")
				unavailable(errorOf(s.Apply(t.Context(), "b", []definition.Update{{Member: "m", Score: 1}})), "board:b/0")
				unavailable(errorOf(s.ApplyEvents(t.Context(), "gift", []EventCall{{}})), "event:gift")
				unavailable(s.States(t.Context(), []string{"b"})[0].Err, "board:b/0")
				unavailable(s.Define(t.Context(), definition.Set{Boards: []definition.Board{{Name: "b", Order: definition.Asc}}}), "board:b/0")

				apply(t, s, "other", definition.Update{Member: "m", Score: 1})
				define(t, s, definition.Board{Name: "more"})
				require.Len(t, must(s.Boards(t.Context()))(t), 2)
				unavailable(errorOf(outcomesOf(s.ApplyEvents(t.Context(), "b", []EventCall{{ID: "1"}}))), "board:b/0")
				require.Equal(t, value, s.rdb.HGet(t.Context(), "rc:{/}:definitions", "board:b/0").Val(), "it is left as it is")
			}
			require.NoError(t, a.DeleteEvent(t.Context(), "gift", Moderator{}))
			require.NoError(t, a.DeleteEvent(t.Context(), "b", Moderator{}))
			require.NoError(t, a.Delete(t.Context(), "b", Moderator{}), "so that it can be mended")
			require.ErrorIs(t, errorOf(a.Page(t.Context(), "b", 1, 1)), definition.ErrUnknownBoard)
		})
	}
}

// A definition that another version wrote in another form is the same, and stays as it
// is: nodes of both may run at one time.
func TestDefinitionsInAnotherForm(t *testing.T) {
	t.Parallel()
	url := redistest.Embedded(t)
	s := newNode(t, url)
	base := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	event := definition.Event{Name: "gift", Updates: []definition.Target{{Board: "b", Member: "m", Score: "1"}}}
	all := definition.Set{Boards: []definition.Board{{Name: "b", Period: "36h", Base: base, Ends: base.AddDate(100, 0, 0)}},
		Events: []definition.Event{event}}
	require.NoError(t, s.Define(t.Context(), all))
	apply(t, s, "b", definition.Update{Member: "m", Score: 1})
	const key = "rc:{/}:definitions"
	require.Contains(t, s.rdb.HGet(t.Context(), key, "board:b/0").Val(), `"base":"2026-01-01T00:00:00.000Z"`)
	other := map[string]string{"version": "other", layoutField: strconv.Itoa(Layout),
		"board:b/0": `{"board":"b","mode":"sum","order":"desc","ties":"first","period":"36h","base":"2026-01-01T00:00:00Z",` +
			`"keep":8,"ends":"2126-01-01T00:00:00Z","kind":"member"}`,
		"event:gift": `{"event":"gift","updates":[{"member":"m","board":"b","score":1}]}`}
	require.NoError(t, s.rdb.HSet(t.Context(), key, other).Err())
	for _, s := range []*Store{s, newNode(t, url)} {
		require.NoError(t, s.Define(t.Context(), all))
		require.Equal(t, other, s.rdb.HGetAll(t.Context(), key).Val())
		apply(t, s, "b", definition.Update{Member: "m", Score: 1})
	}
	require.EqualValues(t, 3, score(t, s, "b", "m"))

	all.Boards[0].Keep = new(3)
	require.NoError(t, s.Define(t.Context(), all), "what differs is written")
	require.Contains(t, s.rdb.HGet(t.Context(), key, "board:b/0").Val(), `"keep":3`)
	require.Equal(t, other["event:gift"], s.rdb.HGet(t.Context(), key, "event:gift").Val())
}

// However many define at a time, on however many nodes, all of it lands, and each can
// use at once what it has defined.
func TestDefinitionsAtOneTime(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		nodes := []*Store{newNode(t, url), newNode(t, url), newNode(t, url)}
		const each = 15
		var wg sync.WaitGroup
		for i, s := range nodes {
			for j := range each {
				wg.Go(func() {
					board := fmt.Sprintf("b%d-%d", i, j)
					if err := s.Define(context.Background(), definition.Set{Boards: []definition.Board{{Name: board}}}); err != nil {
						t.Error(err)
						return
					}
					if s.catalog.latest.Load().boards[board+"/0"] == nil {
						t.Errorf("%s is defined and not known", board)
					}
					if _, err := s.Apply(context.Background(), board, []definition.Update{{Member: "m", Score: 1}}); err != nil {
						t.Error(err)
					}
				})
			}
		}
		redistest.Wait(t, "the callers of the test", wg.Wait)
		for _, s := range nodes {
			aged(s, lookAgain)
			boards := must(s.Boards(t.Context()))(t)
			require.Len(t, boards, each*len(nodes))
			require.True(t, slices.IsSortedFunc(boards, func(a, b definition.Board) int { return strings.Compare(a.Name, b.Name) }))
		}
	})
}

// A name with another number of parts than its definition is refused with the name of the definition.
func TestUnknownBoardNamesItsFamily(t *testing.T) {
	onNode(t, nil, func(t *testing.T, n *Store) {
		require.NoError(t, n.DefineBoard(t.Context(), definition.Board{Name: "topic:{topic}"}, Moderator{}))
		for name, reason := range map[string]string{
			"topic":     `there is no board "topic"; want a name like topic:{topic}`,
			"topic:a:b": `there is no board "topic:a:b"; want a name like topic:{topic}`,
			"topics":    `there is no board "topics"`,
		} {
			_, err := n.Page(t.Context(), name, 1, 1)
			require.ErrorIs(t, err, definition.ErrUnknownBoard)
			fe, _ := errors.AsType[*definition.FieldError](err)
			require.Equal(t, "board: "+reason, fe.Error())
		}
	})
}

// The error of an unknown event names the events that there are, ten at most.
func TestUnknownEventNamesTheOthers(t *testing.T) {
	t.Parallel()
	n := newNode(t, redistest.Embedded(t))
	require.EqualError(t, errorOf(n.Event(t.Context(), "gif")), `event: there is no event "gif"; no event is defined`)
	set := definition.Set{Boards: []definition.Board{{Name: "b"}}}
	for i := range 12 {
		set.Events = append(set.Events, definition.Event{Name: fmt.Sprintf("e%02d", i),
			Updates: []definition.Target{{Board: "b", Member: "m", Score: "1"}}})
	}
	require.NoError(t, n.Define(t.Context(), set))
	_, err := n.Event(t.Context(), "gif")
	require.EqualError(t, err, `event: there is no event "gif"; the events are e00, e01, e02, e03, e04, e05, e06, e07, e08, e09 and 2 more`)
	require.EqualError(t, n.DeleteEvent(t.Context(), "gif", Moderator{}), err.Error())
}
