// Package search folds the names and ids of members to the form by which a search compares
// them, and matches queries with them. It is pure: it knows neither Redis nor boards.
//
// # Folding
//
// Two texts are equal for a search when [Fold] makes them equal. Fold removes differences of
// case, of width and other compatibility forms, of accents, and of invisible characters. It
// applies the compatibility decomposition (NFKD), the full case folding, and the composition
// (NFC) of Unicode. Between them it drops diacritics: the nonspacing marks of all scripts in
// common, of Hebrew and of Arabic. It keeps the marks of Kana and the vowel signs of Indic and
// Thai scripts, because these are other letters. Some Latin letters have no decomposition,
// such as ø and ł. A table replaces them as Latin-ASCII of Unicode CLDR does.
//
// # Words
//
// A word is a run of letters, numbers and marks. An apostrophe within a word is no boundary:
// O'Neil is the word oneil. A hyphen is one: Jean-Luc is jean and luc. So that either spelling
// finds the name, a name also has the parts at its apostrophes (neil) and its hyphenated words
// in one (jeanluc). A query has only its words. Han, Kana and Hangul have no boundaries
// between words, so each of their characters begins one.
//
// A [Query] matches a name if each word of the query begins at the start of a word of the name. It matches
// an id if the folded id begins with the folded query. A text such as "🌸🌸" has no words: such a query
// matches a name without words if the folded name begins with the folded query.
//
// # Entries
//
// [Entries] lists the texts by which an index finds a member: the folded name from the start of each word
// on, and the folded id. A name without words has one text, the folded name. A sorted list of them finds a member by one prefix.
package search
