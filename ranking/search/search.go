package search

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// MaxEntry is the greatest length of the text of an entry, in bytes. Names and queries that agree so far
	// and differ later are told apart by the name itself.
	MaxEntry = 48
	// MaxEntries is the greatest number of entries of a member. A name of 128 bytes has 42 Chinese characters, and
	// as many words as that only if each is short. A search does not know the words beyond.
	MaxEntries = 64
)

// idMark begins the entry of an id. No folded text begins with a space.
const idMark = " "

// Name is the folded name of a member. The zero Name matches no query.
type Name struct {
	whole string   // its words, with single spaces; without words, the folded name
	texts []string // from each place on where a search may begin; whole is the first
}

// NewName folds the name of a member; "" for none.
func NewName(name string) Name {
	folded := Fold(name)
	list, others := words(folded)
	if len(list) == 0 && folded != "" {
		return Name{whole: folded, texts: []string{folded}}
	}
	n := Name{whole: strings.Join(list, " ")}
	for _, text := range append([]string{n.whole}, others...) {
		for _, i := range starts(text) {
			if len(n.texts) < MaxEntries-1 && !slices.Contains(n.texts, text[i:]) {
				n.texts = append(n.texts, text[i:])
			}
		}
	}
	return n
}

// Entry is a text by which an index finds a member.
type Entry struct {
	Text string // 1 to MaxEntry bytes without control characters
	// Whole says that the text is a whole name. It is false for the end of a name, and for an id.
	Whole bool
}

// Entries returns 1 to MaxEntries entries, those of a member. Each text is there once. name is "" for a member without
// a name.
func Entries(name, id string) []Entry {
	entries := []Entry{{Text: clip(idMark + Fold(id))}}
	for i, text := range NewName(name).texts {
		e := Entry{clip(text), i == 0 && len(text) <= MaxEntry}
		if !slices.ContainsFunc(entries, func(other Entry) bool { return other.Text == e.Text }) {
			entries = append(entries, e)
		}
	}
	return entries
}

// clip shortens a text to MaxEntry bytes, at the end of a character.
func clip(text string) string {
	if len(text) <= MaxEntry {
		return text
	}
	end := MaxEntry
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// Query is a folded search text. The zero Query matches nothing.
type Query struct {
	id    string   // folded as an id
	whole string   // folded as a name
	words []string // of a text without words: the folded text
}

// NewQuery folds a search text. A Query that IsEmpty matches nothing.
func NewQuery(text string) Query {
	folded := Fold(text)
	list, _ := words(folded)
	if len(list) == 0 && folded != "" {
		list = []string{folded}
	}
	return Query{id: folded, whole: strings.Join(list, " "), words: list}
}

// IsEmpty reports whether nothing is left of the text after folding.
func (q Query) IsEmpty() bool { return q.id == "" }

// maxPrefixes bounds the prefixes of a query. Longer words are rarer, so they come first.
const maxPrefixes = 8

// Prefixes returns the texts with which an entry of each member that matches by its name begins: each member has one for
// each of them. The longest comes first. There are 1 to 8, or none for an empty query.
func (q Query) Prefixes() []string {
	prefixes := make([]string, 0, len(q.words))
	for _, word := range q.words {
		prefixes = append(prefixes, clip(word))
	}
	slices.SortStableFunc(prefixes, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	prefixes = slices.Compact(prefixes)
	return prefixes[:min(len(prefixes), maxPrefixes)]
}

// Phrase returns the text with which an entry of a member begins whose name has the words of the query in this order. It
// is the only prefix of a query of one word.
func (q Query) Phrase() string { return clip(q.whole) }

// IDPrefix returns the text with which the entry of each member begins that matches by its id. It is "" for an
// empty query.
func (q Query) IDPrefix() string {
	if q.IsEmpty() {
		return ""
	}
	return clip(idMark + q.id)
}

// MatchesName reports whether each word of the query begins at the start of a word of a name. A query without words
// matches a name without words that begins with the query.
func (q Query) MatchesName(n Name) bool {
	for _, word := range q.words {
		if !n.has(word) {
			return false
		}
	}
	return len(q.words) > 0
}

func (n Name) has(word string) bool {
	return slices.ContainsFunc(n.texts, func(text string) bool { return strings.HasPrefix(text, word) })
}

// MatchesID reports whether the folded id of a member begins with the folded query.
func (q Query) MatchesID(id string) bool { return !q.IsEmpty() && strings.HasPrefix(Fold(id), q.id) }

// IsWhole reports whether the query is the whole name.
func (q Query) IsWhole(n Name) bool { return q.whole != "" && q.whole == n.whole }
