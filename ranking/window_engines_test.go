package ranking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rankcast/ranking/definition"
	"rankcast/ranking/proptest"
	"rankcast/ranking/redistest"
)

// passingWindow is a board with a window on a Redis whose time passes as it does. Its model
// has each event at the time that Redis noted, which is seen to be one that it may be.
type passingWindow struct {
	t     *rapid.T
	s     *Store
	m     *windowModel
	board string
	built int64 // when the result was built that the model has, µs since 1970
	seen  map[int64]bool
	given map[string]int64 // events by id to the n of what they added
}

// micros is Redis's time, in µs since 1970.
func (p *passingWindow) micros() int64 {
	return must(p.s.rdb.Time(context.Background()).Result())(p.t).UnixMicro()
}

func (p *passingWindow) now() int64 { return p.micros() / 1000 }

func (p *passingWindow) draw() definition.Update {
	return definition.Update{Member: rapid.SampledFrom(windowMembers).Draw(p.t, "member"), Score: rapid.Int64Range(-3, 6).Draw(p.t, "score")}
}

// note takes an event into the model that was sent after a moment. It says its n, or 0
// where it was over before it was looked at.
func (p *passingWindow) note(u definition.Update, before int64) int64 {
	after, n := p.now(), int64(0)
	for _, e := range readWindow(p.t, p.s, p.board).counting() {
		if p.seen[e.n] {
			continue
		}
		require.Zero(p.t, n, "one update has made two events")
		require.Equal(p.t, [2]any{u.Member, u.Score}, [2]any{e.member, e.score})
		if u.At.IsZero() || u.At.UnixMilli() > after {
			require.True(p.t, before <= e.ms && e.ms <= after, "%d is not within %d..%d", e.ms, before, after)
		} else {
			require.True(p.t, e.ms == u.At.UnixMilli() || u.At.UnixMilli() > before && before <= e.ms && e.ms <= u.At.UnixMilli(),
				"%d is not %v", e.ms, u.At)
		}
		n = e.n
		p.seen[n] = true
		p.m.events = append(p.m.events, e)
	}
	if n == 0 {
		at := before
		if !u.At.IsZero() {
			at = min(at, u.At.UnixMilli())
		}
		require.LessOrEqual(p.t, at, p.m.over(p.now()), "%+v is not there", u)
	}
	return n
}

func (p *passingWindow) send() {
	before, u := p.now(), p.draw()
	switch rapid.IntRange(0, 4).Draw(p.t, "at") {
	case 0:
		u.At = time.UnixMilli(before - rapid.Int64Range(0, p.m.def.Window.Milliseconds()+20).Draw(p.t, "ago"))
	case 1:
		u.At = time.UnixMilli(before + rapid.Int64Range(0, 4000).Draw(p.t, "ahead"))
	}
	o := must(p.s.Apply(context.Background(), p.board, []definition.Update{u}))(p.t)
	if o[0].Err != nil {
		require.ErrorIs(p.t, o[0].Err, definition.ErrOutOfRange)
		require.False(p.t, u.At.IsZero())
		require.LessOrEqual(p.t, u.At.UnixMilli(), p.m.over(p.now()))
		return
	}
	require.True(p.t, u.At.IsZero() || u.At.UnixMilli() > p.m.over(before), "%v counts, which was over", u.At)
	p.note(u, before)
}

func (p *passingWindow) remove() {
	member := rapid.SampledFrom(windowMembers).Draw(p.t, "member")
	before := p.now()
	n, _, _ := p.m.counts(member, before)
	_, err := p.s.Remove(context.Background(), p.board, member)
	if m, _, _ := p.m.counts(member, p.now()); m > 0 {
		require.NoError(p.t, err)
	} else if n == 0 && !p.m.there(member) {
		require.ErrorIs(p.t, err, definition.ErrUnknownMember)
	}
	p.m.forget(member)
	p.m.leave(member)
}

func (p *passingWindow) set() {
	before, u := p.now(), p.draw()
	must(p.s.SetScore(context.Background(), p.board, u.Member, u.Score, Moderator{Reason: "law"}))(p.t)
	p.m.forget(u.Member)
	p.note(u, before)
}

func (p *passingWindow) hide() {
	hideOrShow(p.t, p.s, p.m, p.board)
}

