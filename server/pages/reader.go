package pages

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rankcast/hub"
	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/server/access"
	"rankcast/server/internal/boardinfo"
	"rankcast/server/internal/entry"
	"rankcast/server/overview"
)

// reader reads what pages show before their scripts run: what a viewer without a token may read. A method
// returns nil for what such a viewer may not read, and for what it cannot read until ctx ends; the page then comes
// without it. All methods may be called concurrently.
type reader struct {
	store     *ranking.Store
	guard     *access.Guard
	overviews *overview.Reader
	entries   *entry.Reader
	maxTop    int // entries of a board at most
}

// mayRead reports whether a viewer without a token may read a board or a family.
func (r *reader) mayRead(board string) bool {
	return r.guard.Anonymous().May(access.ScopeRead, access.Board(board))
}

// boardWait bounds how long a page waits for Redis to say whether its board exists. The node asks only
// about a name that its own copy of the definitions does not have.
const boardWait = time.Second

// check returns ErrUnknownBoard or ErrUnknownPeriod if there is no board or family of a name that viewers without a token
// may read. Then the answer to a request for a page of the board is that error, or 404 with a page. Any other board exists,
// as far as a page tells. An instance of a family exists before its first score. While Redis does not answer, each board
// exists unless its name is invalid. check returns soon.
func (r *reader) check(ctx context.Context, name string) error {
	if !r.mayRead(name) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, boardWait)
	defer cancel()
	var err error
	if overview.IsFamily(name) {
		_, err = r.store.Definition(ctx, name)
	} else {
		_, err = r.store.Board(ctx, name)
	}
	var field *definition.FieldError
	switch {
	case errors.Is(err, definition.ErrUnknownBoard), errors.Is(err, definition.ErrUnknownPeriod):
		return err
	case errors.Is(err, definition.ErrInvalid) && errors.As(err, &field): // no board can have the name
		return &definition.FieldError{Field: field.Field, Reason: field.Reason, Kind: definition.ErrUnknownBoard}
	default:
		return nil
	}
}

// boardState is a board as a page shows it first.
type boardState struct {
	about    ranking.About
	final    bool
	total    int64
	rows     []entry.Entry  // the first entries
	below    []entry.Entry  // the followed member, with rank 0 if it has no score, and its neighbours, without those among rows
	meName   string         // of the followed member without a score; "" for none
	snapshot jsontext.Value // a snapshot of the live protocol; nil: the entries are not known now, and total is 0
	me       jsontext.Value // the place of the followed member as a frame of the live protocol; nil: none
}

// board reads the first entries of a board, and the place of a member, "" for none, with neighbours on each side.
func (r *reader) board(ctx context.Context, name string, top int, member string, around int) *boardState {
	if overview.IsFamily(name) || !r.mayRead(name) {
		return nil
	}
	ctx = ranking.WithNames(ranking.WithoutBuilds(ctx), r.guard.Anonymous().MayReadKind)
	about, err := r.store.About(ctx, name)
	if err != nil {
		return nil
	}
	page, err := r.store.Read(ctx, name, ranking.Query{Limit: min(top, r.maxTop)})
	if err != nil {
		return &boardState{about: about}
	}
	page.Entries = withoutData(page.Entries)
	frames := hub.PageFrames{Board: name, Columns: page.Columns, Profiles: r.entries.Of(ctx, page.Kind, page.Entries)}
	b := &boardState{about: about, final: page.Final, total: page.Total}
	b.snapshot = jsonOf(frames.Snapshot(page, infoOf(about)))
	b.rows = entry.Join(page.Entries, page.Columns, frames.Profiles)
	if definition.CheckMember(member) == nil && !listed(b.rows, member) {
		r.addStanding(ctx, b, page, name, member, around)
	}
	return b
}

// addStanding adds the place of a member that is not among the first entries, and its neighbours.
func (r *reader) addStanding(ctx context.Context, b *boardState, page ranking.Page, name, member string, around int) {
	n, err := r.store.Around(ctx, name, member, around)
	switch {
	case errors.Is(err, definition.ErrUnknownMember):
		b.below = []entry.Entry{{Member: member}}
		if r.guard.Anonymous().MayReadKind(page.Kind) { // the board shows no profile of the member
			b.meName = r.entries.Profiles(ctx, page.Kind, []string{member})[member].Name
		}
		b.me = jsonOf(hub.PageFrames{Board: name, Columns: page.Columns}.Standing(page.Seq, page.Total,
			ranking.Place{Entry: ranking.Entry{Member: member}}))
	case err == nil:
		place := n.Place
		place.Around = withoutData(place.Around)
		frames := hub.PageFrames{Board: name, Columns: page.Columns, Profiles: r.entries.Of(ctx, page.Kind, place.Around)}
		for _, e := range entry.Join(place.Around, page.Columns, frames.Profiles) {
			if !listed(b.rows, e.Member) && (around > 0 || e.Member == member) {
				b.below = append(b.below, e)
			}
		}
		// The place is of a later read than the page, and no later than the first frame.
		b.me = jsonOf(frames.Standing(page.Seq, n.Total, place))
	}
}

