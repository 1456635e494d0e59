package client_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/client"
	"rankcast/server/servertest"
)

func newClient(t *testing.T, addr string) *client.Client {
	c := redistest.Must(client.New("http://"+addr, client.Config{}))(t)
	t.Cleanup(c.Close)
	return c
}

// refusal is what a refusal of the server says to programs. Each has a message for people too. about names the case.
func refusal(t *testing.T, err error, about ...any) client.Error {
	t.Helper()
	var e *client.Error
	require.ErrorAs(t, err, &e, about...)
	require.NotEmpty(t, e.Message, about...)
	require.NotErrorIs(t, err, client.ErrOutcomeUnknown, about...)
	return client.Error{Status: e.Status, Code: e.Code, Field: e.Field}
}

// watching is a board that is being watched.
type watching struct {
	t     *testing.T
	shown chan client.Board
	last  client.Board
	stop  func() error
}

func watch(t *testing.T, c *client.Client, board string, w client.Watch) *watching {
	ctx, cancel := context.WithCancel(t.Context())
	s := &watching{t: t, shown: make(chan client.Board)}
	ended := make(chan error, 1)
	go func() {
		ended <- c.Watch(ctx, board, w, func(b client.Board) {
			select {
			case s.shown <- b:
			case <-ctx.Done():
			}
		})
	}()
	s.stop = sync.OnceValue(func() error { cancel(); return redistest.Receive(t, "the run to end", ended) })
	t.Cleanup(func() { s.stop() })
	return s
}

func (s *watching) until(what string, wanted func(client.Board) bool) client.Board {
	s.t.Helper()
	patience := time.After(servertest.Patience)
	for {
		select {
		case s.last = <-s.shown:
			if wanted(s.last) {
				return s.last
			}
		case <-patience:
			require.Fail(s.t, "waited in vain for "+what, "last: %+v", s.last)
		}
	}
}

// fast is a node that sends frames as soon as it can.
var fast = servertest.Config{Hub: hub.Config{Interval: time.Millisecond, MeInterval: time.Millisecond}}

func live(b client.Board) bool { return b.State == client.Live }

