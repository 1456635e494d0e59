package ranking

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rankcast/ranking/definition"
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
func (w *world) forget(kind, member string) {
	_, err := w.stores[0].Erase(context.Background(), kind, member, Moderator{})
	require.NoError(w.t, err)
	require.NoError(w.t, w.stores[0].DeleteProfile(context.Background(), kind, member))
	w.until("the erasure", func() error { return w.erased(kind, member) })
}

// indexed runs the work on the indexes until all are built.
func (w *world) indexed(s *Store) {
	w.t.Helper()
	work := newNameWork(s)
	redistest.Eventually(w.t, "the indexes", func() error {
		if _, err := work.due(context.Background()); err != nil {
			return err
		}
		if built, err := s.areNamesBuilt(context.Background()); err != nil || !built {
			return errors.Join(err, errors.New("not built"))
		}
		return nil
	})
}

// nameTraces are the keys of an index that hold a text.
func (w *world) nameTraces(kind, text string) (found []string) {
	ctx, names := context.Background(), w.stores[0].keys.Names(kind)
	has := func(key, value string) {
		if strings.Contains(value, text) {
			found = append(found, key)
		}
	}
	for _, key := range []string{names.Names, names.Pending} {
		for field, value := range w.rdb.HGetAll(ctx, key).Val() {
			has(key, field+" "+value)
		}
	}
	for _, element := range w.rdb.ZRange(ctx, names.Entries, 0, -1).Val() {
		has(names.Entries, element)
	}
	return found
}

// hostileNames are names that a script, a pattern or a page could take for something else than text.
var hostileNames = []string{
	"", "*", "Ana *", "[a-z]", "Ana?", `\`, `a\`, "%a+", "<b>Ana</b>", `"); return {} --`, "'; DROP", "O'Neil", "=u", "Ana\u200b", "\u200fAna", "ＡＮＡ", "Ána", "ana maria", "Ana-Maria", "AnaMaria",
	"中国人", "中 国", "国", "김민수", "ガンダム", "İstanbul", "Straße", strings.Repeat("a ", 63) + "b", strings.Repeat("中", 42), strings.Repeat("z", 128), "{{.}}", "$(id)", "ana\u0301\u0302\u0303", "🌸🌸", "🌸 🌹", "--", "=",
}

// After any history of scores, profiles, hiding and erasing, a search finds what a look at all members finds: on a small
// board and by the index, where one call changes profile and index and where steps do.
func TestSearchEqualsARecount(t *testing.T) {
	t.Parallel()
	boards := func(time.Time) []definition.Board { return []definition.Board{{Name: "b:{run}", Kind: "user"}} }
	worlds(t, 1, patient, boards, func(t *testing.T, w *world) {
		s, members := w.stores[0], []string{"u1", "U2", "ana", "Ána", "user-17", "a b", "=u", "中", "%", "*", "🌸", "\u0301"}
		w.indexed(s)
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
			s.inProfileSteps.Store(rapid.Bool().Draw(t, "in steps"))
			m := searchModel{make(map[string]int64), make(map[string]bool), make(map[string]Profile)}
			for _, member := range members {
				require.NoError(t, s.DeleteProfile(ctx, "user", member))
			}
			require.Zero(t, w.rdb.Exists(ctx, s.keys.Names("user").Names, s.keys.Names("user").Entries, s.keys.Names("user").Pending).Val(), "no profile, no index")
			check := func() {
				page, err := s.Page(ctx, board, 1, 100)
				require.NoError(t, err)
				text := rapid.OneOf(rapid.SampledFrom(members), rapid.SampledFrom([]string{"a", "an", "ANA", "ana m", "mar", "國", "国", "民수", "민", "ガ", "is", "strasse", "u", "o'n", "neil", "b a", "z", "=u", "b", "🌸", " ", "-", "=", "\u200b"}),
					rapid.SampledFrom(hostileNames)).Draw(t, "text")
				limit := rapid.SampledFrom([]int{1, 2, 50}).Draw(t, "limit")
				found, err := s.Search(ctx, board, text, limit)
				if strings.TrimSpace(text) == "" {
					require.ErrorIs(t, err, ErrInvalid, "%q", text)
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
				switch rapid.SampledFrom([]string{"score", "score", "score", "profile", "profile", "profile", "unprofile", "remove", "hide", "show", "erase"}).Draw(t, "act") {
				case "score":
					score := rapid.Int64Range(0, 3).Draw(t, "score")
					w.write(s, board, member, score)
					m.scores[member] += score
				case "profile":
					p := Profile{Name: rapid.SampledFrom(hostileNames).Draw(t, "name"), Avatar: "/a.png"}
					_, err := s.SetProfile(ctx, "user", member, p)
					require.NoError(t, err)
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
					w.forget("user", member)
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
			// The index has exactly the entries of the profiles.
			var want []string
			for member, p := range m.profiles {
				for _, e := range search.Entries(p.Name, member) {
					want = append(want, e.Text+" "+member)
				}
			}
			var held []string
			for _, element := range w.rdb.ZRange(ctx, s.keys.Names("user").Entries, 0, -1).Val() {
				e, member := parseNameEntry(element)
				held = append(held, e.Text+" "+member)
			}
			require.ElementsMatch(t, want, held)
			require.ElementsMatch(t, slices.Collect(maps.Keys(m.profiles)), w.rdb.HKeys(ctx, s.keys.Names("user").Names).Val())
		})
	})
}
