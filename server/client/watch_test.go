package client

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWatchShowsServerState(t *testing.T) {
	t.Parallel()
	watching(t, Config{}, Watch{Top: 3, Me: "m", Around: 1}, func(t *testing.T, s *scripted, p *peer) {
		require.Equal(t, map[string]any{"type": "subscribe", "id": 1.0, "board": "b", "top": 3.0, "me": "m", "around": 1.0,
			"info": true}, p.read())
		require.Equal(t, Board{Board: "b", State: Connecting}, <-s.shown)
		p.send(`{"type":"ok","id":1}`)
		p.snapshot("e", 7)
		first := <-s.shown
		require.Equal(t, Board{Board: "b", Epoch: "e", Seq: 7, Total: 3, State: Live,
			Top: []Entry{{1, "a", 30, nil, "", "", nil}, {2, "b", 20, nil, "", "", nil}, {3, "c", 10, nil, "", "", nil}}}, first)

		p.send(`{"type":"me","board":"b","seq":7,"rank":4,"score":5,"total":4,"to_next":5,"around":[{"rank":3,"member":"c",` +
			`"score":10},{"rank":4,"member":"m","score":5}]}`)
		rank, score, next := int64(4), int64(5), int64(5)
		me := (<-s.shown).Me
		require.Equal(t, &Me{Member: "m", Seq: 7, Rank: &rank, Score: &score, Total: 4, ToNext: &next,
			Around: []Entry{{3, "c", 10, nil, "", "", nil}, {4, "m", 5, nil, "", "", nil}}}, me)

		p.send(`{"type":"me","board":"b","seq":8,"rank":null,"score":null,"total":3}`)
		require.Equal(t, &Me{Member: "m", Seq: 8, Total: 3}, (<-s.shown).Me, "no neighbours: not known at this moment")

		before := slices.Clone(first.Top)
		p.send(`{"type":"delta","board":"b","from":7,"seq":9,"total":2,"rows":[[0,{"rank":1,"member":"c","score":40,` +
			`"data":{"g":1}}],[1,{"rank":2,"member":"a","score":30}]],"len":2}`)
		b := <-s.shown
		require.Equal(t, []Entry{{1, "c", 40, nil, "", "", []byte(`{"g":1}`)}, {2, "a", 30, nil, "", "", nil}}, b.Top)
		require.EqualValues(t, 9, b.Seq)
		require.EqualValues(t, 2, b.Total)
		require.Equal(t, before, first.Top, "what was handed out stays as it was")

		p.send(`{"type":"pong","id":3}`)
		p.send(`{"type":"whatever","board":"b"}`)
		p.send(`{"type":"snapshot","board":"other","seq":1,"top":[]}`)
		p.send(`{"type":"delta","board":"b","from":9,"seq":10,"total":2,"rows":[],"len":1}`)
		b = <-s.shown
		require.Equal(t, "c", members(b), "and nothing was shown for the others")

		s.cancel()
		require.ErrorIs(t, <-s.ended, context.Canceled)
		p.lost()
	})
}

func TestReconnectResumes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer string
		want   string
		keepMe bool
	}{
		"nothing changed": {`{"type":"delta","board":"b","from":7,"seq":7,"total":3,"rows":[],"len":3}`, "abc", true},
		"a delta": {`{"type":"delta","board":"b","from":7,"seq":9,"total":3,"rows":[[0,{"rank":1,"member":"b",` +
			`"score":50}],[1,{"rank":2,"member":"a","score":30}]],"len":3}`, "bac", true},
		"a snapshot": {`{"type":"snapshot","board":"b","epoch":"e","seq":3,"total":1,"top":[{"rank":1,"member":"x","score":1}]}`, "x", true},
		"another epoch": {`{"type":"snapshot","board":"b","epoch":"f","seq":3,"total":1,"top":[{"rank":1,"member":"x","score":1}]}`,
			"x", false},
	} {
		t.Run(name, func(t *testing.T) {
			watching(t, Config{}, Watch{Me: "m"}, func(t *testing.T, s *scripted, p *peer) {
				require.Equal(t, map[string]any{"type": "subscribe", "id": 1.0, "board": "b", "top": 10.0, "me": "m", "info": true}, p.read())
				p.snapshot("e", 7)
				s.untilState(Live)
				p.send(`{"type":"me","board":"b","seq":7,"rank":4,"score":5,"total":4}`)
				s.until(func(b Board) bool { return b.Me != nil })
				at := time.Now()
				p.drop()
				away := s.untilState(Away)
				require.Equal(t, "abc", members(away), "what was held stays")
				require.Error(t, away.Err)
				require.Equal(t, at, away.AsOf)

				p = <-s.peers
				require.Equal(t, map[string]any{"life": "life-e", "seq": 7.0}, p.read()["resume"])
				p.send("%s", c.answer)
				b := s.untilState(Live)
				require.Equal(t, c.want, members(b))
				require.Equal(t, c.keepMe, b.Me != nil, "a rank of another life of the board is not shown")
				require.True(t, b.AsOf.IsZero())
				require.NoError(t, b.Err)
				p.drop()
			})
		})
	}
}

