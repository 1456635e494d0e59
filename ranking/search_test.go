package ranking

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/redistest"
)

// named gives members profiles and scores: the first one leads.
func (w *world) named(board string, members ...[2]string) {
	w.t.Helper()
	s := w.stores[0]
	for i, m := range members {
		if m[1] != "" {
			must(s.SetProfile(w.t.Context(), s.kindOf(w.t.(*testing.T), board), m[0], Profile{Name: m[1]}))(w.t)
		}
		w.write(s, board, m[0], int64(len(members)-i))
	}
}

// ids are the members that a search finds.
func (w *world) ids(board, text string, limit int) []string {
	w.t.Helper()
	r := must(w.stores[0].Search(w.t.Context(), board, text, limit))(w.t)
	ids := []string{}
	for _, f := range r.List {
		ids = append(ids, f.Member)
	}
	return ids
}

// The member with the id comes first, then whole names, then all others by rank.
func TestOrderOfASearch(t *testing.T) {
	t.Parallel()
	worlds(t, 1, patient, two, func(t *testing.T, w *world) {
		s := w.stores[0]
		w.named("a", [2]string{"x1", "Anabel"}, [2]string{"x2", "Bo Ana"}, [2]string{"x3", "ANA"}, [2]string{"ana", ""},
			[2]string{"x4", "Ána"}, [2]string{"ana2", "Zoe"}, [2]string{"x5", "Dana"})
		for _, small := range []int64{1000, 0} {
			s.searches.small = small
			require.Equal(t, []string{"ana", "x3", "x4", "x1", "x2", "ana2"}, w.ids("a", " ana", 50))
			require.Equal(t, []string{"ana", "x3"}, w.ids("a", "ana", 2))
			require.Equal(t, []string{"x2"}, w.ids("a", "ana bo", 10))
			require.Equal(t, []string{"x2"}, w.ids("a", "BO a", 10))
			require.Empty(t, w.ids("a", "bo x", 10))
			require.Equal(t, []string{"x1"}, w.ids("a", "x1", 10))
		}
		// Without a profile, a leading id is found on a small board only.
		require.Equal(t, []string{"x1", "x2", "x3", "x4", "ana2"}, w.ids("a", "an", 10))
		s.searches.small = 1000
		require.Equal(t, []string{"x1", "x2", "x3", "ana", "x4", "ana2"}, w.ids("a", "an", 10))
	})
}

// Names and ids without a letter or a number are found: ids in whole, and both from their start.
func TestSearchForTextsWithoutWords(t *testing.T) {
	t.Parallel()
	worlds(t, 1, patient, two, func(t *testing.T, w *world) {
		s := w.stores[0]
		w.named("a", [2]string{"u1", "🌸🌸"}, [2]string{"u2", "🌹🌸"}, [2]string{"u3", "🌸 Bo"}, [2]string{"🌸!", "Cy"}, [2]string{"🌸", ""},
			[2]string{"--", ""}, [2]string{"\u0301", ""}, [2]string{" x", ""})
		for _, small := range []int64{1000, 0} {
			s.searches.small = small
			for text, want := range map[string][]string{
				"🌸": {"🌸", "u1", "🌸!"}, "🌸🌸": {"u1"}, "🌸🌸🌸": {}, "🌹": {"u2"}, "🌸!": {"🌸!"}, "🌸\ufe0f": {"u1", "🌸!"},
				"--": {"--"}, " -- ": {"--"}, "\u0301": {"\u0301"}, "\u0302": {}, " x": {" x"}, "\u200b": {},
			} {
				if text == "🌸\ufe0f" && small > 0 {
					want = append(want, "🌸") // an id without a profile
				}
				require.Equal(t, want, w.ids("a", text, 50), "%q, all up to %d members", text, small)
				require.True(t, must(s.Search(t.Context(), "a", text, 50))(t).Complete, text)
			}
		}
	})
}

// A search that looks at a part of the candidates says so, and takes the rarest word.
func TestSearchIsBounded(t *testing.T) {
	t.Parallel()
	worlds(t, 1, patient, two, func(t *testing.T, w *world) {
		s := w.stores[0]
		var members [][2]string
		for i := range 90 {
			members = append(members, [2]string{fmt.Sprintf("m%02d", i), fmt.Sprintf("Common N%02d", i)})
		}
		w.named("a", append(members, [2]string{"whole", "Common"}, [2]string{"rare", "Common Rare"}, [2]string{"common n-id", "Zoe"})...)
		s.searches = searchBounds{small: 0, names: 2, ids: 1}
		complete := func(text string) bool {
			r := must(s.Search(t.Context(), "a", text, 50))(t)
			require.EqualValues(t, 93, r.Total)
			return r.Complete
		}
		require.False(t, complete("common"))
		require.Len(t, w.ids("a", "common", 50), 2*keyspace.ProfileParts+1, "and the id")
		require.Equal(t, "whole", w.ids("a", "common", 1)[0], "a whole name comes first, however many names begin so")
		require.True(t, complete("common rare"))
		require.Equal(t, []string{"rare"}, w.ids("a", "common rare", 50))
		require.Equal(t, []string{"rare"}, w.ids("a", "common r", 50))
		require.False(t, complete("common n"))
		require.Contains(t, w.ids("a", "common n", 50), "common n-id")
		require.Equal(t, []string{"m07"}, w.ids("a", "n07 common", 50))
		require.False(t, complete("m"), "there are more ids")
		require.Len(t, w.ids("a", "m", 50), keyspace.ProfileParts)
		require.True(t, complete("m2x"))
		require.Equal(t, []string{"m29"}, w.ids("a", "m29", 50))
		s.searches.names, s.searches.ids = 92, 92
		require.True(t, complete("common"))
		require.True(t, complete("m"))
	})
}

