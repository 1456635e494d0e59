package ranking

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rankcast/ranking/definition"
	"rankcast/ranking/proptest"
	"rankcast/ranking/redistest"
	"rankcast/ranking/sortkey"
)

// windowDefinition is that of a family with a window.
func windowDefinition(board string, lengths, refreshes []time.Duration) *rapid.Generator[definition.Board] {
	return rapid.Custom(func(t *rapid.T) definition.Board {
		d := definition.Board{
			Name: board + ":{x}", Kind: board,
			Mode:    rapid.SampledFrom([]definition.Mode{definition.Sum, definition.Sum, definition.Best, definition.Last}).Draw(t, "mode"),
			Order:   anyOrder.Draw(t, "order"),
			Ties:    anyTies.Draw(t, "ties"),
			Window:  rapid.SampledFrom(lengths).Draw(t, "window"),
			Refresh: rapid.SampledFrom(refreshes).Draw(t, "refresh"),
		}
		if d.Mode == definition.Sum && rapid.Bool().Draw(t, "live") {
			d.Refresh = definition.Live
		}
		return d
	})
}

// windowMembers have ids that a careless reader of events would take apart wrongly.
var windowMembers = []string{"a", "a|1", "a|1|2", "|", "b", "é"}

// windowHistory is what happens to one board with a window on simulated time, and to its
// model.
type windowHistory struct {
	t     *rapid.T
	w     *world
	s     *Store
	m     *windowModel
	board string
	built int64 // when the result was built that the model has, µs since 1970; 0: there is none, or it is no good any more
	epoch string
	ids   int
	sent  []windowSent
	given []windowSent
}

// windowSent is an update that came through with an id, or an event.
type windowSent struct {
	update   definition.Update
	at       time.Time // when it was sent
	answered Result
	n        int64 // of what it adds; 0: nothing
	taken    bool
	erased   bool // its member was erased since, so it cannot be taken back
}

func (h *windowHistory) now() int64 { return h.w.now.UnixMilli() }

func (h *windowHistory) member() string {
	return rapid.SampledFrom(windowMembers).Draw(h.t, "member")
}

func (h *windowHistory) score() int64 {
	return rapid.OneOf(rapid.Int64Range(-3, 4), rapid.Int64Range(-3, 4), rapid.Int64Range(-30, 30),
		rapid.SampledFrom([]int64{definition.MaxScore, -definition.MaxScore, definition.MaxScore - 1})).Draw(h.t, "score")
}

// time is when an update is said to have been: zero for now.
func (h *windowHistory) time() time.Time {
	ms := func(at int64) time.Time { return time.UnixMilli(at).UTC() }
	length := h.m.def.Window.Milliseconds()
	switch rapid.IntRange(0, 9).Draw(h.t, "at") {
	case 0:
		return ms(h.now() - length)
	case 1:
		return ms(h.now() - length + 1)
	case 2:
		return ms(h.now() + definition.MaxAhead.Milliseconds() + rapid.Int64Range(-1, 1).Draw(h.t, "ahead"))
	case 3:
		return ms(h.now() - 1)
	case 4, 5:
		return ms(h.now() - rapid.Int64Range(0, length-1).Draw(h.t, "ago"))
	default:
		return time.Time{}
	}
}

// update draws one, maybe a retry.
func (h *windowHistory) update() definition.Update {
	known := slices.DeleteFunc(slices.Clone(h.sent), func(s windowSent) bool { return h.w.now.Sub(s.at) > 9*time.Minute })
	if len(known) > 0 && rapid.IntRange(0, 5).Draw(h.t, "retry") == 0 {
		u := rapid.SampledFrom(known).Draw(h.t, "of").update
		if rapid.IntRange(0, 4).Draw(h.t, "other") == 0 {
			u.Score = (u.Score + 1) % 7
		}
		return u
	}
	u := definition.Update{Member: h.member(), Score: h.score(), At: h.time()}
	u.If = rapid.SampledFrom([]definition.Condition{"", "", "", "", definition.Exists, definition.Absent}).Draw(h.t, "if")
	if h.m.def.IsLive() || rapid.IntRange(0, 9).Draw(h.t, "data") == 0 {
		u.Data = rapid.SampledFrom([]string{"", "", "null", "1", "2"}).Draw(h.t, "data")
	}
	u.Op = rapid.SampledFrom([]definition.Mode{"", "", "", "", "", h.m.def.Mode, definition.Best}).Draw(h.t, "op")
	if rapid.IntRange(0, 2).Draw(h.t, "with id") == 0 {
		h.ids++
		u.ID = fmt.Sprint(h.m.def.Name, h.ids)
	}
	return u
}