// What does not build on what is held is never shown: the board is asked for
// again, and not to be resumed.
func TestMissingFrame(t *testing.T) {
	t.Parallel()
	for name, delta := range map[string]string{
		"from":      `{"type":"delta","board":"b","from":8,"seq":9,"total":3,"rows":[],"len":3}`,
		"hole":      `{"type":"delta","board":"b","from":7,"seq":9,"total":3,"rows":[[4,{"rank":5,"member":"x","score":1}]],"len":4}`,
		"beyond":    `{"type":"delta","board":"b","from":7,"seq":9,"total":3,"rows":[[3,{"rank":5,"member":"x","score":1}]],"len":3}`,
		"negative":  `{"type":"delta","board":"b","from":7,"seq":9,"total":3,"rows":[[-1,{"rank":5,"member":"x","score":1}]],"len":3}`,
		"too long":  `{"type":"delta","board":"b","from":7,"seq":9,"total":3,"rows":[],"len":4}`,
		"endless":   `{"type":"delta","board":"b","from":7,"seq":9,"total":3,"rows":[],"len":4000000000000}`,
		"below":     `{"type":"delta","board":"b","from":7,"seq":9,"total":3,"rows":[],"len":-1}`,
		"twice one": `{"type":"delta","board":"b","from":7,"seq":9,"total":3,"rows":[[0,{"rank":1,"member":"b","score":30}]],"len":3}`,
	} {
		t.Run(name, func(t *testing.T) {
			watching(t, Config{}, Watch{}, func(t *testing.T, s *scripted, p *peer) {
				s.live(p, 7)
				gap := time.Now()
				p.send("%s", delta)
				b := s.untilState(Away)
				require.Equal(t, "abc", members(b))
				require.EqualValues(t, 7, b.Seq)
				require.Equal(t, "unsubscribe", p.read()["type"])
				p.send(`{"type":"delta","board":"b","from":7,"seq":8,"total":9,"rows":[],"len":3}`) // was on its way
				m := p.read()
				require.Equal(t, "subscribe", m["type"])
				require.NotContains(t, m, "resume")
				require.Equal(t, 250*time.Millisecond, time.Since(gap))
				p.snapshot("e", 10)
				b = s.untilState(Live)
				require.EqualValues(t, 10, b.Seq)
				require.EqualValues(t, 3, b.Total)

				// A second gap at once waits for longer; a delta that fits ends that.
				p.send(`{"type":"delta","board":"b","from":8,"seq":9,"total":3,"rows":[],"len":3}`)
				p.read()
				gap = time.Now()
				p.read()
				require.Equal(t, 500*time.Millisecond, time.Since(gap))
				p.snapshot("e", 20)
				p.send(`{"type":"delta","board":"b","from":20,"seq":21,"total":3,"rows":[],"len":3}`)
				p.send(`{"type":"delta","board":"b","from":8,"seq":9,"total":3,"rows":[],"len":3}`)
				p.read()
				gap = time.Now()
				p.read()
				require.Equal(t, 250*time.Millisecond, time.Since(gap))
				p.drop()
			})
		})
	}
}

