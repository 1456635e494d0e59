package server

import (
	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v5"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/server/access"
	"rankcast/server/internal/entry"
	"rankcast/server/internal/gate"
	"rankcast/server/internal/request"
	"rankcast/server/internal/respond"
)

// freezeJSON is the head of an answer to an act on the freeze of a board.
type freezeJSON struct {
	Board  string        `json:"board"`
	Period string        `json:"period"`
	Frozen *entry.Frozen `json:"frozen,omitzero"` // nil: the freeze has ended
}

func newFreeze(board string, h ranking.Head) freezeJSON {
	return freezeJSON{board, h.Period, entry.NewFrozen(h.Frozen)}
}

// postFreeze freezes the current period of a board.
func (s *Server) postFreeze(c *echo.Context) error {
	by, err := moderatorOf(c, request.ReadFields(c, "reason", "by"))
	if err != nil {
		return err
	}
	board := request.PathValue(c, "board")
	head, err := s.store.Freeze(c.Request().Context(), board, by)
	return respond.Answer(c, newFreeze(board, head), err)
}

// postUnfreeze ends the freeze of a board, which goes on.
func (s *Server) postUnfreeze(c *echo.Context) error {
	by, err := moderatorOf(c, request.ReadFields(c, "reason", "by"))
	if err != nil {
		return err
	}
	board := request.PathValue(c, "board")
	done, err := s.store.Unfreeze(c.Request().Context(), board, by)
	return respond.Answer(c, struct {
		freezeJSON
		Revealed int64 `json:"revealed"`
	}{newFreeze(board, done.Head), done.Count}, err)
}

// postReveal makes the pending scores of members public, or those of all.
func (s *Server) postReveal(c *echo.Context) error {
	f := request.ReadFields(c, "members", "all", "reason", "by")
	members, all := readMembers(f), f.OptionalBoolean("all")
	switch {
	case all && f.Has("members"):
		f.Check(definition.Invalid("all", "cannot stand beside members"))
	case !all && !f.Has("members"):
		f.Check(definition.Invalid("members", "is missing; want members, or all: true"))
	}
	by, err := moderatorOf(c, f)
	if err != nil {
		return err
	}
	board, ctx := request.PathValue(c, "board"), c.Request().Context()
	var done ranking.Reveals
	if all {
		done, err = s.store.RevealAll(ctx, board, by)
	} else {
		done, err = s.store.Reveal(ctx, board, members, by)
	}
	if err != nil {
		return err
	}
	of := make([]string, len(done.List))
	for i, r := range done.List {
		of[i] = r.Member
	}
	answer := revealJSON{freezeJSON: newFreeze(board, done.Head), Revealed: make([]revealedJSON, len(of)), Left: done.Left}
	profiles, columns := s.profilesOf(c, done.Kind, of), done.Columns
	for i, r := range done.List {
		p := profiles[r.Member]
		answer.Revealed[i] = revealedJSON{Member: r.Member, Name: p.Name, Avatar: p.Avatar, Previous: newPlace(r.Previous, columns)}
		if at := newPlace(r.Current, columns); at != nil {
			answer.Revealed[i].Rank, answer.Revealed[i].Score, answer.Revealed[i].Columns = at.Rank, &at.Score, at.Columns
		}
	}
	if all {
		answer.Count = &done.Count
	}
	return respond.OK(c, answer)
}

type revealJSON struct {
	freezeJSON
	Revealed []revealedJSON `json:"revealed"`
	Count    *int64         `json:"count,omitzero"` // of all; Revealed may have fewer
	Left     int64          `json:"left"`
}

type revealedJSON struct {
	Rank     *int64            `json:"rank"` // null: it has left, or is hidden; Score likewise
	Member   string            `json:"member"`
	Score    *int64            `json:"score"`
	Columns  jsontext.Value    `json:"columns,omitzero"` // of the score, on a board with columns
	Name     string            `json:"name,omitzero"`
	Avatar   string            `json:"avatar,omitzero"`
	Previous *pendingPlaceJSON `json:"previous"`
}

