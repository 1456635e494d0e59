package definition

import (
	"cmp"
	"slices"
	"strings"
)

// NameSpan is all names of boards from From on and before Before, in the order of their bytes.
type NameSpan struct{ From, Before string }

// afterNames is greater than each byte of a name, which is UTF-8.
const afterNames = "\xff"

// SpanOfName is the span of one name. A name has no control characters, so no other name is in it.
func SpanOfName(name string) NameSpan { return NameSpan{name, name + "\x00"} }

// SpanOfPrefix is the span of all names that begin with prefix; "" stands for all names.
func SpanOfPrefix(prefix string) NameSpan { return NameSpan{prefix, prefix + afterNames} }

// SpanOfSlot is the span of all names that an instance of a family in the slot may have.
func SpanOfSlot(slot string) NameSpan {
	base, _, _ := strings.Cut(slot, "/")
	return SpanOfPrefix(base + ":")
}

// Within returns the part of s that is in other. It returns false if there is none.
func (s NameSpan) Within(other NameSpan) (part NameSpan, some bool) {
	part = NameSpan{max(s.From, other.From), min(s.Before, other.Before)}
	return part, part.From < part.Before
}

// JoinSpans sorts spans, and joins those that overlap. The result has the same names.
func JoinSpans(spans []NameSpan) []NameSpan {
	sorted := slices.SortedFunc(slices.Values(spans), func(a, b NameSpan) int { return cmp.Compare(a.From, b.From) })
	joined := sorted[:0]
	for _, s := range sorted {
		if last := len(joined) - 1; last >= 0 && s.From <= joined[last].Before {
			joined[last].Before = max(joined[last].Before, s.Before)
			continue
		}
		joined = append(joined, s)
	}
	return joined
}