// A connection that has gone silent is noticed, whether or not the other side
// still takes what is sent.
func TestHalfOpenConnection(t *testing.T) {
	t.Parallel()
	for name, reads := range map[string]bool{"takes what is sent": true, "takes nothing": false} {
		t.Run(name, func(t *testing.T) {
			watching(t, Config{}, Watch{}, func(t *testing.T, s *scripted, p *peer) {
				s.live(p, 7)

				// Asked in time, it lives.
				start := time.Now()
				m := p.read()
				require.Equal(t, "ping", m["type"])
				require.Equal(t, 20*time.Second, time.Since(start))
				p.send(`{"type":"pong","id":%v}`, m["id"])

				start = time.Now()
				if reads {
					require.Equal(t, "ping", p.read()["type"])
				}
				require.Equal(t, start, s.untilState(Away).AsOf)
				require.Equal(t, 25*time.Second, time.Since(start))
				p.drop()
				p = <-s.peers
				p.drop()
			})
		})
	}
}

func TestReconnectDelay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end  func(p *peer)
		wait time.Duration
	}{
		"cut":        {func(p *peer) { p.drop() }, 250 * time.Millisecond},
		"going away": {func(p *peer) { p.close(1001, "") }, 250 * time.Millisecond},
		"policy":     {func(p *peer) { p.close(1008, "too many messages") }, 4 * time.Second},
		"overloaded": {func(p *peer) { p.close(1013, "") }, 4 * time.Second},
		"reconnect":  {func(p *peer) { p.close(4499, "") }, 250 * time.Millisecond},
		"not JSON":   {func(p *peer) { p.send("{"); p.lost() }, 250 * time.Millisecond},
		"bye": {func(p *peer) { p.send(`{"type":"bye","reason":"drain","retry_ms":1800}`); p.close(1001, "") },
			2700 * time.Millisecond},
		"bye, for long":  {func(p *peer) { p.send(`{"type":"bye","reason":"drain","retry_ms":9000000}`); p.close(1001, "") }, 90 * time.Second},
		"bye, no matter": {func(p *peer) { p.send(`{"type":"bye","reason":"drain"}`); p.close(1001, "") }, 250 * time.Millisecond},
		"no last words":  {func(p *peer) { p.ws.CloseNow(); close(p.gone) }, 250 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			watching(t, Config{}, Watch{}, func(t *testing.T, s *scripted, p *peer) {
				s.live(p, 7)
				c.end(p)
				s.untilState(Away)
				start := time.Now()
				p = <-s.peers
				require.Equal(t, c.wait, time.Since(start))
				p.drop()
			})
		})
	}
}

// Waits grow while a server stays away, up to 15 s, and start small again after
// a connection that lasted.
func TestBackoffGrows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScriptedSockets(t)
		s.start(Watch{})
		var waits []time.Duration
		p := <-s.peers
		for range 9 {
			p.drop()
			s.until(func(b Board) bool { return b.Err != nil })
			start := time.Now()
			p = <-s.peers
			waits = append(waits, time.Since(start))
		}
		ms := time.Millisecond
		require.Equal(t, []time.Duration{250 * ms, 500 * ms, 1000 * ms, 2000 * ms, 4000 * ms, 8000 * ms, 15000 * ms, 15000 * ms,
			15000 * ms}, waits)
		time.Sleep(5 * time.Second) // simulated
		p.drop()
		start := time.Now()
		p = <-s.peers
		require.Equal(t, 250*ms, time.Since(start))
		p.drop()
	})
}

