package ranking

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/proptest"
	"rankcast/ranking/redistest"
	"rankcast/ranking/search"
)

// searchModel is what a board's members and their profiles are, without an index.
type searchModel struct {
	scores   map[string]int64
	hidden   map[string]bool
	profiles map[string]Profile
}

// recount goes through all members, in the order of a page of the whole board, for what a search finds. On a
// large board it finds no id that begins with text of a member without a profile.
func (m searchModel) recount(t require.TestingT, page Page, text string, limit int, large bool) (found []string) {
	q := search.NewQuery(text)
	var visible []string
	for member := range m.scores {
		if !m.hidden[member] {
			visible = append(visible, member)
		}
	}
	var onPage []string
	var groups [3][]string
	for _, e := range page.Entries {
		onPage = append(onPage, e.Member)
		p, has := m.profiles[e.Member]
		name := search.NewName(p.Name)
		line := fmt.Sprintf("#%d %s %d %q %q", e.Rank, e.Member, e.Score, p.Name, p.Avatar)
		switch {
		case e.Member == strings.TrimSpace(text), e.Member == text:
			groups[0] = append(groups[0], line)
		case q.IsWhole(name):
			groups[1] = append(groups[1], line)
		case q.MatchesName(name), q.MatchesID(e.Member) && (has || !large):
			groups[2] = append(groups[2], line)
		}
	}
	slices.Sort(visible)
	require.ElementsMatch(t, visible, onPage)
	all := slices.Concat(groups[:]...)
	return all[:min(limit, len(all))]
}

// lines are the entries of a result.
func (r SearchResult) lines() (lines []string) {
	for _, f := range r.List {
		lines = append(lines, fmt.Sprintf("#%d %s %d %q %q", f.Rank, f.Member, f.Score, f.Profile.Name, f.Profile.Avatar))
	}
	return lines
}

// forget erases a member, with its profile, to the end of the erasure.
func (w *world) forget(t require.TestingT, kind, member string) {
	must(w.stores[0].Erase(context.Background(), kind, member, Moderator{}))(t)
	require.NoError(t, w.stores[0].DeleteProfile(context.Background(), kind, member))
	require.NoError(t, w.tryUntil(func() error { return w.erased(kind, member) }), "the erasure")
}

// nameIndex are the profiles of a kind as Redis holds them, member to JSON, and the elements of its index.
func (w *world) nameIndex(kind string) (profiles map[string]string, elements []string) {
	ctx := context.Background()
	profiles = make(map[string]string)
	for part := range keyspace.ProfileParts {
		keys := w.stores[0].keys.ProfilePart(kind, part)
		maps.Copy(profiles, w.rdb.HGetAll(ctx, keys.Profiles).Val())
		elements = append(elements, w.rdb.ZRange(ctx, keys.Names, 0, -1).Val()...)
	}
	return profiles, elements
}

// nameTraces are the profiles and elements of an index that hold a text.
func (w *world) nameTraces(kind, text string) (found []string) {
	profiles, elements := w.nameIndex(kind)
	for member, profile := range profiles {
		elements = append(elements, member+" "+profile)
	}
	for _, element := range elements {
		if strings.Contains(element, text) {
			found = append(found, element)
		}
	}
	return found
}

// hostileNames are names that a script, a pattern or a page could take for something else than text.
var hostileNames = []string{
	"", "*", "Ana *", "[a-z]", "Ana?", `\`, `a\`, "%a+", "<b>Ana</b>", `"); return {} --`, "'; DROP", "O'Neil", "=u", "Ana\u200b",
	"\u200fAna", "ＡＮＡ", "Ána", "ana maria", "Ana-Maria", "AnaMaria",
	"中国人", "中 国", "国", "김민수", "ガンダム", "İstanbul", "Straße", strings.Repeat("a ", 63) + "b", strings.Repeat("中", 42),
	strings.Repeat("z", 128), "{{.}}", "$(id)", "ana\u0301\u0302\u0303", "🌸🌸", "🌸 🌹", "--", "=",
}