// swept has what is over go where that is more than an update would have go.
func (h *windowHistory) swept() {
	n := must(h.w.rdb.ZCount(context.Background(), h.s.keys.Board(h.board, "").Window[0], "-inf",
		strconv.FormatInt(h.m.over(h.now()), 10)).Result())(h.t)
	if n > 32 {
		must(h.s.sweepWindow(context.Background(), h.board))(h.t)
	}
}

func (h *windowHistory) send() {
	h.swept()
	updates := make([]definition.Update, rapid.IntRange(1, 4).Draw(h.t, "updates"))
	for i := range updates {
		updates[i] = h.update()
	}
	got := must(h.s.Apply(context.Background(), h.board, updates))(h.t)
	for i, u := range updates {
		first := slices.IndexFunc(h.sent, func(s windowSent) bool { return u.ID != "" && s.update.ID == u.ID })
		if first >= 0 {
			was := h.sent[first]
			if was.update.Score != u.Score {
				require.ErrorIs(h.t, got[i].Err, definition.ErrIDMismatch)
				continue
			}
			was.answered.Duplicate = true
			require.Equal(h.t, Outcome{Result: was.answered}, got[i], "retry of %+v", u)
			continue
		}
		require.NoError(h.t, h.m.update(write{Update: u}, h.now()).meets(got[i]), "update %+v", u)
		if u.ID != "" && got[i].Err == nil {
			h.sent = append(h.sent, windowSent{update: u, at: h.w.now, answered: got[i].Result})
		}
	}
}

func (h *windowHistory) remove() {
	h.swept()
	member := h.member()
	got, err := h.s.Remove(context.Background(), h.board, member)
	require.NoError(h.t, h.m.update(write{definition.Update{Member: member}, removing},
		h.now()).meets(Outcome{Result: got, Err: err}), "remove %s", member)
}

func (h *windowHistory) set() {
	h.swept()
	member, score := h.member(), h.score()
	got, err := h.s.SetScore(context.Background(), h.board, member, score, Moderator{Reason: "law"})
	require.NoError(h.t, h.m.update(write{definition.Update{Member: member, Score: score}, setting},
		h.now()).meets(Outcome{Result: got, Err: err}), "set %s to %d", member, score)
}

func (h *windowHistory) hide() {
	hideOrShow(h.t, h.s, h.m, h.board)
}

// hideOrShow hides a member, or shows one that is hidden.
func hideOrShow(t *rapid.T, s *Store, m *windowModel, board string) {
	member := rapid.SampledFrom(windowMembers).Draw(t, "member")
	hide, do := !m.hidden[member], s.Hide
	if !hide {
		do = s.Show
	}
	require.NoError(t, do(context.Background(), board, member, Moderator{}))
	m.hide(member, hide)
}

// windowFields are those of an event that gives a member points.
func windowFields(member string, score int64) map[string]jsontext.Value {
	return map[string]jsontext.Value{"x": jsontext.Value(`"1"`), "m": jsontext.Value(strconv.Quote(member)),
		"s": jsontext.Value(fmt.Sprint(score))}
}

