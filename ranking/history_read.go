package ranking

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"rankcast/ranking/definition"
	"rankcast/ranking/history"
	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/internal/script"
)

const (
	// MaxHistoryPage is the most steps that one call of History returns.
	MaxHistoryPage = 1000
	// historyChunk is the number of steps in one command.
	historyChunk = 500
)

// HistoryQuery says which steps of a history to read.
type HistoryQuery struct {
	// From and To bound the times of the steps, both included, in whole milliseconds. The first step is
	// the one in force at From, so it may be older. Default: all steps of the period.
	From, To time.Time
	// Step, if not 0, leaves of all steps within one multiple of Step since 1970 only the last. At least
	// the step at which the board records, at most 36600d. Default: all steps.
	Step time.Duration
	// Member, if not "", reads only the place of one member: the steps at which its rank or its score
	// has changed, and its best rank.
	Member string
	// After lets the answer begin after a cursor. Default none.
	After *HistoryCursor
	// Limit is the most steps of the answer, 1 to MaxHistoryPage. The answer also ends before the step with
	// which it would name more than MaxPage members.
	Limit int
}

// HistoryCursor is a position in the history of one period: after a step.
type HistoryCursor struct {
	Period string // "" on a board without periods
	At     time.Time
}

// String encodes c for a URL.
func (c HistoryCursor) String() string { return encodeCursor(uint64(c.At.UnixMilli()), c.Period) }

// ParseHistoryCursor decodes the result of HistoryCursor.String, or returns a FieldError.
func ParseHistoryCursor(s string) (HistoryCursor, error) {
	ms, period, err := decodeCursor(s)
	if err != nil || ms == 0 || ms >= definition.Never || period != "" && definition.CheckText("cursor", period) != nil {
		return HistoryCursor{}, errCursor
	}
	return HistoryCursor{Period: period, At: time.UnixMilli(int64(ms)).UTC()}, nil
}

// History is a run of steps of the history of one period.
type History struct {
	Bounds
	Period  string             // "" on a board without periods
	Kind    string             // kind of the members, as for their profiles
	Columns definition.Columns // as in Head
	Step    time.Duration      // at which the board records this period; 0: it records no more
	Until   time.Time          // the last step is in force until then at least; zero: nothing is recorded yet
	Steps   []HistoryStep      // in the order of time
	Next    *HistoryCursor     // nil: there are no more steps
	Best    *BestRank          // of HistoryQuery.Member; nil: no step has the member among its first ten
}

// HistoryStep is a state of the first ten entries.
type HistoryStep struct {
	At time.Time // it is in force from then on, until the next step
	// Gap, if not zero, is when the node last looked before the step: from Gap until At the state is not
	// known.
	Gap time.Time
	// Entries are the first ten entries, or the place of HistoryQuery.Member; empty: the member was not
	// among them. They have neither keys nor data. Members that are hidden now, and erased ones, are not
	// among them, and the ranks close up.
	Entries []Entry
}