// listed reports whether entries have a member.
func listed(entries []entry.Entry, member string) bool {
	return slices.ContainsFunc(entries, func(e entry.Entry) bool { return e.Member == member })
}

// withoutData copies entries without their data: pages do not show it, and it may be large.
func withoutData(entries []ranking.Entry) []ranking.Entry {
	entries = slices.Clone(entries)
	for i := range entries {
		entries[i].Data = ""
	}
	return entries
}

// infoOf encodes the field info of a snapshot.
func infoOf(about ranking.About) []byte {
	b, err := json.Marshal(boardinfo.New(about))
	if err != nil {
		panic(err) // it holds strings and numbers only
	}
	return b
}

// jsonOf is the message of a frame.
func jsonOf(f *hub.Frame) jsontext.Value {
	pieces := f.JSON()
	return slices.Concat(pieces[:]...)
}

// historyEnd is the end of a board's history as a page shows it first.
type historyEnd struct {
	about    ranking.About
	recorded bool          // the history has a step, or will have one
	rows     []entry.Entry // of the last step
}

// history reads the last recorded step of a board's history.
func (r *reader) history(ctx context.Context, name string) *historyEnd {
	if overview.IsFamily(name) || !r.mayRead(name) {
		return nil
	}
	about, err := r.store.About(ranking.WithNames(ctx, r.guard.Anonymous().MayReadKind), name)
	if err != nil {
		return nil
	}
	h, err := r.store.History(ctx, name, ranking.HistoryQuery{From: r.store.Now(), Limit: 1})
	if err != nil && !errors.Is(err, definition.ErrUnknownHistory) {
		return nil
	}
	end := &historyEnd{about: about, recorded: err == nil}
	if len(h.Steps) > 0 {
		end.rows = entry.Join(h.Steps[len(h.Steps)-1].Entries, h.Columns, r.entries.History(ctx, h))
	}
	return end
}

// memberState is a member as its page shows it first.
type memberState struct {
	missing bool // the id is unknown: it has no profile, and is on no board
	profile ranking.Profile
	boards  []memberPlace
}

// memberPlace is the place of a member on a board.
type memberPlace struct {
	about       ranking.About
	rank, score int64
}

// maxMemberPlaces is the number of boards that the page of a member has before its script runs.
const maxMemberPlaces = 20

// member reads a member of a kind, and the first boards on which it stands.
func (r *reader) member(ctx context.Context, kind, member string) *memberState {
	if definition.CheckKind(kind) != nil || definition.CheckMember(member) != nil {
		return &memberState{missing: true}
	}
	anonymous := r.guard.Anonymous()
	page, err := r.store.MemberBoards(ctx, kind, member, ranking.MemberBoardsQuery{Limit: maxMemberPlaces, Only: anonymous.ReadableBoards()})
	if err != nil {
		return nil
	}
	m := new(memberState)
	abouts := r.store.AboutEach(ctx, page.Names())
	for _, b := range page.Boards {
		if about, exists := abouts[b.Board]; exists {
			m.boards = append(m.boards, memberPlace{about, b.Entry.Rank, b.Entry.Score})
		}
	}
	// The same rule as for listMemberBoards.
	if len(page.Boards) > 0 || anonymous.MayReadKind(kind) {
		m.profile = r.entries.Profiles(ctx, kind, []string{member})[member]
	}
	isWhole := page.Next == "" && page.Unavailable == 0 && page.NotBuilt == 0 && anonymous.MayAll()
	m.missing = isWhole && len(page.Boards) == 0 && m.profile.Name == ""
	return m
}

