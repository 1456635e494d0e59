package ranking

import (
	"cmp"
	"strconv"

	"rankcast/ranking/definition"
)

// write is an update in the form for apply.lua.
type write struct {
	definition.Update
	override override
}

// override replaces the Op for apply.lua; no caller can send it.
type override string

const (
	none       override = ""
	removing   override = "remove" // takes the member off the board; Score and Op have no effect
	setting    override = "set"    // sets the score, whatever max_change is
	takingBack override = "undo"   // takes back the update with the same id
)

// op is the operation for apply.lua.
func (w write) op(d definition.Board) string {
	switch {
	case w.override != "":
		return string(w.override)
	case w.Op != "":
		return string(w.Op)
	default:
		return string(d.Mode)
	}
}

// digest tells one update from another under the same request id, see apply.lua. An update without Op means the mode
// that the board had when the id was first used, so the record of an id has the operation of then. Of an update to take
// back it is the digest of that update.
func (w write) digest(d definition.Board) string {
	if w.override != none && w.override != takingBack { // Op has no effect
		return w.Update.Digest(string(w.override)) + "---"
	}
	asked := firstLetter(w.Op)
	if w.Op == "" {
		asked = byMode
	}
	by := "-"
	if w.Op == "" || w.Op == d.Mode {
		by = byMode
	}
	return w.Update.Digest("") + firstLetter(cmp.Or(w.Op, d.Mode)) + by + asked
}

// byMode stands in a digest for the mode of the board.
const byMode = "="

// firstLetter is a letter for a mode; no two have the same.
func firstLetter(m definition.Mode) string { return string(m[:min(1, len(m))]) }

// Standing is a score and its rank.
type Standing struct {
	Score int64
	Rank  int64 // 1-based; 0 for a member that is hidden
}

// Result is the effect of an update.
type Result struct {
	Period    string    // the period in which it counted; "" on a board without periods
	Current   *Standing // nil when the member is not on the board now: it was removed, or has no place within the limit
	Previous  *Standing // nil when the member was not on the board before
	Duplicate bool      // the id was used before: this is the first result
	TakenBack bool      // the update was taken back, later or before it counted: Current is the state after that
}

// Outcome is the Result of one update, or the error that refused it: ErrOutOfRange,
// ErrIDMismatch or ErrInvalid. It is ErrUnavailable when other updates of the call were
// applied and this one may not be.
type Outcome struct {
	Result Result
	Err    error
}

// atMilli is the At in ms since 1970, for apply.lua; "" for now.
func (w write) atMilli() string {
	if w.At.IsZero() {
		return ""
	}
	return strconv.FormatInt(w.At.UnixMilli(), 10)
}