// give is an event, which can be taken back; maybe one that happened before.
func (h *windowHistory) give() {
	h.swept()
	s := windowSent{update: definition.Update{Member: h.member(), Score: h.score()}, at: h.w.now}
	h.ids++
	s.update.ID = fmt.Sprint("e", h.ids)
	again := -1
	if known := h.known(); len(known) > 0 && rapid.IntRange(0, 3).Draw(h.t, "again") == 0 {
		again = rapid.SampledFrom(known).Draw(h.t, "given")
		s = h.given[again]
	} else {
		s.update.At = h.time()
	}
	fields := windowFields(s.update.Member, s.update.Score)
	if !s.update.At.IsZero() {
		fields[definition.AtField] = jsontext.Value(fmt.Sprint(s.update.At.UnixMilli()))
	}
	happened, err := h.s.ApplyEvents(context.Background(), h.m.def.Kind, []EventCall{{ID: s.update.ID, Fields: fields}})
	require.NoError(h.t, err)
	require.NoError(h.t, happened[0].Err)
	got := happened[0].Outcomes[0]
	switch {
	case again >= 0 && s.taken:
		require.NoError(h.t, got.Err)
		require.True(h.t, got.Result.TakenBack)
		return
	case again >= 0 && s.n > 0:
		s.answered.Duplicate = true
		require.Equal(h.t, Outcome{Result: s.answered}, got)
		return
	}
	require.NoError(h.t, h.m.update(write{Update: s.update}, h.now()).meets(got), "event %+v", s.update)
	if got.Err == nil {
		s.n = h.m.events[len(h.m.events)-1].n
	}
	s.answered = got.Result
	if again >= 0 {
		h.given[again] = s
	} else {
		h.given = append(h.given, s)
	}
}

// known are the events that can be taken back still.
func (h *windowHistory) known() (known []int) {
	for i, s := range h.given {
		if h.w.now.Sub(s.at) < 9*time.Minute {
			known = append(known, i)
		}
	}
	return known
}

func (h *windowHistory) takeBack() {
	known := h.known()
	if len(known) == 0 {
		return
	}
	h.swept()
	s := &h.given[rapid.SampledFrom(known).Draw(h.t, "given")]
	h.m.sweep(h.now())
	was := h.m.standing(s.update.Member)
	took, err := h.s.TakeBack(context.Background(), h.m.def.Kind, s.update.ID, nil, Moderator{})
	if s.erased {
		require.ErrorIs(h.t, err, definition.ErrConflict)
		require.ErrorContains(h.t, err, "erased")
		return
	}
	require.NoError(h.t, err)
	require.True(h.t, took.Outcomes[0].Result.TakenBack)
	if !s.taken {
		h.m.takeBack(s.n, h.now())
	}
	s.taken = true
	require.NoError(h.t, windowAnswer{was: was, is: h.m.standing(s.update.Member)}.meets(took.Outcomes[0]), "taken back %+v", s.update)
}

func (h *windowHistory) erase() {
	if rapid.IntRange(0, 2).Draw(h.t, "seldom") > 0 {
		return
	}
	member := h.member()
	must(h.s.Erase(context.Background(), h.m.def.Kind, member, Moderator{}))(h.t)
	var told Erasure
	for i := 0; ; i++ {
		h.hear()
		e := must(h.s.Erasure(context.Background(), h.m.def.Kind, member))(h.t)
		if told = e; !e.Ended.IsZero() {
			break
		}
		require.Less(h.t, i, 9, "it is being erased still")
	}
	h.m.forget(member)
	h.m.leave(member)
	for i := range h.given {
		h.given[i].erased = h.given[i].erased || h.given[i].update.Member == member
	}
	left := h.raw()
	for _, e := range left.events {
		require.NotEqual(h.t, member, e.member, "%+v %+v", told, left)
	}
	require.NotContains(h.t, left.tallies, member)
	require.NotContains(h.t, left.forgotten, member)
}

func (h *windowHistory) delete() {
	if rapid.IntRange(0, 4).Draw(h.t, "seldom") > 0 {
		return
	}
	require.NoError(h.t, h.s.Delete(context.Background(), h.board, Moderator{}))
	_, err := h.s.catalog.readFresh(context.Background()) // who was hidden there is not any more, which is told in a moment
	require.NoError(h.t, err)
	h.m.gone()
	clear(h.m.hidden)
	h.built, h.epoch, h.sent, h.given = 0, "", nil, nil
	h.hear()
	for _, key := range h.s.keys.Board(h.board, "").All() {
		require.Zero(h.t, must(h.w.rdb.Exists(context.Background(), key).Result())(h.t), key)
	}
}