// overview reads the state of all boards. known is false if it cannot be read.
func (r *reader) overview(ctx context.Context) (boards []overview.BoardCard, families []overview.FamilyCard, known bool) {
	o, err := r.overviews.All(ctx)
	if err != nil {
		return nil, nil, false
	}
	for _, card := range o.BoardCards {
		if r.mayRead(card.Board) {
			boards = append(boards, card)
		}
	}
	for _, card := range o.FamilyCards {
		if r.mayRead(card.Definition.Name) {
			if slices.ContainsFunc(card.First, func(i overview.Instance) bool { return !r.mayRead(i.Board) }) {
				card.First = nil
			}
			families = append(families, card)
		}
	}
	return boards, families, true
}

// family reads the state of the first instances of a family. known is false if it cannot be read.
func (r *reader) family(ctx context.Context, name string) (instances []overview.BoardCard, known bool) {
	if !r.mayRead(name) {
		return nil, false
	}
	page, err := r.overviews.ReadableNames(ctx, r.guard.Anonymous(), name, ranking.InstancesQuery{Limit: overview.FamilyPage})
	if err != nil {
		return nil, false
	}
	o, err := r.overviews.Instances(ctx, name, page.Names)
	if err != nil {
		return nil, false
	}
	return o.Cards, true
}

// showState is what the page of an event shows.
type showState struct {
	event            *definition.Event  // nil: a viewer without a token may not read it, or the node cannot read it now
	definitions      []definition.Board // of the boards of the show that such a viewer may read
	anonymousMaySend bool               // such a viewer may send the event; else the page has controls for viewers with a token only
}

// labels are all labels that the page of an event shows.
func (s showState) labels() (labels []definition.Label) {
	if s.event != nil {
		labels = append(labels, s.event.Show.Title)
	}
	for _, d := range s.definitions {
		labels = append(labels, d.Title, d.Description, d.Display.Unit)
		for _, c := range d.Columns {
			labels = append(labels, c.Title, c.Display.Unit)
		}
	}
	return labels
}

// show reads what the page of an event shows. It returns ErrUnknownEvent if viewers without a token may read the event, and
// there is none that has a page. Each request of such a page waits for show, so it returns soon.
func (r *reader) show(ctx context.Context, name string) (show showState, err error) {
	ctx, cancel := context.WithTimeout(ctx, boardWait)
	defer cancel()
	anonymous := r.guard.Anonymous()
	show.anonymousMaySend = anonymous.May(access.ScopeWrite, access.Event(name))
	if !anonymous.May(access.ScopeRead, access.Event(name)) {
		return show, nil
	}
	e, err := r.store.Event(ctx, name)
	switch {
	case errors.Is(err, definition.ErrUnknownEvent), err == nil && e.Show == nil:
		return show, &definition.FieldError{Field: "event", Reason: "has no page", Kind: definition.ErrUnknownEvent}
	case err != nil:
		return show, nil
	}
	show.event = &e
	boards, _ := r.store.Boards(ctx)
	for _, name := range []string{e.Show.Board, e.Show.Fans, e.Show.Recent} {
		i := slices.IndexFunc(boards, func(d definition.Board) bool { return name != "" && d.Slot() == definition.SlotOf(name) })
		if i >= 0 && r.mayRead(boards[i].Name) {
			show.definitions = append(show.definitions, boards[i])
		}
	}
	return show, nil
}

// shownEvent is an event that has a page, and the board of the page.
type shownEvent struct {
	event definition.Event
	board definition.Board
}

// shows are the events whose pages have something to show to viewers without a token, by name. It returns the error of a read
// that fails.
func (r *reader) shows(ctx context.Context) (shows []shownEvent, err error) {
	ctx, cancel := context.WithTimeout(ctx, boardWait)
	defer cancel()
	events, err := r.store.Events(ctx)
	if err != nil {
		return nil, err
	}
	boards, err := r.store.Boards(ctx)
	if err != nil {
		return nil, err
	}
	for _, e := range events {
		if e.Show == nil || !r.guard.Anonymous().May(access.ScopeRead, access.Event(e.Name)) || !r.mayRead(e.Show.Board) {
			continue
		}
		if i := slices.IndexFunc(boards, func(d definition.Board) bool { return d.Name == e.Show.Board }); i >= 0 {
			shows = append(shows, shownEvent{e, boards[i]})
		}
	}
	return shows, nil
}

// maxDefinitions bounds the definitions in a page, and the boards in its list of boards. A page with more gets
// them from its script.
const maxDefinitions = 200

// definitions reads the definitions of the boards, by name, at most maxDefinitions.
func (r *reader) definitions(ctx context.Context) (some []definition.Board) {
	all, _ := r.store.Boards(ctx)
	for _, d := range all {
		if len(some) < maxDefinitions && r.mayRead(d.Name) {
			some = append(some, d)
		}
	}
	return some
}
