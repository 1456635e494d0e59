package server

import (
	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v5"

	"rankcast/ranking"
	"rankcast/server/internal/boardinfo"
	"rankcast/server/internal/entry"
	"rankcast/server/internal/gate"
	"rankcast/server/internal/request"
	"rankcast/server/internal/respond"
)

const defaultMemberBoards = 50

// memberBoardJSON is a member's place on one board. It has the fields of placeJSON, without those of the member.
type memberBoardJSON struct {
	entry.Head
	Rank          int64           `json:"rank"`
	Score         int64           `json:"score"`
	Columns       jsontext.Value  `json:"columns,omitzero"`
	Data          jsontext.Value  `json:"data,omitzero"`
	Total         int64           `json:"total"`
	Percentile    float64         `json:"percentile"`
	ToNext        *int64          `json:"to_next"`
	ToNextColumns jsontext.Value  `json:"to_next_columns,omitzero"`
	Info          *boardinfo.Info `json:"info,omitzero"`
}

// listMemberBoards answers a page of the boards of a kind on which a member stands, and which the caller may read. It
// shares no read: the answer depends on the caller.
func (s *Server) listMemberBoards(c *echo.Context) error {
	q := request.ReadQuery(c, "limit", "cursor", "info")
	after, limit := namePageOf(q, defaultMemberBoards, ranking.MaxMemberBoards)
	withInfo := q.Boolean("info")
	if q.Err != nil {
		return q.Err
	}
	ctx, caller := gate.AsCaller(c), gate.Caller(c)
	kind, member := request.PathValue(c, "kind"), request.PathValue(c, "member")
	page, err := s.store.MemberBoards(ctx, kind, member, ranking.MemberBoardsQuery{After: after, Limit: limit, Only: caller.ReadableBoards()})
	if err != nil {
		return err
	}
	var abouts map[string]ranking.About
	if withInfo {
		abouts = s.store.AboutEach(ctx, page.Names())
	}
	boards := make([]memberBoardJSON, len(page.Boards))
	for i, b := range page.Boards {
		boards[i] = memberBoardJSON{
			entry.NewHead(b.Board, b.Period, b.Bounds), b.Entry.Rank, b.Entry.Score, b.Columns.JSON(b.Entry.Score), entry.Data(b.Entry.Data),
			b.Total, b.Percentile(), b.ToNext(), b.ToNextColumns(b.Columns), nil,
		}
		if about, exists := abouts[b.Board]; exists { // a board that was deleted meanwhile comes without
			boards[i].Info = new(boardinfo.New(about))
		}
	}
	// The entries of a board show profiles, so a caller that may read none of them must not learn of one here.
	var profile ranking.Profile
	if s.store.Profiled(kind) && (len(boards) > 0 || caller.MayReadKind(kind)) {
		profile = s.entries.Profiles(ctx, kind, []string{member})[member]
	}
	return respond.OK(c, struct {
		Kind   string `json:"kind"`
		Member string `json:"member"`
		ranking.Profile
		Boards      []memberBoardJSON `json:"boards"`
		Unavailable int               `json:"unavailable,omitzero"` // boards that the node could not read now
		NotBuilt    int               `json:"not_built,omitzero"`   // boards without a result that is young enough
		Cursor      *string           `json:"cursor"`
	}{kind, member, profile, boards, page.Unavailable, page.NotBuilt, newNameCursor(page.Next)})
}