// pass moves the clock on, often to where an event is about to be over.
func (h *windowHistory) pass() {
	length, by := h.m.def.Window, time.Duration(0)
	switch rapid.IntRange(0, 7).Draw(h.t, "pass") {
	case 0:
		by = time.Duration(rapid.Int64Range(1, 5000).Draw(h.t, "µs")) * time.Microsecond
	case 1:
		by = time.Duration(rapid.Int64Range(1, length.Milliseconds()).Draw(h.t, "ms")) * time.Millisecond
	case 2:
		by = length + time.Duration(rapid.Int64Range(-1, 1).Draw(h.t, "ms"))*time.Millisecond
	case 3:
		by = rapid.SampledFrom([]time.Duration{time.Minute, 11 * time.Minute, 2 * time.Hour}).Draw(h.t, "long")
	default:
		if len(h.m.events) > 0 {
			e := rapid.SampledFrom(h.m.events).Draw(h.t, "event")
			edge := rapid.SampledFrom([]time.Duration{-time.Millisecond, -time.Microsecond, 0, time.Millisecond}).Draw(h.t, "edge")
			by = time.UnixMilli(e.ms).Add(length + edge).Sub(h.w.now)
		}
	}
	if by > 0 {
		h.w.pass(by)
		h.hear()
	}
}

// hear has the store know what time it is, and do what is due then.
func (h *windowHistory) hear() {
	must(h.s.housekeepDue(context.Background()))(h.t)
	must(h.s.eraseDue(context.Background()))(h.t)
	raw := h.raw()
	if len(raw.events) == 0 || raw.events[0].ms > h.m.over(h.now()) {
		h.m.sweep(h.now()) // as was done
	}
	if h.m.def.IsLive() || h.epoch == "" {
		return
	}
	if _, epoch := h.result(); epoch == "" { // it was let go, as nobody asked for it
		require.Greater(h.t, h.now()-h.built/1000, h.m.def.Window.Milliseconds())
		clear(h.m.placed)
		h.built, h.epoch = 0, ""
	}
}

// settle waits for what is being built, or swept, beside what is asked for.
func (h *windowHistory) settle() {
	for h.s.builds.waits(h.board) {
	}
}

// waits waits for what is under way of a board, and reports whether anything was.
func (b *builds) waits(instance string) bool {
	b.mu.Lock()
	build, sweep := b.under[instance], b.swept[instance]
	b.mu.Unlock()
	if build != nil {
		<-build.done
	}
	if sweep != nil {
		<-sweep.done
	}
	return build != nil || sweep != nil
}

// result is when the result was built that there is, and its epoch.
func (h *windowHistory) result() (built int64, epoch string) {
	values, err := h.s.rdb.HMGet(context.Background(), h.s.keys.Board(h.board, "").Meta, builtField, "epoch").Result()
	require.NoError(h.t, err)
	if text, ok := values[0].(string); ok {
		built = must(strconv.ParseInt(text, 10, 64))(h.t)
	}
	epoch, _ = values[1].(string)
	return built, epoch
}

// look reads the result: the first time maybe the one before, which another may be built
// beside.
func (h *windowHistory) look() {
	s, ctx := h.s, context.Background()
	began := time.Now()
	h.hear()
	built, epoch := h.result()
	require.True(h.t, built == h.built || built == 0, "built at %d, and again at %d, unasked", h.built, built)
	first := must(s.Page(ctx, h.board, 1, MaxPage))(h.t)
	h.settle()
	late := time.Since(began) // that the store may believe it is
	now, age := h.w.now.UnixMicro(), time.Duration(h.w.now.UnixMicro()-built)*time.Microsecond
	is, epochIs := h.result()
	if built > 0 && is == built && epochIs == epoch {
		require.Less(h.t, age, h.m.def.Refresh, "it is served when it is too old")
	} else {
		require.True(h.t, is == now || is == 0 && epochIs == "", "built at %d, not %d", is, now)
		require.True(h.t, built == 0 || age+late >= h.m.def.Refresh*5/6, "it is built anew after %v", age)
		if built > 0 && age < h.m.def.Refresh && first.Epoch == epoch {
			h.m.check(h.t, first.Entries)
		} else {
			require.Equal(h.t, epochIs, first.Epoch)
		}
		h.m.build(h.now())
	}
	h.built, h.epoch = is, epochIs
}