// What a search shows is true by the present profile, also where the index holds another one.
func TestSearchShowsPresentProfiles(t *testing.T) {
	t.Parallel()
	worlds(t, 1, patient, two, func(t *testing.T, w *world) {
		s := w.stores[0]
		w.named("a", [2]string{"u1", "Ann"}, [2]string{"u2", "Ann Two"}, [2]string{"u3", "Ann Three"})
		profiles := func(member string) string { return s.keys.ProfilePart("user", keyspace.ProfilePart(member)).Profiles }
		require.NoError(t, w.rdb.HSet(t.Context(), profiles("u1"), "u1", `{"name":"Bea"}`).Err())
		require.NoError(t, w.rdb.HDel(t.Context(), profiles("u2"), "u2").Err())
		for _, small := range []int64{1000, 0} {
			s.searches.small = small
			require.Equal(t, []string{"u3"}, w.ids("a", "ann", 1))
			require.Equal(t, []string{"u3"}, w.ids("a", "ann", 10))
		}
	})
}

// Hidden members are found neither on a board nor on a union of it, and again once they are shown. Their names do not
// leak. Erased members leave nothing in the index.
func TestSearchFindsNoHiddenMembers(t *testing.T) {
	t.Parallel()
	boards := func(time.Time) []definition.Board {
		return []definition.Board{
			{Name: "a", Kind: "user"}, {Name: "b", Kind: "user"},
			{Name: "all", Kind: "user", Union: &definition.Union{Of: []string{"a", "b"}}},
			{Name: "hours", Kind: "user", Window: time.Hour, Refresh: definition.Live},
			{Name: "day", Kind: "user", Period: "day"},
		}
	}
	worlds(t, 1, patient, boards, func(t *testing.T, w *world) {
		s, ctx := w.stores[0], t.Context()
		all := []string{"a", "all", "hours", "day"}
		for _, board := range []string{"a", "hours", "day"} {
			w.named(board, [2]string{"u1", "Ann One"}, [2]string{"u2", "Ann Two"})
		}
		find := func(board string, want ...string) func() error {
			return func() error {
				if w.set != nil {
					w.pass(2 * time.Second)
				}
				if ids := w.ids(board, "ann", 10); fmt.Sprint(ids) != fmt.Sprint(want) {
					return fmt.Errorf("found %v on %s; want %v", ids, board, want)
				}
				return nil
			}
		}
		for _, small := range []int64{1000, 0} {
			s.searches.small = small
			for _, board := range all {
				w.until("all members", find(board, "u1", "u2"))
			}
			require.NoError(t, s.HideEverywhere(ctx, "user", "u1", Moderator{}))
			for _, board := range all {
				w.until("no hidden member", find(board, "u2"))
				require.Empty(t, w.ids(board, "u1", 10))
				require.Empty(t, w.ids(board, "one", 10))
			}
			require.NoError(t, s.ShowEverywhere(ctx, "user", "u1", Moderator{}))
			for _, board := range all {
				w.until("the member again", find(board, "u1", "u2"))
			}
		}
		r := must(s.Search(ctx, "day@-1", "ann", 10))(t)
		require.True(t, r.Final)
		require.Empty(t, r.List)
		w.forget(t, "user", "u1")
		for _, board := range all {
			w.until("the other member", find(board, "u2"))
		}
		require.Empty(t, w.nameTraces("user", "u1"))
		require.Empty(t, w.nameTraces("user", "one"))
	})
}

func TestSearchesThatAreNone(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		rdb := must(Open(url))(t)
		t.Cleanup(func() { rdb.Close() })
		s := New(rdb, patient)
		t.Cleanup(s.Close)
		define(t, s, definition.Board{Name: "a", Kind: "user"})
		for _, c := range []struct {
			text  string
			limit int
			field string
		}{
			{"", 10, "q"}, {"  ", 10, "q"}, {strings.Repeat("a", 129), 10, "q"}, {"\xff", 10, "q"}, {"a\x00", 10, "q"},
			{"a\x1fb", 10, "q"}, {"\u3000\u00a0", 10, "q"},
			{"a", 0, "limit"}, {"a", 51, "limit"}, {"a", -1, "limit"},
		} {
			refused(t, errorOf(s.Search(t.Context(), "a", c.text, c.limit)), c.field, "%q", c.text)
		}
		require.Zero(t, must(s.Search(t.Context(), "a", strings.Repeat("中", 42), 50))(t).Total)
		for board, want := range map[string]error{
			"none": definition.ErrUnknownBoard, "a@2026": definition.ErrUnknownPeriod, "A b": definition.ErrInvalid,
		} {
			require.ErrorIs(t, errorOf(s.Search(t.Context(), board, "a", 10)), want, board)
		}
	})
}