// History reads steps of the history of a board: of its period, as Read does. Members that are hidden at the time
// of the call are left out as they are on the board. It returns a FieldError for an invalid query, and
// ErrUnknownHistory where no history of the period is recorded. A call with a Limit of more than PacedEntries, with a
// Step or with a Member waits for its turn, as a large page of Read does.
func (s *Store) History(ctx context.Context, board string, q HistoryQuery) (History, error) {
	if err := q.check(); err != nil {
		return History{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	named := board
	if n, err := definition.ParseName(board); err == nil && q.After != nil && n.Period == "" && q.After.Period != "" {
		named = definition.Qualify(board, q.After.Period) // the period may have closed since the page before
	}
	m, err := s.resolve(ctx, named, 0)
	if err != nil {
		return History{}, err
	}
	step := m.compiled.HistoryStep(m.period)
	if q.Step != 0 && q.Step < step {
		return History{}, definition.Invalid("step", fmt.Sprintf("is %s; want at least %s, the step at which the board records this period",
			definition.FormatDuration(q.Step), definition.FormatDuration(step)))
	}
	if q.After != nil && q.After.Period != m.period.Name {
		return History{}, definition.Invalid("cursor", "is of another period")
	}
	at := readTimes{now: s.catalog.clock.now()}
	if at.frozen, err = s.freezeOf(ctx, m.keys.Meta); err != nil {
		return History{}, fmt.Errorf("read the history of board %q: %w", board, err)
	}
	r := historyReader{s: s, m: m, q: q, names: make(map[int64]string), named: make(map[string]bool)}
	r.found = History{Period: m.period.Name, Kind: m.compiled.Kind, Columns: m.compiled.Columns,
		Step: step, Bounds: m.bounds(at), Steps: []HistoryStep{}}
	if err := r.read(ctx); err != nil {
		return History{}, fmt.Errorf("read the history of board %q: %w", board, err)
	}
	return r.found, nil
}

func (q HistoryQuery) check() error {
	switch {
	case q.Limit < 1 || q.Limit > MaxHistoryPage:
		return definition.Invalid("limit", fmt.Sprintf("is %d; want 1 to %d", q.Limit, MaxHistoryPage))
	case q.Step < 0 || q.Step%time.Second != 0:
		return definition.Invalid("step", fmt.Sprintf("is %s; want whole seconds", q.Step))
	case !q.From.IsZero() && !q.To.IsZero() && q.To.Before(q.From):
		return definition.Invalid("to", "is before from")
	case q.Member != "":
		return definition.CheckMember(q.Member)
	}
	return nil
}

// historyReader reads one page of a history.
type historyReader struct {
	s     *Store
	m     resolved
	q     HistoryQuery
	floor int64 // the caller has the steps up to then, or only the last one of them matters; in ms since 1970
	found History

	hidden   *moderation      // nil until the first call has read the state of the history
	lastStep int64            // of that state, in ms since 1970
	number   string           // of HistoryQuery.Member in that state, see stepsPage
	names    map[int64]string // number to member; "" for a member that was erased, or is hidden
	state    history.State    // of the last decoded step; nil: not known
	lost     int64            // since when the state is not known, in ms since 1970; 0: no step is missing
	held     *recordedStep    // with Step: the last step of its multiple so far
	begun    bool             // the caller has a step already; then last is what it shows
	last     []Entry
	named    map[string]bool // the members in the answer
}

// recordedStep is a decoded step. Times are in ms since 1970.
type recordedStep struct {
	at, gap int64 // gap: when the gap before the step began; 0: there is none
	state   history.State
}

func (r *historyReader) read(ctx context.Context) error {
	if !r.q.From.IsZero() {
		r.floor = max(0, r.q.From.UnixMilli())
	}
	if r.q.After != nil {
		r.floor = r.q.After.At.UnixMilli()
	}
	from, before, count := r.floor, keyframeEach, historyChunk
	paced := r.q.Limit > PacedEntries || r.q.Step > 0 || r.q.Member != ""
	if !paced {
		count = r.q.Limit + 1
	}
	for {
		var steps []recordedStep
		last := false
		call := func() error {
			known, chunk, err := r.readSteps(ctx, from, before, count)
			if err != nil {
				return err
			}
			steps = append(known, r.decode(chunk)...)
			if last = len(chunk) < count; !last {
				from = chunk[len(chunk)-1].at
			}
			return r.readNames(ctx, steps)
		}
		if err := r.s.inTurnIf(ctx, paced, call); err != nil {
			return err
		}
		for _, step := range steps {
			if full := r.add(step); full {
				return r.readBest(ctx)
			}
		}
		if last {
			if r.held != nil {
				r.emit(*r.held)
			}
			return r.readBest(ctx)
		}
		before, paced = 0, true
	}
}

// readSteps reads the steps after a time, in ms since 1970, at most count of them. known are the decoded steps from the last
// keyframe up to that time, which it reads if before is not 0: it is 0 where the reader has them. The state of the history
// is that of the first call; the later calls read no step that is newer.
func (r *historyReader) readSteps(ctx context.Context, from int64, before, count int) (
	known []recordedStep, chunk []encodedStep, err error) {
	to := "+"
	if !r.q.To.IsZero() {
		to = strconv.FormatInt(max(0, r.q.To.UnixMilli()), 10)
	}
	isFirst := r.hidden == nil
	if !isFirst && (r.q.To.IsZero() || r.q.To.UnixMilli() > r.lastStep) {
		to = strconv.FormatInt(r.lastStep, 10)
	}
	page, err := r.s.readSteps(ctx, r.m.keys, r.q.Member, from, to, before, count)
	if err == nil && isFirst {
		err = r.begin(ctx, page)
	}
	if err != nil || before == 0 {
		return nil, page.after, err
	}
	slices.Reverse(page.before)
	known = r.decode(page.before)
	if r.q.After != nil && (len(known) == 0 || known[len(known)-1].at != r.floor) {
		r.lost = r.floor // the step of the cursor has been trimmed
	}
	return known, page.after, nil
}

// begin takes the revision of the moderation of the board-period, and the state of the history.
func (r *historyReader) begin(ctx context.Context, page stepsPage) error {
	if page.last == 0 && r.m.compiled.History == 0 {
		return &definition.FieldError{Field: "history", Kind: definition.ErrUnknownHistory,
			Reason: fmt.Sprintf("is not recorded on board %q; define the board with history, such as history: 1m", r.m.Name)}
	}
	r.number = page.number
	if r.lastStep = page.last; page.last > 0 {
		r.found.Until = time.UnixMilli(page.seen).UTC()
	}
	d, err := r.s.catalog.get(ctx)
	if err == nil && d.hidden.revision < page.moderated { // another node has hidden or shown a member
		d, err = r.s.catalog.readNewer(ctx, d)
	}
	if err != nil {
		return err
	}
	r.hidden = d.hidden
	return nil
}

// stepsPage is a part of a history and the state of the history with it. Times are in ms since 1970.
type stepsPage struct {
	moderated     int64         // revision of the moderation by which the board was changed last
	last, seen    int64         // times of the last step, and of the last look; 0: there is no step yet
	number        string        // the member's 'number rank at', see record.lua; "": no step has named it
	before, after []encodedStep // before: the latest first
}

// encodedStep is a step as Redis holds it.
type encodedStep struct {
	at   int64 // in ms since 1970
	step string
}

// readSteps calls steps.lua. It reads steps up to from, and steps after from up to to: at most before and after of them; and
// the number of a member, "" for none.
func (s *Store) readSteps(ctx context.Context, k keyspace.BoardKeys, member string, from int64, to string,
	before, after int) (stepsPage, error) {
	h := k.History()
	r := script.Steps.Run(ctx, s.rdb, []string{k.Meta, h.State, h.Steps, h.Numbers}, []any{from, to, before, after, member})
	p := stepsPage{moderated: r.Number(), last: r.Number(), seen: r.Number(), number: r.Text()}
	for _, steps := range []*[]encodedStep{&p.before, &p.after} {
		list := r.List()
		for list.More() {
			*steps = append(*steps, encodedStep{list.Number(), list.Text()})
		}
		r.Err = cmp.Or(r.Err, list.Err)
	}
	return p, r.Err
}

// decode decodes steps. It leaves out steps that cannot be decoded: those before the first keyframe, and damaged ones
// with the deltas behind them. The next step has a gap then.
func (r *historyReader) decode(encoded []encodedStep) (steps []recordedStep) {
	for _, e := range encoded {
		at := e.at
		step, err := history.Decode(r.state, []byte(e.step))
		if err != nil {
			if r.state != nil {
				r.lost = cmp.Or(r.lost, at)
			}
			r.state = nil
			continue
		}
		r.state = step.State
		s := recordedStep{at: at, state: step.State}
		if step.Gap > 0 {
			s.gap = at - step.Gap
		}
		if r.lost > 0 && (s.gap == 0 || r.lost < s.gap) {
			s.gap = r.lost
		}
		r.lost = 0
		steps = append(steps, s)
	}
	return steps
}

// readNames reads the members of the given steps that are not known yet.
func (r *historyReader) readNames(ctx context.Context, steps []recordedStep) error {
	var numbers []string
	for _, step := range steps {
		for _, e := range step.state {
			if _, known := r.names[e.Number]; !known {
				r.names[e.Number] = ""
				numbers = append(numbers, strconv.FormatInt(e.Number, 10))
			}
		}
	}
	if len(numbers) == 0 {
		return nil
	}
	chunks := slices.Collect(slices.Chunk(numbers, findAtOnce))
	cmds, err := pipelined(ctx, r.s.rdb, chunks, func(pipe redis.Pipeliner, some []string) *redis.SliceCmd {
		return pipe.HMGet(ctx, r.m.keys.History().Names, some...)
	})
	if err != nil {
		return err
	}
	for i, cmd := range cmds {
		for j, name := range cmd.Val() {
			member, there := name.(string)
			if there && !r.hidden.hides(r.m.Instance, r.m.compiled.Kind, member) {
				number, _ := strconv.ParseInt(chunks[i][j], 10, 64)
				r.names[number] = member
			}
		}
	}
	return nil
}

// add takes the next step. It returns true when the answer is full.
func (r *historyReader) add(step recordedStep) (full bool) {
	if step.at <= r.floor {
		if r.q.After != nil {
			r.begun, r.last = true, r.shown(step) // the caller has it
		} else {
			r.held = &step // the last one of these is in force at From
		}
		return false
	}
	each := r.q.Step.Milliseconds()
	if r.held != nil && r.held.at > r.floor && each > 0 && r.held.at/each == step.at/each {
		step.gap = cmp.Or(r.held.gap, step.gap)
		r.held = &step
		return false
	}
	if r.held != nil && r.emit(*r.held) {
		return true
	}
	r.held = &step
	return false
}

// emit adds a step to the answer, unless it shows the same as the step before. It returns true when the answer is full.
func (r *historyReader) emit(step recordedStep) (full bool) {
	entries := r.shown(step)
	if r.begun && step.gap == 0 && slices.Equal(entries, r.last) {
		return false
	}
	for _, e := range entries {
		r.named[e.Member] = true
	}
	if n := len(r.found.Steps); n == r.q.Limit || len(r.named) > MaxPage {
		r.found.Next = &HistoryCursor{Period: r.found.Period, At: r.found.Steps[n-1].At}
		return true
	}
	s := HistoryStep{At: time.UnixMilli(step.at).UTC(), Entries: entries}
	if step.gap > 0 {
		s.Gap = time.UnixMilli(step.gap).UTC()
	}
	r.found.Steps = append(r.found.Steps, s)
	r.begun, r.last = true, entries
	return false
}

// shown returns the entries of a step that the caller may see, with the ranks that they have among themselves.
func (r *historyReader) shown(step recordedStep) []Entry {
	entries := make([]Entry, 0, len(step.state))
	ties, rank := r.m.compiled.Ties, int64(0)
	for _, e := range step.state {
		member := r.names[e.Number]
		if member == "" {
			continue
		}
		position := int64(len(entries)) + 1
		rank = ties.RankAfter(rank, position, position > 1 && entries[position-2].Score == e.Score)
		entries = append(entries, Entry{Rank: rank, Member: member, Score: e.Score})
	}
	if r.q.Member == "" {
		return entries
	}
	return slices.DeleteFunc(entries, func(e Entry) bool { return e.Member != r.q.Member })
}