// read reads the board in several ways.
func (h *windowHistory) read() {
	s, t, ctx := h.s, h.t, context.Background()
	if h.m.def.IsLive() {
		h.m.sweep(h.now())
	} else {
		h.look()
	}
	page := must(s.Page(ctx, h.board, 1, MaxPage))(t)
	h.m.check(t, page.Entries)
	require.EqualValues(t, len(page.Entries), page.Total)
	require.Equal(t, page.Total, must(s.Info(ctx, h.board))(t).Total)
	var asked []Lookup
	for _, member := range windowMembers {
		asked = append(asked, Lookup{Member: member, Around: 1})
	}
	places := must(s.Places(ctx, h.board, asked))(t)
	require.Equal(t, page.Total, places.Total)
	for i, l := range asked {
		at := slices.IndexFunc(page.Entries, func(e Entry) bool { return e.Member == l.Member })
		if at < 0 {
			require.Zero(t, places.List[i].Entry.Rank, l.Member)
			continue
		}
		require.Equal(t, page.Entries[at], places.List[i].Entry)
		require.Equal(t, page.Entries[max(at-1, 0):min(at+2, len(page.Entries))], places.List[i].Around)
	}
	h.invariants()
}

// windowRaw is what Redis has of a board with a window, at one moment.
type windowRaw struct {
	events                     []windowEvent
	tallies, data              map[string]string
	forgotten, members, hidden map[string]float64
	distinct                   []redis.Z
}

func readWindow(t require.TestingT, s *Store, board string) windowRaw {
	ctx, k := context.Background(), s.keys.Board(board, "")
	pipe := s.rdb.TxPipeline()
	events, tallies, forgotten := pipe.ZRangeWithScores(ctx, k.Window[0], 0, -1), pipe.HGetAll(ctx, k.Window[1]),
		pipe.ZRangeWithScores(ctx, k.Window[2], 0, -1)
	members, hidden, distinct, data := pipe.ZRangeWithScores(ctx, k.Members, 0, -1), pipe.ZRangeWithScores(ctx, k.Hidden, 0, -1),
		pipe.ZRangeWithScores(ctx, k.Distinct, 0, -1), pipe.HGetAll(ctx, k.Data)
	must(pipe.Exec(ctx))(t)
	scores := func(c *redis.ZSliceCmd) map[string]float64 {
		of := make(map[string]float64)
		for _, z := range c.Val() {
			of[z.Member.(string)] = z.Score
		}
		return of
	}
	raw := windowRaw{tallies: tallies.Val(), data: data.Val(), forgotten: scores(forgotten), members: scores(members),
		hidden: scores(hidden), distinct: distinct.Val()}
	for _, z := range events.Val() {
		member, n, score, ok := parseWindowEvent(z.Member.(string))
		require.True(t, ok, z.Member)
		raw.events = append(raw.events, windowEvent{member, score, int64(z.Score), n})
	}
	return raw
}

func (h *windowHistory) raw() windowRaw { return readWindow(h.t, h.s, h.board) }

// counting are the events that are not forgotten.
func (r windowRaw) counting() []windowEvent {
	return slices.DeleteFunc(slices.Clone(r.events), func(e windowEvent) bool {
		since, forgotten := r.forgotten[e.member]
		return forgotten && e.n <= int64(since)
	})
}

// check wants what Redis has of a board to fit together.
func (r windowRaw) check(t require.TestingT, d definition.Board) {
	m := newWindowModel(d)
	m.events = r.counting()
	want := make(map[string]string)
	for _, e := range m.events {
		n, plus, minus := m.counts(e.member, 0)
		if d.Mode != definition.Sum {
			plus, minus = 0, 0
		}
		want[e.member] = fmt.Sprint(n, " ", plus, " ", minus)
	}
	require.Equal(t, want, r.tallies)
	tiers := make(map[float64]bool)
	for member, key := range r.members {
		tiers[math.Floor(key)] = true
		require.NotContains(t, r.hidden, member)
	}
	for member := range r.data {
		require.Contains(t, want, member)
	}
	if d.IsLive() {
		scores := m.recount(0)
		for _, set := range []map[string]float64{r.members, r.hidden} {
			for member, key := range set {
				require.Equal(t, scores[member], sortkey.Key(key).Score(d.Order), member)
			}
		}
		require.Len(t, scores, len(r.members)+len(r.hidden))
	} else {
		require.Empty(t, r.hidden)
	}
	if d.Ties != definition.Dense {
		tiers = nil
	}
	require.Len(t, r.distinct, len(tiers))
	for _, z := range r.distinct {
		require.True(t, tiers[z.Score], z)
		require.Equal(t, fmt.Sprintf("%.0f", z.Score), z.Member)
	}
}