// After any history of scores, profiles, hiding and erasing, a search finds what a look at all members finds: on a small
// board and by the index.
func TestSearchEqualsARecount(t *testing.T) {
	t.Parallel()
	boards := func(time.Time) []definition.Board { return []definition.Board{{Name: "b:{run}", Kind: "user"}} }
	worlds(t, 1, patient, boards, func(t *testing.T, w *world) {
		s, members := w.stores[0], []string{"u1", "U2", "ana", "Ána", "user-17", "a b", "=u", "中", "%", "*", "🌸", "\u0301"}
		runs := 0
		proptest.CheckSeeded(t, redistest.Volume(w.url, 60), func(t *rapid.T) {
			ctx := context.Background()
			runs++
			board := fmt.Sprint("b:", runs)
			s.searches = defaultSearchBounds
			large := rapid.Bool().Draw(t, "by the index")
			if large {
				s.searches.small = 0
			}
			m := searchModel{make(map[string]int64), make(map[string]bool), make(map[string]Profile)}
			for _, member := range members {
				require.NoError(t, s.DeleteProfile(ctx, "user", member))
			}
			profiles, elements := w.nameIndex("user")
			require.Empty(t, profiles)
			require.Empty(t, elements, "no profile, no index")
			check := func() {
				page := must(s.Page(ctx, board, 1, 100))(t)
				text := rapid.OneOf(rapid.SampledFrom(members),
					rapid.SampledFrom([]string{"a", "an", "ANA", "ana m", "mar", "國", "国", "民수", "민", "ガ", "is", "strasse", "u", "o'n", "neil",
						"b a", "z", "=u", "b", "🌸", " ", "-", "=", "\u200b"}),
					rapid.SampledFrom(hostileNames)).Draw(t, "text")
				limit := rapid.SampledFrom([]int{1, 2, 50}).Draw(t, "limit")
				found, err := s.Search(ctx, board, text, limit)
				if strings.TrimSpace(text) == "" {
					require.ErrorIs(t, err, definition.ErrInvalid, "%q", text)
					return
				}
				require.NoError(t, err, "%q", text)
				require.Equal(t, m.recount(t, page, text, limit, large), found.lines(), "%q by the index: %v", text, large)
				require.True(t, found.Complete)
				require.Equal(t, page.Total, found.Total)
				require.Equal(t, page.State, found.State)
			}
			for range rapid.IntRange(1, 20).Draw(t, "acts") {
				member := rapid.SampledFrom(members).Draw(t, "member")
				switch rapid.SampledFrom([]string{"score", "score", "score", "profile", "profile", "profile", "unprofile", "remove", "hide",
					"show", "erase"}).Draw(t, "act") {
				case "score":
					score := rapid.Int64Range(0, 3).Draw(t, "score")
					require.NoError(t, apply(t, s, board, definition.Update{Member: member, Score: score}).Err)
					m.scores[member] += score
				case "profile":
					p := Profile{Name: rapid.SampledFrom(hostileNames).Draw(t, "name"), Avatar: "/a.png"}
					must(s.SetProfile(ctx, "user", member, p))(t)
					m.profiles[member] = p
				case "unprofile":
					require.NoError(t, s.DeleteProfile(ctx, "user", member))
					delete(m.profiles, member)
				case "remove":
					if _, err := s.Remove(ctx, board, member); err == nil {
						delete(m.scores, member)
					}
				case "hide":
					require.NoError(t, s.Hide(ctx, board, member, Moderator{}))
					m.hidden[member] = true
				case "show":
					require.NoError(t, s.Show(ctx, board, member, Moderator{}))
					delete(m.hidden, member)
				case "erase":
					w.forget(t, "user", member)
					delete(m.scores, member)
					delete(m.profiles, member)
					if !slices.Contains([]string{"%", "*", "=u", "中", "ana", "u1", "a b", "🌸", "\u0301"}, member) { // which others' names hold
						require.Empty(t, w.nameTraces("user", member))
					}
				}
				check()
			}
			for range 5 {
				check()
			}
			// The index has exactly the elements of the profiles.
			var want []string
			for member, p := range m.profiles {
				text := must(p.text())(t)
				want = append(want, nameElements(member, text)...)
			}
			profiles, elements = w.nameIndex("user")
			require.ElementsMatch(t, want, elements)
			require.ElementsMatch(t, slices.Collect(maps.Keys(m.profiles)), slices.Collect(maps.Keys(profiles)))
		})
	})
}
