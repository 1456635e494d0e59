package ranking

import (
	"cmp"
	"strconv"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/keyspace"
)

// write is an update as apply.lua gets it.
type write struct {
	definition.Update
	override override
}

// override is a word that apply.lua acts on in place of an Op; no caller can send it.
type override string

const (
	none     override = ""
	removing override = "remove" // takes the member off the board; Score and Op have no effect
	setting  override = "set"    // sets the score, whatever max_change is
	revoking override = "undo"   // takes back the update that has this id
)

// op is the word that apply.lua acts on.
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

// condition is what apply.lua is told of it; of what is undone whether it added.
func (w write) condition(d definition.Board) string {
	if w.override == revoking {
		return string(cmp.Or(w.Op, d.Mode))
	}
	return string(w.If)
}

// digest tells one update from another under the same request id: 64 bits of
// SHA-256, so that no two bodies meet by chance, in the 11 bytes that apply.lua
// cuts off the front of a stored result. It is of what was sent: the board's mode may
// change between an update and its retry.
func (w write) digest() string {
	b := make([]byte, 0, 2*definition.MaxIDBytes+definition.MaxDataBytes)
	if w.override != revoking { // which has the digest of what it revoking
		b = append(b, w.override...)
	}
	b = append(b, w.Op...)
	b = append(b, ' ')
	b = strconv.AppendInt(b, w.Score, 10)
	b = append(b, ' ')
	b = append(b, w.Member...)
	if w.If != "" || w.Data != "" {
		b = append(append(append(append(b, keyspace.FieldSep...), w.If...), keyspace.FieldSep...), w.Data...)
	}
	if !w.At.IsZero() {
		b = append(b, keyspace.RecordSep...)
		b = strconv.AppendInt(b, w.At.UnixMilli(), 10)
	}
	return definition.Digest(b)
}

// Standing is a score and the rank it gives.
type Standing struct {
	Score int64
	Rank  int64 // 1-based; 0 for a member that is hidden
}

// Result is what an update did.
type Result struct {
	Period    string    // the period it counted in; "" on a board without periods
	Current   *Standing // nil when the member is not on the board now: it was removed, or has no place within the limit
	Previous  *Standing // nil when the member was not on the board before
	Duplicate bool      // its id was seen before: this is the first time's result
	TakenBack bool      // it was, since, or before it ever counted: this is where that leaves the member
}

// Outcome is one update's Result, or why it was refused: ErrOutOfRange,
// ErrIDMismatch, ErrInvalid or, where others of the call came through,
// ErrUnavailable.
type Outcome struct {
	Result Result
	Err    error
}

// atMilli is the At in ms since 1970, as apply.lua has it; "" for now.
func (w write) atMilli() string {
	if w.At.IsZero() {
		return ""
	}
	return strconv.FormatInt(w.At.UnixMilli(), 10)
}