func TestPermanentRefusalEndsWatch(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end  func(p *peer)
		want Error
	}{
		"unknown board": {func(p *peer) {
			p.read()
			p.send(`{"type":"error","id":1,"code":"unknown_board","message":"no such board","field":"board"}`)
		}, Error{Code: "unknown_board", Message: "no such board", Field: "board"}},
		"not about one message": {func(p *peer) { p.read(); p.send(`{"type":"error","code":"forbidden","message":"no"}`) },
			Error{Code: "forbidden", Message: "no"}},
		"close code": {func(p *peer) { p.close(4500, "go away") }, Error{Code: "closed", Message: "go away"}},
		"close code, no words": {func(p *peer) { p.close(4999, "") },
			Error{Code: "closed", Message: "the server closed the connection for good (4999)"}},
	} {
		t.Run(name, func(t *testing.T) {
			watching(t, Config{}, Watch{}, func(t *testing.T, s *scripted, p *peer) {
				c.end(p)
				var e *Error
				require.ErrorAs(t, <-s.ended, &e)
				require.Equal(t, c.want, *e)
				if strings.HasPrefix(name, "close code") {
					return
				}
				p.lost()
			})
		})
	}
}

func TestTemporaryRefusal(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"unavailable", "overloaded", "rate_limited", "limit_reached"} {
		watching(t, Config{}, Watch{}, func(t *testing.T, s *scripted, p *peer) {
			id := p.read()["id"]
			for _, wait := range []time.Duration{250 * time.Millisecond, 500 * time.Millisecond} {
				p.send(`{"type":"error","id":99,"code":"unknown_board","message":"is about something else"}`)
				p.send(`{"type":"error","id":%v,"code":%q,"message":"later"}`, id, code)
				start := time.Now()
				require.Error(t, s.until(func(b Board) bool { return b.Err != nil }).Err)
				id = p.read()["id"]
				require.Equal(t, wait, time.Since(start))
			}
			p.snapshot("e", 1)
			s.untilState(Live)
			p.drop()
		})
	}
}

func TestStale(t *testing.T) {
	t.Parallel()
	watching(t, Config{}, Watch{}, func(t *testing.T, s *scripted, p *peer) {
		p.read()
		p.send(`{"type":"status","stale":true}`) // before anything was known
		require.True(t, s.untilState(Stale).AsOf.IsZero())
		p.send(`{"type":"status","stale":false}`)
		s.untilState(Connecting)
		p.snapshot("e", 7)
		s.untilState(Live)
		p.send(`{"type":"status","stale":true,"as_of":"2026-11-20T08:00:00.250Z"}`)
		b := s.untilState(Stale)
		require.Equal(t, time.Date(2026, 11, 20, 8, 0, 0, 250e6, time.UTC), b.AsOf)
		require.Equal(t, "abc", members(b))
		p.send(`{"type":"status","stale":false}`)
		require.True(t, s.untilState(Live).AsOf.IsZero())
		p.send(`{"type":"status","stale":true,"as_of":"2026-11-20T08:00:00.250Z"}`)
		s.untilState(Stale)
		p.drop()
		require.Equal(t, b.AsOf, s.untilState(Away).AsOf, "since when it is old stays known")
	})
}

// A show that is slow holds nobody up: it gets the newest state next.
func TestSlowShow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScriptedSockets(t)
		ctx, cancel := context.WithCancel(t.Context())
		showing, goOn := make(chan Board), make(chan struct{})
		go func() {
			s.ended <- s.Watch(ctx, "b", Watch{}, func(b Board) {
				showing <- b
				<-goOn
			})
		}()
		require.Equal(t, Connecting, (<-showing).State)
		p := <-s.peers
		p.read()
		for seq := range 1000 {
			p.snapshot("e", seq)
		}
		synctest.Wait()
		goOn <- struct{}{}
		require.EqualValues(t, 999, (<-showing).Seq)
		cancel()
		goOn <- struct{}{}
		require.ErrorIs(t, <-s.ended, context.Canceled)
		p.lost()
	})
}

// turn sends the last of one period and the first of the next.
func (p *peer) turn(closed, open string) {
	p.send(`{"type":"snapshot","board":"b","period":%q,"ends":"2026-11-23T00:00:00.000Z","final":true,"epoch":"e%s","seq":9,`+
		`"total":1,"top":[{"rank":1,"member":"a","score":%s0}]}`, closed, closed, closed)
	p.send(`{"type":"snapshot","board":"b","period":%q,"ends":"2026-11-24T00:00:00.000Z","epoch":"","seq":0,"total":0,"top":[]}`, open)
}