func (p *passingWindow) give() {
	before, u := p.now(), p.draw()
	id := strconv.Itoa(len(p.given))
	h, err := p.s.ApplyEvents(context.Background(), p.m.def.Kind, []EventCall{{ID: id, Fields: windowFields(u.Member, u.Score)}})
	require.NoError(p.t, err)
	require.NoError(p.t, cmp.Or(h[0].Err, h[0].Outcomes[0].Err))
	p.given[id] = p.note(u, before)
}

func (p *passingWindow) takeBack() {
	if len(p.given) == 0 {
		return
	}
	id := rapid.SampledFrom(slices.Sorted(maps.Keys(p.given))).Draw(p.t, "given")
	must(p.s.TakeBack(context.Background(), p.m.def.Kind, id, nil, Moderator{}))(p.t)
	p.m.events = slices.DeleteFunc(p.m.events, func(e windowEvent) bool { return e.n == p.given[id] })
}

// shown is who is on a board by what counts at a time.
func (p *passingWindow) shown(now int64) map[string]int64 {
	scores := p.m.recount(now)
	maps.DeleteFunc(scores, func(member string, _ int64) bool { return p.m.hidden[member] })
	return scores
}

// read wants a live board to be what counts at one moment between the call and the
// answer, and a result what counted when it was built.
func (p *passingWindow) read() {
	ctx, k := context.Background(), p.s.keys.Board(p.board, "")
	defer func() { readWindow(p.t, p.s, p.board).check(p.t, p.m.def) }()
	if p.m.def.IsLive() {
		from := p.now()
		page := must(p.s.Page(ctx, p.board, 1, MaxPage))(p.t)
		to, got := p.now(), scoresOf(page)
		moments := []int64{from}
		for _, e := range p.m.events {
			if end := e.ms + p.m.def.Window.Milliseconds(); from < end && end <= to {
				moments = append(moments, end)
			}
		}
		require.True(p.t, slices.ContainsFunc(moments, func(at int64) bool { return maps.Equal(got, p.shown(at)) }),
			"%v at %v, of %+v", got, moments, p.m.events)
		p.m.checkOrder(p.t, page.Entries)
		return
	}
	for {
		page := must(p.s.Page(ctx, p.board, 1, MaxPage))(p.t)
		for p.s.builds.waits(p.board) {
		}
		built := must(p.s.builtAt(ctx, k.Meta))(p.t)
		epoch := p.s.rdb.HGet(ctx, k.Meta, "epoch").Val()
		if page.Epoch != epoch {
			continue // there is a newer one meanwhile
		}
		if built != p.built || built == 0 {
			at := built / 1000
			if built == 0 {
				at = p.now()
			}
			clear(p.m.placed)
			for member, score := range p.shown(at) {
				p.m.placed[member] = windowPlace{score: score, vague: true}
			}
			p.built = built
		}
		p.m.check(p.t, page.Entries)
		return
	}
}

// On a Redis whose time passes a window is what counts as well, to the millisecond.
func TestWindowAsTimePasses(t *testing.T) {
	t.Parallel()
	s, runs := newNode(t, redistest.Start(t).URL()), 0
	proptest.CheckSeeded(t, 2, func(t *rapid.T) {
		runs++
		var boards []*passingWindow
		var all definition.Set
		for i := range 6 {
			name := fmt.Sprint("p", runs, "-", i)
			d := must(windowDefinition(name, []time.Duration{time.Second, time.Second, 2 * time.Second},
				[]time.Duration{time.Second}).Draw(t, "definition").Normalize())(t)
			all.Boards = append(all.Boards, d)
			all.Events = append(all.Events, definition.Event{Name: name, Updates: []definition.Target{{Board: d.Name, Member: "{m}", Score: "{s}"}}})
			boards = append(boards, &passingWindow{t: t, s: s, m: newWindowModel(d), board: name + ":1", seen: make(map[int64]bool),
				given: make(map[string]int64)})
		}
		require.NoError(t, s.Define(context.Background(), all))
		for range 180 {
			p := rapid.SampledFrom(boards).Draw(t, "board")
			move := rapid.SampledFrom([]func(){p.send, p.send, p.send, p.give, p.remove, p.set, p.hide, p.takeBack, p.read, p.read,
				p.read}).Draw(t, "move")
			move()
			until := p.micros() + rapid.SampledFrom([]int64{0, 4000, 8000, 16_000, 32_000}).Draw(t, "wait")
			for p.micros() < until {
			}
		}
		for _, p := range boards {
			p.read()
		}
	})
}