// pendingPlaceJSON is a place of a member on a board, of which something is pending.
type pendingPlaceJSON struct {
	Rank    *int64         `json:"rank"` // null: not known, or hidden
	Score   int64          `json:"score"`
	Columns jsontext.Value `json:"columns,omitzero"` // of the score, on a board with columns
}

// newPlace encodes a standing; nil for none.
func newPlace(at *ranking.Standing, columns definition.Columns) *pendingPlaceJSON {
	if at == nil {
		return nil
	}
	j := pendingPlaceJSON{Score: at.Score, Columns: columns.JSON(at.Score)}
	if at.Rank > 0 {
		j.Rank = &at.Rank
	}
	return &j
}

// readMembers decodes the members of a body; nil without them.
func readMembers(f *request.Fields) (members []string) {
	if !f.Has("members") {
		return nil
	}
	items, err := request.ReadList("members", f.Value("members"), ranking.MaxRevealed)
	f.Check(err)
	for i, item := range items {
		path := definition.ItemPath("members", i)
		one := request.FieldsOf(request.Object{path: item})
		members = append(members, one.Text(path))
		f.Check(one.Err)
	}
	return members
}

// profilesOf reads the profiles of members of a kind, if the kind has any.
func (s *Server) profilesOf(c *echo.Context, kind string, members []string) map[string]ranking.Profile {
	if !s.store.Profiled(kind) {
		return nil
	}
	return s.entries.Profiles(c.Request().Context(), kind, members)
}

// outcomeFor is what a caller gets to know of an update that an event makes. On a frozen board a viewer, or an anonymous caller, gets the
// same whatever has become of the update: a refusal would tell the score that is pending, and so would the result of a retry.
func outcomeFor(c *access.Caller, o ranking.Outcome) ranking.Outcome {
	if o.Result.Frozen && c.IsBounded() {
		return ranking.Outcome{Result: ranking.Result{Frozen: true}}
	}
	return o
}

const defaultPending = 100

// getPending answers a page of what a frozen board keeps back.
func (s *Server) getPending(c *echo.Context) error {
	q := request.ReadQuery(c, "order", "limit", "cursor")
	order, _ := q.Get("order")
	query := ranking.PendingQuery{Order: ranking.PendingOrder(order), After: q.Cursor(),
		Limit: int(q.Integer("limit", defaultPending, 1, ranking.MaxPending))}
	if q.Err != nil {
		return q.Err
	}
	board := request.PathValue(c, "board")
	page, err := s.store.Pending(gate.AsCaller(c), board, query)
	if err != nil {
		return err
	}
	members := make([]string, len(page.Entries))
	for i, e := range page.Entries {
		members[i] = e.Member
	}
	profiles := s.profilesOf(c, page.Kind, members)
	entries := make([]pendingJSON, len(page.Entries))
	for i, e := range page.Entries {
		p := profiles[e.Member]
		entries[i] = pendingJSON{e.Member, p.Name, p.Avatar, newPlace(e.Public, page.Columns), newPlace(e.Pending, page.Columns)}
	}
	return respond.OK(c, struct {
		entry.Head
		Total   int64         `json:"total"`
		Entries []pendingJSON `json:"entries"`
		Cursor  *string       `json:"cursor"`
	}{entry.NewHead(board, page.Period, page.Bounds), page.Pending, entries, cursorJSON(page.Next)})
}

type pendingJSON struct {
	Member  string            `json:"member"`
	Name    string            `json:"name,omitzero"`
	Avatar  string            `json:"avatar,omitzero"`
	Public  *pendingPlaceJSON `json:"public"`  // null: the public board has not got it
	Pending *pendingPlaceJSON `json:"pending"` // null: it will have left
}
