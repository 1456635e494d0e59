package server

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"rankcast/ranking"
	"rankcast/ranking/definition"
)

type entryJSON struct {
	Rank   int64          `json:"rank"`
	Member string         `json:"member"`
	Score  int64          `json:"score"`
	Name   string         `json:"name,omitzero"` // of the member's profile, like Avatar
	Avatar string         `json:"avatar,omitzero"`
	Data   jsontext.Value `json:"data,omitzero"`
}

// dataJSON encodes the data of an entry; nil for none.
func dataJSON(data string) jsontext.Value {
	if data == "" {
		return nil
	}
	return jsontext.Value(data)
}

// headJSON is the head of each answer to a read.
type headJSON struct {
	Board  string  `json:"board"`
	Period string  `json:"period"`
	Ends   *string `json:"ends"`
	Final  bool    `json:"final"`
}

func newHead(board, period string, b ranking.Bounds) headJSON {
	return headJSON{board, period, definition.FormatTime(b.Ends), b.Final}
}

// entries encodes entries of a board, each with the profile of its member, if the member has one.
// kind is the board's. It reads all profiles that the node does not cache in one call, within ctx.
// If that fails, the answer goes out without those profiles: its scores are right.
func (s *Server) entries(ctx context.Context, kind string, list []ranking.Entry) []entryJSON {
	var profiles map[string]ranking.Profile
	if s.store.Profiled(kind) {
		members := make([]string, len(list))
		for i, e := range list {
			members[i] = e.Member
		}
		profiles = s.profiles(ctx, kind, members)
	}
	entries := make([]entryJSON, len(list))
	for i, e := range list {
		p := profiles[e.Member]
		entries[i] = entryJSON{e.Rank, e.Member, e.Score, p.Name, p.Avatar, dataJSON(e.Data)}
	}
	return entries
}

// profiles reads the profiles of members of a kind, up to ranking.MaxPage. The result leaves out
// members without a profile.
func (s *Server) profiles(ctx context.Context, kind string, members []string) map[string]ranking.Profile {
	if len(members) == 0 {
		return nil
	}
	profiles, err := s.store.Profiles(ctx, kind, members)
	if err != nil && ctx.Err() == nil {
		s.warnOnceASecond("the node answers without some profiles", "kind", kind, "error", err)
	}
	return profiles
}
