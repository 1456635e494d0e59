package ranking

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
)

// erasures goes through all pages of the list of erasures, and lists the kinds and members.
func (w *world) erasures(may func(string) bool, limit int) (list []MemberErasure, names []string) {
	w.t.Helper()
	for after, pages := "", 0; after != "" || pages == 0; pages++ {
		page := must(w.stores[0].Erasures(w.t.Context(), may, after, limit))(w.t)
		require.LessOrEqual(w.t, len(page.List), limit)
		require.Less(w.t, pages, 20)
		list, after = append(list, page.List...), page.Next
	}
	for _, e := range list {
		names = append(names, e.Kind+" "+e.Member)
	}
	return list, names
}

// A list shows the erasures under way and those that have ended, of the kinds that the caller may know of, by pages of any
// size, also where many have ended at one time.
func TestErasuresAreListed(t *testing.T) {
	t.Parallel()
	boards := func(time.Time) []definition.Board {
		return []definition.Board{{Name: "users", Kind: "user"}, {Name: "stars", Kind: "star"}}
	}
	all := func(string) bool { return true }
	worlds(t, 2, patient, boards, func(t *testing.T, w *world) {
		s := w.stores[0]
		list, _ := w.erasures(all, 10)
		require.Empty(t, list)
		w.write(s, "users", "u1", 1)
		for i := range 5 {
			must(s.Erase(t.Context(), "user", fmt.Sprint("u", i), Moderator{}))(t)
		}
		w.untilErased("user", "u0", "u1", "u2", "u3", "u4") // all by one walk
		for _, of := range []string{"user x", "star s2", "star s1", "user u4"} {
			w.passSimulated(time.Second)
			must(s.Erase(t.Context(), of[:4], of[5:], Moderator{}))(t)
		}
		list, names := w.erasures(all, 100)
		require.Equal(t, []string{"star s2", "star s1", "user x", "user u4"}, names[:4], "under way: by kind, the earliest first")
		ended := slices.Sorted(slices.Values(names[4:]))
		require.Equal(t, []string{"user u0", "user u1", "user u2", "user u3"}, ended)
		for _, e := range list {
			require.Equal(t, must(s.Erasure(t.Context(), e.Kind, e.Member))(t), e.Erasure)
		}
		for limit := range 9 {
			_, paged := w.erasures(all, limit+1)
			require.Equal(t, names, paged, "pages of %d", limit+1)
			_, stars := w.erasures(func(kind string) bool { return kind == "star" }, limit+1)
			require.Equal(t, names[:2], stars, "pages of %d", limit+1)
		}
		for _, cursor := range []string{"x", "{", `{"at":-1}`, `{"passed":-1}`, `[]`, `{"at":"1"}`} {
			refused(t, errorOf(s.Erasures(t.Context(), all, cursor, 10)), "cursor")
		}
		refused(t, errorOf(s.Erasures(t.Context(), all, "", 0)), "limit")
		refused(t, errorOf(s.Erasures(t.Context(), all, "", MaxErasuresPage+1)), "limit")
	})
}