func TestUpdatesAndReads(t *testing.T) {
	servertest.With(servertest.Config{}, definition.Board{Name: "b"}).OnEngines(t, func(t *testing.T, n *servertest.Node) {
		c, ctx := newClient(t, n.Addr), t.Context()
		r := redistest.Must(c.Update(ctx, "b", client.Update{Member: "ann", Score: 5, ID: "1"}))(t)
		require.EqualValues(t, 5, *r.Score)
		require.EqualValues(t, 1, *r.Rank)
		require.Nil(t, r.Previous)
		require.False(t, r.Duplicate)
		r = redistest.Must(c.Update(ctx, "b", client.Update{Member: "ann", Score: 5, ID: "1"}))(t)
		require.True(t, r.Duplicate)
		r = redistest.Must(c.Update(ctx, "b", client.Update{Member: "ann", Score: -client.MaxScore, Op: client.Last}))(t)
		require.EqualValues(t, -client.MaxScore, *r.Score)
		require.Equal(t, &client.Standing{Score: 5, Rank: 1}, r.Previous)

		for _, c1 := range []struct {
			board string
			u     client.Update
			want  client.Error
		}{
			{"nope", client.Update{Member: "ann"}, client.Error{Status: 404, Code: "unknown_board", Field: "board"}},
			{"b", client.Update{}, client.Error{Status: 400, Code: "invalid_request", Field: "member"}},
			{"b", client.Update{Member: "ann", Score: client.MaxScore + 1}, client.Error{Status: 422, Code: "out_of_range", Field: "score"}},
			{"b", client.Update{Member: "ann", Op: "most"}, client.Error{Status: 400, Code: "invalid_request", Field: "op"}},
			{"b", client.Update{Member: "bob", ID: "1"}, client.Error{Status: 409, Code: "idempotency_mismatch", Field: "id"}},
		} {
			_, err := c.Update(ctx, c1.board, c1.u)
			require.Equal(t, c1.want, refusal(t, err, "%s: %+v", c1.board, c1.u), "%v", err)
		}

		odd := []string{"a/b", "?x=1&y#z", "...", "100%", "名前 🏆", "+", `"\`}
		var updates []client.Update
		for i, m := range odd {
			updates = append(updates, client.Update{Member: m, Score: int64(100 - i)})
		}
		updates = append(updates, client.Update{Member: "x", Score: client.MaxScore + 1})
		outcomes := redistest.Must(c.Updates(ctx, "b", updates))(t)
		require.Len(t, outcomes, len(updates))
		for i, m := range odd {
			require.NoError(t, outcomes[i].Err)
			place := redistest.Must(c.Member(ctx, "b", m, 1))(t)
			require.Equal(t, m, place.Member)
			require.EqualValues(t, i+1, place.Rank)
			require.Len(t, place.Around, min(i+2, 3))
		}
		require.Equal(t, "out_of_range", refusal(t, outcomes[len(odd)].Err).Code)
		_, err := c.Member(ctx, "b", "nobody", 0)
		require.Equal(t, "unknown_member", refusal(t, err).Code)

		p := redistest.Must(c.Top(ctx, "b", client.Query{Limit: 2}))(t)
		require.Equal(t, client.Page{Head: client.Head{Board: "b"}, Total: int64(len(odd) + 1),
			Top: []client.Entry{{Rank: 1, Member: odd[0], Score: 100}, {Rank: 2, Member: odd[1], Score: 99}}, Cursor: p.Cursor}, p)
		require.NotEmpty(t, p.Cursor)
		p = redistest.Must(c.Top(ctx, "b", client.Query{}))(t)
		require.Len(t, p.Top, len(odd)+1)
	})
}

// Status returns the problems, and the state of the nodes and of Redis.
func TestStatus(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t, "--maxmemory-policy", "allkeys-lru")
	n := servertest.Start(t, r.URL(), servertest.Config{Server: server.Config{Node: "one:80/a", Version: "v1"}})
	n.UntilReady()
	s := redistest.Must(newClient(t, n.Addr).Status(t.Context()))(t)
	require.False(t, s.Well)
	require.Len(t, s.Problems, 1)
	require.Equal(t, []string{"redis_evicts", *s.Redis[0].Address}, []string{s.Problems[0].Code, s.Problems[0].Redis})
	require.NotEmpty(t, s.Problems[0].Message)
	require.NotEmpty(t, s.Problems[0].Advice)
	require.Len(t, s.Nodes, 1)
	require.Equal(t, []string{"one:80/a", "serve", "v1"}, []string{s.Nodes[0].ID, s.Nodes[0].Role, s.Nodes[0].Version})
	require.Nil(t, s.Nodes[0].Reason)
	require.Positive(t, *s.Redis[0].Ping)
	require.Positive(t, *s.Redis[0].Memory)
	require.Nil(t, s.Redis[0].MaxMemory)
	require.Empty(t, s.Redis[0].Replicas)
}

// The ranks of updates and events of a board with shards are counted if the client wants them.
func TestCountRanks(t *testing.T) {
	boards := []definition.Board{{Name: "b", Shards: 3}, {Name: "plain"}}
	servertest.With(servertest.Config{}, boards...).OnEngines(t, func(t *testing.T, n *servertest.Node) {
		ctx := t.Context()
		event := `{"updates":[{"board":"b","member":"{m}","score":1},{"board":"plain","member":"{m}","score":1}]}`
		c := newClient(t, n.Addr)
		redistest.Must(c.DefineEvent(ctx, "e", []byte(event)))(t)
		counting := redistest.Must(client.New("http://"+n.Addr, client.Config{CountRanks: true}))(t)
		t.Cleanup(counting.Close)
		for c, want := range map[*client.Client]*int64{c: nil, counting: new(int64(1))} {
			redistest.Must(c.Update(ctx, "b", client.Update{Member: "a", Score: 10}))(t)
			require.Equal(t, want, redistest.Must(c.Update(ctx, "b", client.Update{Member: "a"}))(t).Rank)
			require.Equal(t, want, redistest.Must(c.Updates(ctx, "b", []client.Update{{Member: "a"}}))(t)[0].Result.Rank)
			e := client.Event{Data: []byte(`{"m":"a"}`)}
			for _, outcomes := range [][]client.Outcome{
				redistest.Must(c.Event(ctx, "e", e))(t),
				redistest.Must(c.Events(ctx, "e", []client.Event{e}))(t)[0].Results,
			} {
				require.Equal(t, want, outcomes[0].Result.Rank)
				require.Equal(t, new(int64(1)), outcomes[1].Result.Rank)
			}
		}
	})
}

// cutter is a proxy before a server that carries requests to it, but ends the
// first connections where the answers belong.
func cutter(t *testing.T, addr string, cuts int) string {
	back := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: addr})
	var mu sync.Mutex
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		cuts--
		cut := cuts >= 0
		mu.Unlock()
		if !cut {
			back.ServeHTTP(w, r)
			return
		}
		back.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(front.Close)
	return front.Listener.Addr().String()
}

func ones(n int) (updates []client.Update) {
	for i := range n {
		updates = append(updates, client.Update{Member: fmt.Sprint("m", i%7), Score: 1})
	}
	return updates
}

// sum is all that there is on the board "b".
func sum(t *testing.T, c *client.Client) (sum int64) {
	p := redistest.Must(c.Top(t.Context(), "b", client.Query{Limit: 1000}))(t)
	for _, e := range p.Top {
		sum += e.Score
	}
	return sum
}

// Answers of the server that get lost: each update counts once.
func TestUpdatesCountOnceWhenAnswersAreLost(t *testing.T) {
	servertest.With(servertest.Config{}, definition.Board{Name: "b"}).OnEngines(t, func(t *testing.T, n *servertest.Node) {
		c := newClient(t, cutter(t, n.Addr, 2))
		outcomes := redistest.Must(c.Updates(t.Context(), "b", ones(300)))(t)
		for _, o := range outcomes {
			require.NoError(t, o.Err)
			require.True(t, o.Result.Duplicate, "the first attempt had come through")
		}
		r := redistest.Must(newClient(t, cutter(t, n.Addr, 2)).Update(t.Context(), "b", client.Update{Member: "m0", Score: 1}))(t)
		require.True(t, r.Duplicate)
		require.EqualValues(t, 301, sum(t, c))
	})
}

// gifts defines an event that counts on three boards: flowers of stars, of their
// fans, and of givers no more than twenty.
func gifts(t *testing.T, n *servertest.Node) {
	gift, err := definition.ParseEvent("gift", []byte(`{"updates":[
		{"board":"b","member":"{star}","score":"{flowers}"},
		{"board":"fans:{star}","member":"{user}","score":"{flowers}"},
		{"board":"givers","member":"{user}","score":"{flowers}","data":{"to":"{star}"}}]}`))
	require.NoError(t, err)
	twenty := int64(20)
	require.NoError(t, n.Store.Define(t.Context(), definition.Set{
		Boards: []definition.Board{{Name: "b"}, {Name: "fans:{star}"}, {Name: "givers", Max: &twenty}}, Events: []definition.Event{gift}}))
}

// A batch of events may come to so many updates, and to no more.
func TestEventBatchLimit(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Start(t).URL(), servertest.Config{}, definition.Board{Name: "b"})
	wide, err := definition.ParseEvent("wide", []byte(`{"updates":[`+strings.Repeat(`{"board":"b","member":"m","score":1},`,
		31)+`{"board":"b","member":"m","score":1}]}`))
	require.NoError(t, err)
	require.NoError(t, n.Store.Define(t.Context(), definition.Set{Events: []definition.Event{wide}}))
	c := newClient(t, n.Addr)
	events := slices.Repeat([]client.Event{{Data: []byte(`{}`)}}, client.MaxEventUpdates/32+1)
	_, err = c.Events(t.Context(), "wide", events)
	require.Equal(t, "too_large", refusal(t, err).Code)
	require.Zero(t, sum(t, c))
	redistest.Must(c.Events(t.Context(), "wide", events[1:]))(t)
	require.EqualValues(t, client.MaxEventUpdates, sum(t, c))
}

// Events, whose answers get lost: each counts once on each of its boards, and each
// board answers for itself.
func TestEventsCountOnceWhenAnswersAreLost(t *testing.T) {
	servertest.With(servertest.Config{}).OnEngines(t, func(t *testing.T, n *servertest.Node) {
		gifts(t, n)
		c, ctx := newClient(t, cutter(t, n.Addr, 2)), t.Context()
		var events []client.Event
		for i := range 300 {
			events = append(events, client.Event{Data: fmt.Appendf(nil, `{"star":"s%d","user":"u%d","flowers":1}`, i%7, i%20)})
		}
		events = append(events, client.Event{ID: "odd", Data: []byte(`{"star":"?a=1&b 名前%","user":"u1","flowers":10}`)},
			client.Event{Data: []byte(`{"star":"s1","flowers":1}`)}, client.Event{Data: []byte(`{"star":"s1","user":"u1","flowers":"1"}`)})
		got := redistest.Must(c.Events(ctx, "gift", events))(t)
		for i, e := range got[:301] {
			require.NoError(t, e.Err)
			require.Len(t, e.Results, 3)
			for j, o := range e.Results {
				if i == 300 && j == 2 {
					continue
				}
				require.NoError(t, o.Err)
				require.True(t, o.Result.Duplicate, "the first attempt had come through")
			}
			require.Equal(t, "b", e.Results[0].Result.Board)
		}
		require.Equal(t, "fans:s3", got[3].Results[1].Result.Board)
		require.Equal(t, "u3", got[3].Results[1].Result.Member)
		refused := got[300].Results[2]
		require.Equal(t, "givers", refused.Result.Board)
		require.Equal(t, "out_of_range", refusal(t, refused.Err, "one board refuses, and the others count").Code)
		require.Equal(t, client.Error{Code: "invalid_request", Field: "events[301].user"}, refusal(t, got[301].Err))
		require.Nil(t, got[301].Results)
		require.Equal(t, "events[302].flowers", refusal(t, got[302].Err).Field)
		require.EqualValues(t, 310, sum(t, c))
		fans := redistest.Must(c.Top(ctx, "fans:?a=1&b 名前%", client.Query{}))(t)
		require.Equal(t, []client.Entry{{Rank: 1, Member: "u1", Score: 10}}, fans.Top)
		giver := redistest.Must(c.Member(ctx, "givers", "u3", 0))(t)
		require.EqualValues(t, 15, giver.Score)
		require.JSONEq(t, `{"to":"s3"}`, string(giver.Data))

		cut := newClient(t, cutter(t, n.Addr, 2))
		one := redistest.Must(cut.Event(ctx, "gift", client.Event{Data: []byte(`{"star":"s1","user":"u9","flowers":2}`)}))(t)
		require.Len(t, one, 3)
		require.True(t, one[2].Result.Duplicate)
		require.EqualValues(t, 17, *one[2].Result.Score)
		require.EqualValues(t, 312, sum(t, c))

		for _, c1 := range []struct {
			name, data string
			want       client.Error
		}{
			{"nope", `{}`, client.Error{Status: 404, Code: "unknown_event", Field: "event"}},
			{"gift", `{"star":"a:b","user":"u","flowers":1}`, client.Error{Status: 400, Code: "invalid_request", Field: "star"}},
			{"gift", `{"star":"a","user":"u","flowers":9007199254740992}`, client.Error{Status: 422, Code: "out_of_range", Field: "flowers"}},
		} {
			_, err := c.Event(ctx, c1.name, client.Event{Data: []byte(c1.data)})
			require.Equal(t, c1.want, refusal(t, err, "%s: %s", c1.name, c1.data), "%v", err)
		}
		_, err := c.Event(ctx, "gift", client.Event{ID: "odd", Data: []byte(`{"star":"a","user":"u","flowers":1}`)})
		require.Equal(t, "idempotency_mismatch", refusal(t, err).Code)

		text := redistest.Must(c.EventDefinition(ctx, "gift"))(t)
		again := redistest.Must(definition.ParseEvent("gift", text))(t)
		require.Equal(t, "fans:{star}", again.Updates[1].Board)
	})
}

// What is with an entry, for whom an update is, and what a period is: as the
// server has them. Names go through paths as they are.
func TestPeriodsConditionsAndData(t *testing.T) {
	servertest.With(servertest.Config{}, definition.Board{Name: "fans:{star}", Period: "36500h",
		Base: time.Now().Truncate(time.Hour)}).OnEngines(t, func(t *testing.T, n *servertest.Node) {
		c, ctx := newClient(t, n.Addr), t.Context()
		const board = "fans:s 17/+%" // the slash is none that a part may have
		_, err := c.Top(ctx, board, client.Query{})
		require.Equal(t, "invalid_request", refusal(t, err).Code, "and it arrived in one piece")
		const name = "fans:s 17+%?#&=名前"
		r := redistest.Must(c.Update(ctx, name, client.Update{Member: "ann", Score: 3, If: client.Exists}))(t)
		require.Nil(t, r.Score)
		r = redistest.Must(c.Update(ctx, name, client.Update{Member: "ann", Score: 3, If: client.Absent, Data: []byte(`{"a": [1, "x"]}`)}))(t)
		require.EqualValues(t, 3, *r.Score)
		require.Equal(t, "0", r.Period)
		require.Equal(t, name, r.Board)
		redistest.Must(c.Update(ctx, name, client.Update{Member: "ann", Score: 1}))(t)
		want := []client.Entry{{Rank: 1, Member: "ann", Score: 4, Data: []byte(`{"a":[1,"x"]}`)}}
		for _, named := range []string{name, name + "@0"} {
			p := redistest.Must(c.Top(ctx, named, client.Query{}))(t)
			require.Equal(t, named, p.Board)
			require.Equal(t, "0", p.Period)
			require.True(t, p.Ends.After(time.Now()))
			require.False(t, p.Final)
			require.Equal(t, want, p.Top)
			place := redistest.Must(c.Member(ctx, named, "ann", 1))(t)
			require.Equal(t, p.Ends, place.Ends)
			require.Equal(t, want, place.Around)
			require.Equal(t, want[0].Data, place.Data)
		}
		outcomes := redistest.Must(c.Updates(ctx, name, []client.Update{{Member: "ann", Data: []byte(`null`)}}))(t)
		require.NoError(t, outcomes[0].Err)
		p := redistest.Must(c.Top(ctx, name, client.Query{}))(t)
		require.Nil(t, p.Top[0].Data)
		for named, code := range map[string]string{name + "@-1": "unknown_period", name + "@1": "unknown_period",
			"fans": "unknown_board", name + "@": "invalid_request"} {
			_, err = c.Top(ctx, named, client.Query{})
			require.Equal(t, code, refusal(t, err, named).Code, named)
		}
		_, err = c.Update(ctx, name+"@0", client.Update{Member: "ann"})
		require.Equal(t, "not_open", refusal(t, err).Code)
	})
}

// Answers of Redis that get lost: likewise, and what the server says of each
// update is not believed before it is sure.
func TestUpdatesCountOnceDuringRedisOutage(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	proxy := redistest.StartProxy(t, r.URL())
	n := servertest.Start(t, proxy.URL(), servertest.Config{}, definition.Board{Name: "b"})
	other := servertest.Start(t, r.URL(), servertest.Config{}, definition.Board{Name: "b"})
	c, direct := newClient(t, n.Addr), newClient(t, other.Addr)
	_, err := c.Updates(t.Context(), "b", ones(1)) // so that Redis has the script
	require.NoError(t, err)
	proxy.CutAnswers(true)
	done := make(chan error, 1)
	go func() {
		outcomes, err := c.Updates(t.Context(), "b", ones(300))
		for _, o := range outcomes {
			if o.Err != nil {
				err = o.Err
			}
		}
		done <- err
	}()
	redistest.Eventually(t, "updates to be applied", func() error {
		if n := sum(t, direct); n < 2 {
			return fmt.Errorf("%d", n)
		}
		return nil
	})
	proxy.CutAnswers(false)
	require.NoError(t, redistest.Receive(t, "the run to end", done))
	require.EqualValues(t, 301, sum(t, direct))
}

// The own rank follows what others do, with neighbours and the way to the next.
func TestOwnRankOfARealServer(t *testing.T) {
	servertest.With(fast, definition.Board{Name: "b"}).OnEngines(t, func(t *testing.T, n *servertest.Node) {
		c := newClient(t, n.Addr)
		s := watch(t, c, "b", client.Watch{Top: 1, Me: "me", Around: 1})
		me := func(what string, wanted func(*client.Me) bool) *client.Me {
			t.Helper()
			return s.until(what, func(b client.Board) bool { return live(b) && b.Me != nil && wanted(b.Me) }).Me
		}
		nobody := me("not on the board", func(m *client.Me) bool { return m.Around != nil })
		require.Nil(t, nobody.Rank)
		require.Nil(t, nobody.Score)
		require.Nil(t, nobody.ToNext)
		require.Empty(t, nobody.Around)
		send := func(member string, score int64) {
			redistest.Must(c.Update(t.Context(), "b", client.Update{Member: member, Score: score}))(t)
		}
		send("a", 30)
		send("me", 20)
		second := me("rank 2", func(m *client.Me) bool { return m.Rank != nil && *m.Rank == 2 && m.Around != nil })
		require.EqualValues(t, 20, *second.Score)
		require.EqualValues(t, 10, *second.ToNext)
		require.Equal(t, []client.Entry{{Rank: 1, Member: "a", Score: 30}, {Rank: 2, Member: "me", Score: 20}}, second.Around)
		send("b", 23)
		third := me("rank 3, by what b did", func(m *client.Me) bool { return *m.Rank == 3 && m.Around != nil && *m.ToNext == 3 })
		require.Equal(t, "b", third.Around[0].Member)
		send("me", 100)
		me("rank 1", func(m *client.Me) bool { return *m.Rank == 1 && m.Around != nil && m.ToNext == nil })
		s.stop()

		require.Equal(t, "around", refusal(t, c.Watch(t.Context(), "b", client.Watch{Around: 1}, func(client.Board) {})).Field)
	})
}

func TestWatchOfARealServer(t *testing.T) {
	servertest.With(fast, definition.Board{Name: "b"}).OnEngines(t, func(t *testing.T, n *servertest.Node) {
		c := newClient(t, n.Addr)
		s := watch(t, c, "b", client.Watch{Top: 2})
		require.Empty(t, s.until("the empty board", live).Top)
		for i, m := range []string{"a", "b", "c", "a"} {
			redistest.Must(c.Update(t.Context(), "b", client.Update{Member: m, Score: int64(10 + i)}))(t)
		}
		want := []client.Entry{{Rank: 1, Member: "a", Score: 23}, {Rank: 2, Member: "c", Score: 12}}
		s.until("the scores", func(b client.Board) bool { return b.Total == 3 && fmt.Sprint(b.Top) == fmt.Sprint(want) })
		require.ErrorIs(t, s.stop(), context.Canceled)

		require.Equal(t, "unknown_board", refusal(t, c.Watch(t.Context(), "nope", client.Watch{}, func(client.Board) {})).Code)
		require.Equal(t, "top", refusal(t, c.Watch(t.Context(), "b", client.Watch{Top: 1001}, func(client.Board) {})).Field)
	})
}

// The period turns while nobody writes: the last of it is shown, as it stays to be
// read, and then the next one.
func TestRolloverOfRealServer(t *testing.T) {
	// A machine that stalls for a whole period would skip it, so the period is not shorter.
	servertest.With(servertest.Config{}, definition.Board{Name: "fans:{star}", Period: "4s",
		Base: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Keep: new(1000)}).OnEngines(t, func(t *testing.T, n *servertest.Node) {
		c := newClient(t, n.Addr)
		s := watch(t, c, "fans:s 17?", client.Watch{Me: "bob"})
		s.until("the empty board", live)
		outcomes, err := c.Updates(t.Context(), "fans:s 17?",
			[]client.Update{{Member: "ann", Score: 3, Data: []byte(`{"gift":"rose"}`)}, {Member: "bob", Score: 2}})
		require.NoError(t, err)
		period := outcomes[1].Result.Period
		var final client.Board
		next := s.until("the next period", func(b client.Board) bool {
			if b.Final && b.Period == period {
				final = b
			}
			return final.Final && b.Period != period
		})
		require.Equal(t, []client.Entry{{Rank: 1, Member: "ann", Score: 3, Data: []byte(`{"gift":"rose"}`)},
			{Rank: 2, Member: "bob", Score: 2}}, final.Top)
		require.Equal(t, final.Ends.Add(4*time.Second), next.Ends)
		require.Empty(t, next.Top)
		require.False(t, next.Final)
		s.until("bob's place now", func(b client.Board) bool { return !b.Final && b.Me != nil && b.Me.Rank == nil })
		s.stop()

		page := redistest.Must(c.Top(t.Context(), "fans:s 17?@"+period, client.Query{}))(t)
		require.True(t, page.Final)
		require.Equal(t, final.Top, page.Top)
		closed := watch(t, c, "fans:s 17?@"+period, client.Watch{})
		require.Equal(t, final.Top, closed.until("the closed period", func(b client.Board) bool { return live(b) && b.Final }).Top)
		closed.stop()
	})
}

// A server that stops and one that starts at its address: the watch goes on.
func TestWatchOutlivesTheServer(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	first := servertest.Start(t, r.URL(), servertest.Config{}, definition.Board{Name: "b"})
	front := httptest.NewUnstartedServer(nil)
	var mu sync.Mutex
	target := first.Addr
	front.Config.Handler = &httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
		mu.Lock()
		defer mu.Unlock()
		p.SetURL(&url.URL{Scheme: "http", Host: target})
	}, ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }}
	front.Start()
	defer front.Close()
	c := newClient(t, front.Listener.Addr().String())
	s := watch(t, c, "b", client.Watch{})
	redistest.Must(c.Update(t.Context(), "b", client.Update{Member: "a", Score: 1}))(t)
	s.until("a", func(b client.Board) bool { return live(b) && len(b.Top) == 1 })
	first.Stop()
	s.until("the end", func(b client.Board) bool { return b.State == client.Away && len(b.Top) == 1 })
	second := servertest.Start(t, r.URL(), servertest.Config{}, definition.Board{Name: "b"})
	mu.Lock()
	target = second.Addr
	mu.Unlock()
	redistest.Must(c.Update(t.Context(), "b", client.Update{Member: "b", Score: 2}))(t)
	s.until("both", func(b client.Board) bool { return live(b) && len(b.Top) == 2 })
	s.stop()
}

// The largest frame that there can be fits.
func TestTopOfAThousandLongNames(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{}, definition.Board{Name: "b"})
	c := newClient(t, n.Addr)
	var updates []client.Update
	for i := range 1000 {
		updates = append(updates, client.Update{Member: fmt.Sprintf("%04d", i) + strings.Repeat(`"`, 124),
			Score: client.MaxScore - int64(i), ID: fmt.Sprintf("%04d", i) + strings.Repeat(`\`, 124)})
	}
	outcomes := redistest.Must(c.Updates(t.Context(), "b", updates))(t)
	for _, o := range outcomes {
		require.NoError(t, o.Err)
	}
	s := watch(t, c, "b", client.Watch{Top: 1000})
	require.Len(t, s.until("the board", live).Top, 1000)
	p := redistest.Must(c.Top(t.Context(), "b", client.Query{Limit: 1000}))(t)
	require.Len(t, p.Top, 1000)
	s.stop()
}

// tapped counts the snapshots that a connection brings.
type tapped struct {
	net.Conn
	snapshots *atomic.Int64
}

func (c tapped) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.snapshots.Add(int64(bytes.Count(b[:n], []byte(`"type":"snapshot"`))))
	return n, err
}

// A client whose connection is cut holds the list already: the server sends what
// has changed since, and no second snapshot.
func TestResumeWithARealServer(t *testing.T) {
	servertest.With(fast, definition.Board{Name: "b"}).OnEngines(t, func(t *testing.T, n *servertest.Node) {
		var snapshots atomic.Int64
		var mu sync.Mutex
		var conns []net.Conn
		transport := &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, addr)
			mu.Lock()
			defer mu.Unlock()
			conns = append(conns, conn)
			return tapped{conn, &snapshots}, err
		}}
		c := redistest.Must(client.New("http://"+n.Addr, client.Config{HTTP: &http.Client{Transport: transport}}))(t)
		direct := newClient(t, n.Addr)
		var updates []client.Update
		for i := range 20 {
			updates = append(updates, client.Update{Member: fmt.Sprint("m", i), Score: int64(1000 - i)})
		}
		redistest.Must(direct.Updates(t.Context(), "b", updates))(t)
		s := watch(t, c, "b", client.Watch{Top: 20})
		other := watch(t, direct, "b", client.Watch{}) // so that the node keeps its view
		s.until("the board", func(b client.Board) bool { return live(b) && len(b.Top) == 20 })
		other.until("the board", live)
		for round := range int64(4) {
			mu.Lock()
			for _, conn := range conns {
				conn.Close()
			}
			mu.Unlock()
			s.until("the cut", func(b client.Board) bool { return b.State == client.Away && len(b.Top) == 20 })
			if round > 0 { // the first time nothing changes meanwhile
				redistest.Must(direct.Update(t.Context(), "b", client.Update{Member: "m0", Score: 1}))(t)
			}
			s.until("the board again", func(b client.Board) bool { return live(b) && b.Top[0].Score == 1000+round && b.Top[19].Score == 981 })
		}
		s.stop()
		other.stop()
		require.EqualValues(t, 1, snapshots.Load())
	})
}

func TestProfilesByTheClient(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{}, definition.Board{Name: "b", Kind: "user"})
	c := redistest.Must(client.New("http://"+n.Addr, client.Config{}))(t)
	defer c.Close()
	_, err := c.Profile(t.Context(), "user", "a/b")
	require.Equal(t, "unknown_member", refusal(t, err).Code)
	for _, name := range []string{"Ann", "Anna"} {
		require.NoError(t, c.SetProfile(t.Context(), "user", "a/b", client.Profile{Name: name, Avatar: "/a.png"}))
		p := redistest.Must(c.Profile(t.Context(), "user", "a/b"))(t)
		require.Equal(t, client.Profile{Name: name, Avatar: "/a.png"}, p)
	}
	err = c.SetProfile(t.Context(), "user", "a/b", client.Profile{})
	require.Equal(t, "name", refusal(t, err).Field)
	redistest.Must(c.Update(t.Context(), "b", client.Update{Member: "a/b", Score: 3}))(t)
	page := redistest.Must(c.Top(t.Context(), "b", client.Query{}))(t)
	require.Equal(t, []client.Entry{{Rank: 1, Member: "a/b", Score: 3, Name: "Anna", Avatar: "/a.png"}}, page.Top)
	place := redistest.Must(c.Member(t.Context(), "b", "a/b", 1))(t)
	require.Equal(t, "Anna", place.Name)
	require.Equal(t, page.Top, place.Around)
	done := redistest.Must(c.Reindex(t.Context(), "user"))(t)
	require.Equal(t, client.Reindexed{Profiles: 1}, done)
	_, err = c.Reindex(t.Context(), "No kind")
	require.Equal(t, "kind", refusal(t, err).Field)
}

// A host reveals a board from a program, while another one watches.
func TestFreezeAndReveal(t *testing.T) {
	servertest.With(fast, definition.Board{Name: "b"}).OnEngines(t, func(t *testing.T, n *servertest.Node) {
		c, ctx := newClient(t, n.Addr), t.Context()
		redistest.Must(c.Updates(ctx, "b", []client.Update{{Member: "ann", Score: 5}, {Member: "bob", Score: 3}}))(t)
		w := watch(t, c, "b", client.Watch{})
		w.until("the board", live)
		frozen := redistest.Must(c.Freeze(ctx, "b", "the finish"))(t)
		require.Equal(t, "host", frozen.Frozen.Reveals)
		require.Equal(t, frozen.Frozen, w.until("the freeze", func(b client.Board) bool { return b.Frozen != nil }).Frozen)
		require.Equal(t, frozen.Frozen, redistest.Must(c.Top(ctx, "b", client.Query{}))(t).Frozen)
		r := redistest.Must(c.Update(ctx, "b", client.Update{Member: "bob", Score: 4}))(t)
		require.Equal(t, client.Result{Board: "b", Member: "bob", Frozen: true}, r)
		redistest.Must(c.Update(ctx, "b", client.Update{Member: "cem", Score: 1}))(t)
		p := redistest.Must(c.Pending(ctx, "b", client.PendingQuery{Order: "rank", Limit: 1}))(t)
		require.EqualValues(t, 2, p.Total)
		require.Equal(t, []client.Pending{{Member: "bob", Public: &client.Standing{Rank: 2, Score: 3},
			Pending: &client.Standing{Rank: 1, Score: 7}}}, p.Entries)
		p = redistest.Must(c.Pending(ctx, "b", client.PendingQuery{Order: "rank", Cursor: p.Cursor}))(t)
		require.Equal(t, "cem", p.Entries[0].Member)
		require.Empty(t, p.Cursor)

		done := redistest.Must(c.Reveal(ctx, "b", "cem", "ann"))(t)
		require.EqualValues(t, 1, done.Left)
		require.Equal(t, frozen.Frozen, done.Frozen)
		require.Len(t, done.List, 1)
		require.EqualValues(t, 3, *done.List[0].Rank)
		done = redistest.Must(c.RevealAll(ctx, "b"))(t)
		require.EqualValues(t, 1, done.Count)
		require.Nil(t, done.Frozen)
		require.Equal(t, &client.Standing{Rank: 2, Score: 3}, done.List[0].Previous)
		w.until("the end", func(b client.Board) bool { return b.Frozen == nil && b.Top[0].Member == "bob" })

		redistest.Must(c.Freeze(ctx, "b", "by mistake"))(t)
		require.Zero(t, redistest.Must(c.Unfreeze(ctx, "b", "it was"))(t))
		_, err := c.Reveal(ctx, "b", "ann")
		require.Equal(t, "conflict", refusal(t, err).Code)
	})
}
