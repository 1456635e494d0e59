package pages

import (
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/server/internal/entry"
)

// Reader reads what pages show before their scripts run: what a viewer without a token may read. A method
// returns nil for what such a viewer may not read, and for what it cannot read until ctx ends; the page then comes
// without it. All methods may be called concurrently.
type Reader interface {
	// Board reads the first entries of a board, and the place of a member, "" for none, with neighbours on each side.
	Board(ctx context.Context, name string, top int, member string, around int) *Board
	// History reads the last recorded step of a board's history.
	History(ctx context.Context, name string) *History
	// Member reads a member of a kind, and the first boards on which it stands.
	Member(ctx context.Context, kind, member string) *Member
	// Overview reads the state of all boards.
	Overview(ctx context.Context) *Overview
	// Family reads the state of the first instances of a family. The slice is nil only if it cannot be read.
	Family(ctx context.Context, name string) []BoardCard
	// Show reads what the page /stars shows. Each request of that page waits for it, so Show returns soon.
	Show(ctx context.Context) Show
	// Definitions reads the definitions of the boards, by name, at most that many.
	Definitions(ctx context.Context, most int) []definition.Board
	// Check returns an error if there is no board or family of a name. Then the answer to a request for a page of the
	// board is that error, or 404 with a page. Check returns soon.
	Check(ctx context.Context, name string) error
	// Version is that of the rights by which the Reader reads: a page of an earlier one is not sent any more.
	Version() uint64
}

// Show is what the page /stars shows.
type Show struct {
	Event            *definition.Event // with the updates of its show alone; nil: there is none
	Readable         bool              // a viewer without a token may read its boards and its feed
	AnonymousMaySend bool              // such a viewer may send the event; else the page has controls for viewers with a token only
}

// Board is a board as a page shows it first.
type Board struct {
	About    ranking.About
	Final    bool
	Total    int64
	Rows     []entry.Entry  // the first entries
	Below    []entry.Entry  // the followed member, with rank 0 if it has no score, and its neighbours, without those among Rows
	MeName   string         // of the followed member without a score; "" for none
	Snapshot jsontext.Value // a snapshot of the live protocol; nil: the entries are not known now, and Total is 0
	Me       jsontext.Value // the place of the followed member as a frame of the live protocol; nil: none
}

// History is the end of a board's history as a page shows it first.
type History struct {
	About    ranking.About
	Recorded bool          // the history has a step, or will have one
	Rows     []entry.Entry // of the last step
}

// Member is a member as its page shows it first.
type Member struct {
	Missing bool   // the id is unknown: it has no profile, and is on no board
	Name    string // of the profile; "" for none, like Avatar
	Avatar  string
	Boards  []MemberBoard
}

// MemberBoard is the place of a member on a board.
type MemberBoard struct {
	About       ranking.About
	Rank, Score int64
}

// Overview is the state of all boards as the front page shows it first.
type Overview struct {
	Now      time.Time
	Boards   []BoardCard
	Families []FamilyCard
}

// BoardCard is a board of an Overview or of a Family.
type BoardCard struct {
	Board       string
	About       ranking.About
	Parts       []ranking.Part // of an instance, in a Family
	Total       int64
	Top         []entry.Entry // the first entries, some at most
	Rate        *int64        // changes a minute; nil: not known
	Unavailable bool          // the board could not be read; only Board, Parts, and the title and definition of About are known
}

// FamilyCard is a family of an Overview.
type FamilyCard struct {
	Definition  definition.Board
	First       []Instance
	Unavailable bool
}

// Instance is one of the first instances of a family.
type Instance struct {
	Board string
	Parts []ranking.Part
}