// What comes of a history in which no time passes is the same on both engines, in
// Redis too.
func TestWindowIsTheSameOnBothEngines(t *testing.T) {
	t.Parallel()
	stores := []*Store{newNode(t, redistest.Embedded(t)), newNode(t, redistest.Start(t).URL())}
	runs := 0
	ctx := context.Background()
	proptest.CheckSeeded(t, 25, func(t *rapid.T) {
		runs++
		name := fmt.Sprint("s", runs)
		board := name + ":1"
		d := windowDefinition(name, []time.Duration{time.Hour, 3 * time.Hour}, []time.Duration{time.Hour}).Draw(t, "definition")
		event := definition.Event{Name: name, Updates: []definition.Target{{Board: d.Name, Member: "{m}", Score: "{s}"}}}
		live := d.Refresh == definition.Live
		var began []int64
		both := func(do func(s *Store, began int64) any) {
			first, second := do(stores[0], began[0]), do(stores[1], began[1])
			require.Equal(t, first, second)
		}
		for _, s := range stores {
			require.NoError(t, s.Define(ctx, definition.Set{Boards: []definition.Board{d}, Events: []definition.Event{event}}))
			began = append(began, s.rdb.Time(ctx).Val().UnixMilli())
		}
		text := func(err error) string {
			if err == nil {
				return ""
			}
			return err.Error()
		}
		ids := 0
		for range rapid.IntRange(3, 30).Draw(t, "moves") {
			member, score := rapid.SampledFrom(windowMembers).Draw(t, "member"),
				rapid.OneOf(rapid.Int64Range(-3, 6), rapid.SampledFrom([]int64{definition.MaxScore, -definition.MaxScore})).Draw(t, "score")
			switch rapid.IntRange(0, 8).Draw(t, "move") {
			case 0:
				both(func(s *Store, _ int64) any {
					r, err := s.Remove(ctx, board, member)
					return []any{r, text(err)}
				})
			case 1:
				both(func(s *Store, _ int64) any {
					r, err := s.SetScore(ctx, board, member, score, Moderator{Reason: "law"})
					return []any{r, text(err)}
				})
			case 2:
				hide := rapid.Bool().Draw(t, "hide")
				both(func(s *Store, _ int64) any {
					if hide {
						return text(s.Hide(ctx, board, member, Moderator{}))
					}
					return text(s.Show(ctx, board, member, Moderator{}))
				})
			case 3:
				ids++
				both(func(s *Store, _ int64) any {
					h, err := s.ApplyEvents(ctx, name, []EventCall{{ID: fmt.Sprint(ids), Fields: windowFields(member, score)}})
					require.NoError(t, errors.Join(err, h[0].Err))
					return []any{h[0].Outcomes[0].Result, text(h[0].Outcomes[0].Err)}
				})
			case 4:
				id := fmt.Sprint(rapid.IntRange(0, ids).Draw(t, "id"))
				both(func(s *Store, _ int64) any {
					took, err := s.TakeBack(ctx, name, id, nil, Moderator{})
					return []any{took.Outcomes, text(err)}
				})
			default:
				u := definition.Update{Member: member, Score: score}
				ago := rapid.SampledFrom([]time.Duration{0, 0, time.Millisecond, time.Minute, 50 * time.Minute, 4 * time.Hour,
					-time.Hour}).Draw(t, "ago")
				u.If = rapid.SampledFrom([]definition.Condition{"", "", definition.Exists, definition.Absent}).Draw(t, "if")
				if rapid.Bool().Draw(t, "with id") {
					u.ID = fmt.Sprint("i", rapid.IntRange(0, 5).Draw(t, "id"))
				}
				if live {
					u.Data = rapid.SampledFrom([]string{"", "1", "null"}).Draw(t, "data")
				}
				both(func(s *Store, began int64) any {
					if ago != 0 {
						u.At = time.UnixMilli(began - ago.Milliseconds())
					}
					o := must(s.Apply(ctx, board, []definition.Update{u}))(t)
					return []any{o[0].Result, text(o[0].Err)}
				})
			}
			if !rapid.Bool().Draw(t, "read") {
				continue
			}
			both(func(s *Store, _ int64) any {
				if built, err := s.builtAt(ctx, s.keys.Board(board, "").Meta); err == nil && built > 0 {
					require.NoError(t, s.rdb.HSet(ctx, s.keys.Board(board, "").Meta, builtField, 0).Err())
				}
				p := must(s.Page(ctx, board, 1, MaxPage))(t)
				for i := range p.Entries {
					p.Entries[i].Key = 0 // which tells when
				}
				raw := readWindow(t, s, board)
				raw.check(t, d)
				return []any{p.Entries, p.Total, raw.tallies, slices.Sorted(maps.Keys(raw.forgotten)), slices.Sorted(maps.Keys(raw.hidden)),
					raw.distinct, raw.data}
			})
		}
	})
}