// kindOf is the kind of a board.
func (s *Store) kindOf(t *testing.T, board string) string {
	return must(s.Board(t.Context(), board))(t).Definition.Kind
}

// replyMeter measures what Redis returns at once: to a command, or to all commands of a pipeline.
type replyMeter struct {
	mu            sync.Mutex
	values, bytes int // the most so far
}

func (m *replyMeter) pass(ctx context.Context, cmds []redis.Cmder, send redis.ProcessPipelineHook) error {
	err := send(ctx, cmds)
	m.note(cmds...)
	return err
}

func (m *replyMeter) note(cmds ...redis.Cmder) {
	values, bytes := 0, 0
	var add func(v reflect.Value)
	add = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Interface:
			add(v.Elem())
		case reflect.Slice:
			for i := range v.Len() {
				add(v.Index(i))
			}
		case reflect.Struct:
			for _, field := range v.Fields() {
				add(field)
			}
		case reflect.String:
			values, bytes = values+1, bytes+v.Len()
		default: // a number or nothing
			values, bytes = values+1, bytes+8
		}
	}
	for _, cmd := range cmds {
		add(reflect.ValueOf(cmd).MethodByName("Val").Call(nil)[0])
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.values, m.bytes = max(m.values, values), max(m.bytes, bytes)
}

// longNames are names whose texts in the index are long and many. Texts that are equal are there once, so no part repeats.
var longNames = func() (names []string) {
	run := func(begin string, first, last rune, end string) {
		name := begin
		for r := first; r <= last && len(name)+len(string(r)+end) <= maxNameBytes; r++ {
			name += string(r) + end
		}
		names = append(names, name)
	}
	run("国", '一', '龥', "")  // each character begins a text
	run("国", '㌀', '㍗', "")  // up to six characters fold from one
	run("国", 'ﷲ', 'ﷻ', "国") // likewise, 18 of them
	run("", 'a', 'z', " 国")
	run("国", 'a', 'z', "'b-")
	return names
}()

// However long names and ids are, and however many match, one command of a search returns at most 1,000 values and 128 KiB.
func TestCommandsOfASearchReturnLittle(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		const members = 1000 // as many as a small board has
		s, ctx := newNode(t, url), t.Context()
		define(t, s, definition.Board{Name: "b", Kind: "user"})
		updates := make([]definition.Update, members)
		for i := range updates {
			updates[i] = definition.Update{Member: fmt.Sprintf("%0*d", definition.MaxIDBytes, i), Score: int64(i)}
			must(s.SetProfile(ctx, "user", updates[i].Member, Profile{Name: longNames[i%len(longNames)]}))(t)
		}
		must(s.Apply(ctx, "b", updates))(t)
		var most replyMeter
		s.rdb.AddHook(redistest.Hook(most.pass))
		for _, small := range []int64{members, 0} {
			s.searches.small = small
			for _, text := range []string{"国", "国 国", "国 一", "国 丁 七", "0", longNames[0]} {
				require.Len(t, must(s.Search(ctx, "b", text, MaxFound))(t).List, MaxFound, text)
			}
		}
		t.Log(most.values, most.bytes)
		require.LessOrEqual(t, most.values, 1000)
		require.LessOrEqual(t, most.bytes, 128<<10)
	})
}

// While another caller has the turn, a search on a board of more than PacedEntries members waits. One on a smaller
// board does not.
func TestSearchWaitsForItsTurn(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s, ctx := newNode(t, url), t.Context()
		define(t, s, definition.Board{Name: "few", Kind: "user"}, definition.Board{Name: "many", Kind: "user"})
		must(s.SetProfile(ctx, "user", benchMember(0), Profile{Name: "Ana"}))(t)
		var updates []definition.Update
		for i := range PacedEntries + 1 {
			updates = append(updates, definition.Update{Member: benchMember(i), Score: 1})
		}
		for board, n := range map[string]int{"few": PacedEntries, "many": PacedEntries + 1} {
			must(s.Apply(ctx, board, updates[:n]))(t)
		}
		find := func(ctx context.Context, board string) error {
			found, err := s.Search(ctx, board, "ana", 10)
			require.True(t, err != nil || len(found.List) == 1)
			return err
		}
		for _, small := range []int64{1000, 0} {
			s.searches.small = small
			waitsForTurn(t, s, func(ctx context.Context) error { return find(ctx, "many") })
			require.NoError(t, s.inTurn(ctx, func() error { return find(ctx, "few") }))
		}
	})
}
