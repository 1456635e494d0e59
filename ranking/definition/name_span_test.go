package definition

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rankcast/ranking/proptest"
)

func (s NameSpan) has(name string) bool { return s.From <= name && name < s.Before }

// A span has the names that it is for, and no others.
func TestNameSpans(t *testing.T) {
	t.Parallel()
	names := []string{"a", "a:b", "fans", "fans-x", "fans:", "fans:s1", "fans:s1 ", "fans:s10", "fans:é", "fans:\U0010ffff",
		"fans;", "fansx:a", "z"}
	for what, c := range map[string]struct {
		span NameSpan
		want []string
	}{
		"name":   {SpanOfName("fans:s1"), []string{"fans:s1"}},
		"prefix": {SpanOfPrefix("fans:s1"), []string{"fans:s1", "fans:s1 ", "fans:s10"}},
		"all":    {SpanOfPrefix(""), names},
		"slot":   {SpanOfSlot("fans/1"), []string{"fans:", "fans:s1", "fans:s1 ", "fans:s10", "fans:é", "fans:\U0010ffff"}},
	} {
		got := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !c.span.has(name) })
		require.Equal(t, c.want, got, what)
	}
}

// Joined spans have the names of the spans that they come from. They are sorted, and apart from each other.
func TestJoinedSpans(t *testing.T) {
	t.Parallel()
	name := rapid.StringMatching(`[ab]{0,3}`)
	proptest.Check(t, 200, func(t *rapid.T) {
		var spans []NameSpan
		for range rapid.IntRange(0, 6).Draw(t, "spans") {
			if n := name.Draw(t, "name"); rapid.Bool().Draw(t, "prefix") {
				spans = append(spans, SpanOfPrefix(n))
			} else {
				spans = append(spans, SpanOfName(n))
			}
		}
		before := slices.Clone(spans)
		joined := JoinSpans(spans)
		require.Equal(t, before, spans, "the caller's list stays")
		for i := 1; i < len(joined); i++ {
			require.Less(t, joined[i-1].Before, joined[i].From)
		}
		clip := SpanOfPrefix(name.Draw(t, "within"))
		for range 20 {
			n := name.Draw(t, "one")
			in := func(spans []NameSpan) bool {
				return slices.ContainsFunc(spans, func(s NameSpan) bool { return s.has(n) })
			}
			require.Equal(t, in(spans), in(joined), n)
			within := slices.ContainsFunc(joined, func(s NameSpan) bool {
				part, some := s.Within(clip)
				return some && part.has(n)
			})
			require.Equal(t, in(spans) && clip.has(n), within, n)
		}
	})
}
