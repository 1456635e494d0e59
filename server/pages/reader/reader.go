// Package reader reads what pages show before their scripts run.
package reader

import (
	"context"
	"errors"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rankcast/hub"
	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/server/access"
	"rankcast/server/internal/boardinfo"
	"rankcast/server/internal/entry"
	"rankcast/server/overview"
	"rankcast/server/pages"
)

// pageMemberBoards is the number of boards that the page of a member has before its script runs.
const pageMemberBoards = 20

// Reader reads what pages show first, as callers without credentials may read it. It is a pages.Reader. New makes one.
type Reader struct {
	store     *ranking.Store
	guard     *access.Guard
	overviews *overview.Reader
	entries   *entry.Reader
	maxTop    int
}

// New makes a Reader of at most maxTop entries of a board.
func New(store *ranking.Store, guard *access.Guard, overviews *overview.Reader, entries *entry.Reader, maxTop int) *Reader {
	return &Reader{store, guard, overviews, entries, maxTop}
}

// Board is part of pages.Reader.
func (r *Reader) Board(ctx context.Context, name string, top int, member string, around int) *pages.Board {
	if overview.IsFamily(name) || !r.guard.Anonymous().May(access.ScopeRead, access.Board(name)) {
		return nil
	}
	ctx = ranking.WithNames(ranking.WithoutBuilds(ctx), r.guard.Anonymous().MayReadKind)
	about, err := r.store.About(ctx, name)
	if err != nil {
		return nil
	}
	page, err := r.store.Read(ctx, name, ranking.Query{Limit: min(top, r.maxTop)})
	if err != nil {
		return &pages.Board{About: about}
	}
	page.Entries = withoutData(page.Entries)
	frames := hub.PageFrames{Board: name, Profiles: r.entries.Of(ctx, page.Kind, page.Entries)}
	b := &pages.Board{About: about, Final: page.Final, Total: page.Total}
	b.Snapshot = jsonOf(frames.Snapshot(page, infoOf(about)))
	b.Rows = entry.Join(page.Entries, frames.Profiles)
	if definition.CheckMember(member) == nil && !listed(b.Rows, member) {
		r.addStanding(ctx, b, page, name, member, around)
	}
	return b
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

// History is part of pages.Reader.
func (r *Reader) History(ctx context.Context, name string) *pages.History {
	if overview.IsFamily(name) || !r.guard.Anonymous().May(access.ScopeRead, access.Board(name)) {
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
	view := &pages.History{About: about, Recorded: err == nil}
	if len(h.Steps) > 0 {
		view.Rows = entry.Join(h.Steps[len(h.Steps)-1].Entries, r.entries.History(ctx, h))
	}
	return view
}

// Member is part of pages.Reader.
func (r *Reader) Member(ctx context.Context, kind, member string) *pages.Member {
	if definition.CheckKind(kind) != nil || definition.CheckMember(member) != nil {
		return &pages.Member{Missing: true}
	}
	anonymous := r.guard.Anonymous()
	page, err := r.store.MemberBoards(ctx, kind, member, ranking.MemberBoardsQuery{Limit: pageMemberBoards, Only: anonymous.ReadableBoards()})
	if err != nil {
		return nil
	}
	view := &pages.Member{}
	abouts := r.store.AboutEach(ctx, page.Names())
	for _, b := range page.Boards {
		if about, exists := abouts[b.Board]; exists {
			view.Boards = append(view.Boards, pages.MemberBoard{About: about, Rank: b.Entry.Rank, Score: b.Entry.Score})
		}
	}
	// The same rule as for listMemberBoards.
	if len(page.Boards) > 0 || anonymous.MayReadKind(kind) {
		profile := r.entries.Profiles(ctx, kind, []string{member})[member]
		view.Name, view.Avatar = profile.Name, profile.Avatar
	}
	isWhole := page.Next == "" && page.Unavailable == 0 && page.NotBuilt == 0 && anonymous.MayAll()
	view.Missing = isWhole && len(page.Boards) == 0 && view.Name == ""
	return view
}

// addStanding adds the place of a member that is not among the first entries, and its neighbours.
func (r *Reader) addStanding(ctx context.Context, b *pages.Board, page ranking.Page, name, member string, around int) {
	n, err := r.store.Around(ctx, name, member, around)
	switch {
	case errors.Is(err, definition.ErrUnknownMember):
		b.Below = []entry.Entry{{Member: member}}
		if r.guard.Anonymous().MayReadKind(page.Kind) { // the board shows no profile of the member
			b.MeName = r.entries.Profiles(ctx, page.Kind, []string{member})[member].Name
		}
		b.Me = jsonOf(hub.PageFrames{Board: name}.Standing(page.Seq, page.Total, ranking.Place{Entry: ranking.Entry{Member: member}}))
	case err == nil:
		place := n.Place
		place.Around = withoutData(place.Around)
		frames := hub.PageFrames{Board: name, Profiles: r.entries.Of(ctx, page.Kind, place.Around)}
		for _, e := range entry.Join(place.Around, frames.Profiles) {
			if !listed(b.Rows, e.Member) && (around > 0 || e.Member == member) {
				b.Below = append(b.Below, e)
			}
		}
		// The place is of a later read than the page, and no later than the first frame.
		b.Me = jsonOf(frames.Standing(page.Seq, n.Total, place))
	}
}

// Overview is part of pages.Reader.
func (r *Reader) Overview(ctx context.Context) *pages.Overview {
	o, err := r.overviews.All(ctx)
	if err != nil {
		return nil
	}
	anonymous := r.guard.Anonymous()
	view := &pages.Overview{Now: r.store.Now()}
	for _, card := range o.BoardCards {
		if anonymous.May(access.ScopeRead, access.Board(card.Board)) {
			view.Boards = append(view.Boards, card)
		}
	}
	for _, card := range o.FamilyCards {
		if anonymous.May(access.ScopeRead, access.Board(card.Definition.Name)) {
			if slices.ContainsFunc(card.First, func(i pages.Instance) bool { return !anonymous.May(access.ScopeRead, access.Board(i.Board)) }) {
				card.First = nil
			}
			view.Families = append(view.Families, card)
		}
	}
	return view
}

// Family is part of pages.Reader.
func (r *Reader) Family(ctx context.Context, name string) []pages.BoardCard {
	anonymous := r.guard.Anonymous()
	if !anonymous.May(access.ScopeRead, access.Board(name)) {
		return nil
	}
	page, err := r.overviews.ReadableNames(ctx, anonymous, name, "", overview.FamilyPage)
	if err != nil {
		return nil
	}
	o, err := r.overviews.Instances(ctx, name, page.Names)
	if err != nil {
		return nil
	}
	return append([]pages.BoardCard{}, o.Cards...)
}

// Version is part of pages.Reader.
func (r *Reader) Version() uint64 { return r.guard.Version() }

// Show is part of pages.Reader. The event is the first one, by name, whose definition has a show. Anybody may open the page
// and read what it shows, so the event has only the updates of its show. Before there is such an event, AnonymousMaySend
// says whether a viewer without a token may send an event of any name.
func (r *Reader) Show(ctx context.Context) (show pages.Show) {
	ctx, cancel := context.WithTimeout(ctx, boardWait)
	defer cancel()
	anonymous := r.guard.Anonymous()
	events, _ := r.store.Events(ctx) // a list: to look for a name that is not there, a call waits for Redis
	i := slices.IndexFunc(events, func(e definition.Event) bool { return e.Show != nil })
	if i < 0 {
		show.AnonymousMaySend = anonymous.May(access.ScopeWrite, access.Event(""))
		return show
	}
	e := events[i]
	boards := []string{e.Show.Board, e.Show.Fans, e.Show.Recent}
	e.Updates = slices.DeleteFunc(slices.Clone(e.Updates), func(t definition.Target) bool { return !slices.Contains(boards, t.Board) })
	show.Event, show.AnonymousMaySend = &e, anonymous.May(access.ScopeWrite, access.Event(e.Name))
	show.Readable = anonymous.May(access.ScopeRead, access.Event(e.Name))
	for _, t := range e.Updates {
		show.Readable = show.Readable && anonymous.May(access.ScopeRead, access.Board(t.Board))
	}
	return show
}

// Definitions is part of pages.Reader.
func (r *Reader) Definitions(ctx context.Context, most int) []definition.Board {
	all, err := r.store.Boards(ctx)
	if err != nil {
		return nil
	}
	anonymous := r.guard.Anonymous()
	var some []definition.Board
	for _, d := range all {
		if len(some) == most {
			break
		}
		if anonymous.May(access.ScopeRead, access.Board(d.Name)) {
			some = append(some, d)
		}
	}
	return some
}