// A union of windows is the sum of live ones as they are and of the results of others,
// also of one that nobody has read before.
func TestUnionOfWindows(t *testing.T) {
	t.Parallel()
	w := simulated(t, 1, patient)
	s, runs := w.stores[0], 0
	ctx := context.Background()
	proptest.CheckSeeded(t, 15, func(t *rapid.T) {
		runs++
		w.pass(w.now.Add(time.Hour).Truncate(time.Hour).Sub(w.now))
		union := definition.Board{Name: fmt.Sprint("u", runs), Union: &definition.Union{}}
		var defs []definition.Board
		var sources []*windowHistory
		for i, refresh := range []time.Duration{definition.Live, time.Minute, time.Minute} {
			name := fmt.Sprint("v", runs, "-", i)
			d, err := definition.Board{Name: name + ":{x}",
				Window: rapid.SampledFrom([]time.Duration{time.Minute, 3 * time.Minute}).Draw(t, "window"), Refresh: refresh}.Normalize()
			require.NoError(t, err)
			sources = append(sources, &windowHistory{t: t, w: w, s: s, m: newWindowModel(d), board: name + ":1"})
			union.Union.Of = append(union.Union.Of, name+":1")
			union.Union.Weights = append(union.Union.Weights, rapid.SampledFrom([]int64{1, -1, 3}).Draw(t, "weight"))
			defs = append(defs, d)
		}
		require.NoError(t, s.Define(ctx, definition.Set{Boards: append(defs, union)}))
		built, want := int64(0), map[string]int64{}
		for range rapid.IntRange(5, 25).Draw(t, "steps") {
			switch rapid.IntRange(0, 6).Draw(t, "step") {
			case 0, 1, 2:
				h := rapid.SampledFrom(sources).Draw(t, "source")
				u := definition.Update{Member: h.member(), Score: rapid.Int64Range(-5, 9).Draw(t, "score")}
				o := must(s.Apply(ctx, h.board, []definition.Update{u}))(t)
				require.NoError(t, h.m.update(write{Update: u}, h.now()).meets(o[0]))
			case 3:
				sources[1].read()
			case 4, 5:
				// No result is ever so old that one is served while the next is built.
				w.pass(rapid.SampledFrom([]time.Duration{time.Millisecond, 20 * time.Second, time.Minute}).Draw(t, "by"))
			}
			sources[0].hear()
			page := must(s.Page(ctx, union.Name, 1, MaxPage))(t)
			is := must(s.builtAt(ctx, s.keys.Board(union.Name, "").Meta))(t)
			if is != built || is == 0 {
				built = is
				clear(want)
				for i, h := range sources {
					h.settle()
					if at, epoch := h.result(); i > 0 && (at != h.built || epoch != h.epoch) {
						require.True(t, at == 0 || at == w.now.UnixMicro())
						h.m.build(h.now())
						h.built, h.epoch = at, epoch
					} else if i == 0 {
						h.m.sweep(h.now())
					}
					for member, p := range h.m.placed {
						want[member] += union.Union.Weights[i] * p.score
					}
				}
			}
			require.True(t, built == 0 || w.now.UnixMicro()-built < time.Minute.Microseconds())
			require.Equal(t, want, scoresOf(page))
		}
	})
}