// When a period turns its last state is shown, and then the next period's.
func TestRollover(t *testing.T) {
	t.Parallel()
	monday := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	watching(t, Config{}, Watch{Me: "m"}, func(t *testing.T, s *scripted, p *peer) {
		p.read()
		p.send(`{"type":"snapshot","board":"b","period":"1","ends":"2026-11-23T00:00:00.000Z","epoch":"e1","seq":8,"total":1,` +
			`"top":[{"rank":1,"member":"a","score":9}]}`)
		b := s.untilState(Live)
		require.Equal(t, "1", b.Period)
		require.Equal(t, monday, b.Ends)
		require.False(t, b.Final)
		p.send(`{"type":"delta","board":"b","from":8,"seq":9,"total":1,"rows":[[0,{"rank":1,"member":"a","score":10}]],"len":1}`)
		p.send(`{"type":"me","board":"b","seq":9,"rank":4,"score":5,"total":4}`)
		b = s.until(func(b Board) bool { return b.Me != nil })
		require.Equal(t, monday, b.Ends, "that the period ends is not forgotten over a delta")
		p.turn("1", "2")
		me := b.Me
		require.Equal(t, Board{Board: "b", Period: "1", Ends: monday, Final: true, Epoch: "e1", Seq: 9, Total: 1,
			Top: []Entry{{1, "a", 10, nil, "", "", nil}}, Me: me, State: Live}, <-s.shown)
		require.Equal(t, Board{Board: "b", Period: "2", Ends: monday.AddDate(0, 0, 1), Top: []Entry{}, State: Live}, <-s.shown,
			"and nothing of the one before is left")
		p.send(`{"type":"snapshot","board":"b","period":"","ends":null,"epoch":"x","seq":1,"total":0,"top":[]}`)
		require.True(t, (<-s.shown).Ends.IsZero())
		p.drop()
	})

	// A show that is busy meanwhile misses no last state, unless there is another after it.
	synctest.Test(t, func(t *testing.T) {
		s := newScriptedSockets(t)
		ctx, cancel := context.WithCancel(t.Context())
		showing, goOn := make(chan Board), make(chan struct{})
		go func() {
			s.ended <- s.Watch(ctx, "b", Watch{}, func(b Board) {
				showing <- b
				<-goOn
			})
		}()
		next := func() string {
			synctest.Wait()
			goOn <- struct{}{}
			b := <-showing
			return fmt.Sprint(b.Period, " ", b.Final, " ", b.State)
		}
		<-showing
		p := <-s.peers
		p.read()
		p.turn("1", "2")
		p.send(`{"type":"status","stale":true}`)
		require.Equal(t, "1 true live", next())
		require.Equal(t, "2 false stale", next())
		p.send(`{"type":"status","stale":false}`)
		p.turn("2", "3")
		p.turn("3", "4")
		require.Equal(t, "3 true live", next())
		require.Equal(t, "4 false live", next())
		cancel()
		goOn <- struct{}{}
		require.ErrorIs(t, <-s.ended, context.Canceled)
		p.lost()
	})
}

func TestRefusedHandshake(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScriptedSockets(t)
		answers := []int{503, 502, 404}
		s.refuse = func(w http.ResponseWriter) bool {
			status := answers[0]
			answers = answers[1:]
			if status == 503 {
				w.Header().Set("Retry-After", "10")
			}
			w.WriteHeader(status)
			w.Write([]byte(`{"code":"not_found","detail":"no such page"}`))
			return true
		}
		start := time.Now()
		s.start(Watch{})
		var e *Error
		require.ErrorAs(t, <-s.ended, &e)
		require.Equal(t, Error{Status: 404, Code: "not_found", Message: "no such page"}, *e)
		require.Equal(t, 15*time.Second+500*time.Millisecond, time.Since(start))
	})
}

// Whatever show does, nothing is left behind.
func TestShowThatPanics(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScriptedSockets(t)
		go func() { (<-s.peers).lost() }()
		require.PanicsWithValue(t, "no", func() {
			s.Watch(t.Context(), "b", Watch{}, func(Board) {
				synctest.Wait() // until it is connected
				panic("no")
			})
		})
	})
}