// invariants wants Redis to have what the model has.
func (h *windowHistory) invariants() {
	raw := h.raw()
	raw.check(h.t, h.m.def)
	type counted struct {
		member    string
		score, ms int64
	}
	var has, want []counted
	for _, e := range raw.counting() {
		if e.ms > h.m.over(h.now()) {
			has = append(has, counted{e.member, e.score, e.ms})
		}
	}
	for _, e := range h.m.events {
		if e.ms > h.m.over(h.now()) {
			want = append(want, counted{e.member, e.score, e.ms})
		}
	}
	require.ElementsMatch(h.t, want, has)
}

// Whatever happens to a board with a window, it is what anybody would reckon of the
// events that count: a live one at each moment, another at the time that its result was
// built.
func TestWindowIsWhatCounts(t *testing.T) {
	t.Parallel()
	simulatedWorlds(t, 1, patient, nil, whatCounts)
}

func whatCounts(t *testing.T, w *world) {
	s, runs := w.stores[0], 0
	lengths := []time.Duration{time.Second, 90 * time.Second, 10 * time.Minute, 3 * time.Hour}
	refreshes := []time.Duration{time.Minute, 5 * time.Minute, time.Hour}
	proptest.CheckSeeded(t, redistest.Volume(w.url, 60), func(t *rapid.T) {
		runs++
		w.pass(w.now.Add(time.Hour).Truncate(time.Hour).Sub(w.now)) // all are alike, whatever was drawn before
		must(s.housekeepDue(context.Background()))(t)
		name := fmt.Sprint("w", runs)
		d := windowDefinition(name, lengths, refreshes).Draw(t, "definition")
		if rapid.IntRange(0, 2).Draw(t, "bounded") == 0 {
			d.Min, d.Max = new(int64(-8)), new(int64(20))
			if d.Mode == definition.Sum {
				d.MaxChange = 12
			}
		}
		ctx := context.Background()
		require.NoError(t, s.Define(ctx, definition.Set{Boards: []definition.Board{d},
			Events: []definition.Event{{Name: name, Updates: []definition.Target{{Board: d.Name, Member: "{m}", Score: "{s}"}}}}}))
		d = must(s.Definition(ctx, d.Name))(t)
		h := &windowHistory{t: t, w: w, s: s, m: newWindowModel(d), board: name + ":1"}
		moves := map[string]func(){
			"send": h.send, "send more": h.send, "send still more": h.send, "remove": h.remove, "set": h.set, "hide": h.hide,
			"give": h.give, "give more": h.give, "take back": h.takeBack, "erase": h.erase, "delete": h.delete,
			"pass": h.pass, "pass more": h.pass, "pass still more": h.pass, "read": h.read, "read more": h.read,
		}
		acts := make(map[string]func(*rapid.T))
		for name, move := range moves {
			acts[name] = func(*rapid.T) { move() }
		}
		t.Repeat(acts)
		h.read()
		w.pass(d.Window)
		if !d.IsLive() {
			w.pass(d.Refresh)
		}
		h.hear()
		h.read()
		require.Empty(t, h.m.list())
		require.NoError(t, s.DeleteEvent(ctx, name, Moderator{}))
		require.NoError(t, s.Delete(ctx, d.Name, Moderator{}))
	})
}

// What is over does not stand in the way of who comes anew, also when the board was not
// written to for so long that it has to be listed first.
func TestConditionAfterALongTime(t *testing.T) {
	t.Parallel()
	for _, refresh := range []time.Duration{time.Minute, definition.Live} {
		w, s := simulatedNode(t, definition.Board{Name: "b", Window: 3 * time.Hour, Refresh: refresh})
		w.write(s, "b", "x", 5)
		w.pass(3 * time.Hour)
		o := apply(t, s, "b", definition.Update{Member: "x", Score: 2, If: definition.Absent})
		require.NoError(t, o.Err)
		require.Nil(t, o.Result.Previous)
		must(s.housekeepDue(t.Context()))(t)
		require.Equal(t, map[string]int64{"x": 2}, scoresOf(whole(t, s, "b")))
	}
}
