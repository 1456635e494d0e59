// Package entry encodes the entries of boards, with the profiles of their members.
package entry

import (
	"context"
	"maps"

	"github.com/go-json-experiment/json/jsontext"

	"rankcast/ranking"
	"rankcast/ranking/definition"
)

// Entry is an entry of a board.
type Entry struct {
	Rank    int64          `json:"rank"`
	Member  string         `json:"member"`
	Score   int64          `json:"score"`
	Columns jsontext.Value `json:"columns,omitzero"` // of the score, on a board with columns
	Name    string         `json:"name,omitzero"`    // of the member's profile, like Avatar
	Avatar  string         `json:"avatar,omitzero"`
	Data    jsontext.Value `json:"data,omitzero"`
}

// Data encodes the data of an entry; nil for none.
func Data(data string) jsontext.Value {
	if data == "" {
		return nil
	}
	return jsontext.Value(data)
}

// Head is the head of each answer to a read.
type Head struct {
	Board  string  `json:"board"`
	Period string  `json:"period"`
	Ends   *string `json:"ends"`
	Final  bool    `json:"final"`
	Frozen *Frozen `json:"frozen,omitzero"` // nil: the period is not frozen
}

// Frozen is the freeze of a period.
type Frozen struct {
	Since   string            `json:"since"`
	Reveals definition.Reveal `json:"reveals"`
}

// NewFrozen encodes the freeze of a period; nil for none.
func NewFrozen(f *ranking.Frozen) *Frozen {
	if f == nil {
		return nil
	}
	return &Frozen{f.Since.Format(definition.TimeForm), f.Reveals}
}

// NewHead makes the head of an answer about a period of a board.
func NewHead(board, period string, b ranking.Bounds) Head {
	return Head{board, period, definition.FormatTime(b.Ends), b.Final, NewFrozen(b.Frozen)}
}

// Profiles is a store of profiles.
type Profiles interface {
	Profiled(kind string) bool
	Profiles(ctx context.Context, kind string, members []string) (map[string]ranking.Profile, error)
}

// Reader adds profiles to entries. It may be used concurrently.
type Reader struct {
	Store Profiles
	// Warn logs that an answer goes out without some profiles.
	Warn func(failure string, attributes ...any)
}

// Entries encodes entries of a board, each with the profile of its member, if the member has one.
// kind and columns are the board's. It reads all profiles that the node does not cache in one call, within ctx.
// If that fails, the answer goes out without those profiles: its scores are right.
func (r *Reader) Entries(ctx context.Context, kind string, columns definition.Columns, list []ranking.Entry) []Entry {
	return Join(list, columns, r.Of(ctx, kind, list))
}

// Join encodes entries of a board, each with the profile of its member, if profiles has one.
func Join(list []ranking.Entry, columns definition.Columns, profiles map[string]ranking.Profile) []Entry {
	entries := make([]Entry, len(list))
	for i, e := range list {
		p := profiles[e.Member]
		entries[i] = Entry{e.Rank, e.Member, e.Score, columns.JSON(e.Score), p.Name, p.Avatar, Data(e.Data)}
	}
	return entries
}

// Of reads the profiles of the members of entries of a board, like Entries. The result leaves out members without a
// profile.
func (r *Reader) Of(ctx context.Context, kind string, list []ranking.Entry) map[string]ranking.Profile {
	if !r.Store.Profiled(kind) {
		return nil
	}
	members := make([]string, len(list))
	for i, e := range list {
		members[i] = e.Member
	}
	return r.Profiles(ctx, kind, members)
}

// Profiles reads the profiles of members of a kind, up to ranking.MaxPage. The result leaves out
// members without a profile.
func (r *Reader) Profiles(ctx context.Context, kind string, members []string) map[string]ranking.Profile {
	if len(members) == 0 {
		return nil
	}
	profiles, err := r.Store.Profiles(ctx, kind, members)
	if err != nil && ctx.Err() == nil {
		r.Warn("the node answers without some profiles", "kind", kind, "error", err)
	}
	return profiles
}

// History reads the profiles of the members of a history. The result leaves out members without a profile.
func (r *Reader) History(ctx context.Context, h ranking.History) map[string]ranking.Profile {
	found := make(map[string]ranking.Profile)
	if !r.Store.Profiled(h.Kind) {
		return found
	}
	var members []string
	seen := make(map[string]bool)
	for _, step := range h.Steps {
		for _, e := range step.Entries {
			if !seen[e.Member] {
				seen[e.Member] = true
				members = append(members, e.Member)
			}
		}
	}
	maps.Copy(found, r.Profiles(ctx, h.Kind, members)) // ranking.MaxPage at most
	return found
}
