// Package history encodes the steps of a board's history: its first ten entries at some moments.
//
// # Words
//
// A [State] is the first entries of a board at one moment, in the order of the board. A step is a
// state with a time; the store keeps the time beside the encoded step. A keyframe holds its whole
// state. A delta holds the difference to the step before, so a reader begins at a keyframe. A gap is a
// time before a step in which no node looked at the board.
//
// # Form
//
// A step is one byte of flags, with a gap its length in ms, and then:
//
//	keyframe  for each entry: the number of the member, and its score; from the second entry on, the
//	          difference to the score above
//	delta     operations that build the new state from the old one, from the first entry on
//
// An operation is a byte: the kind in its high half, a count or an index in its low half.
//
//	copy n    the next n old entries that are not used yet, as they were
//	score n   likewise, each with the change of its score
//	move i    old entry i as it was, which is not the next one
//	jump i    likewise, with the change of its score
//	enter     a member that was not in the old state: its number and its score
//
// Integers are varints as encoding/binary has them; scores and differences are zigzag. Old entries that
// no operation uses have left. So a step in which two members change places takes about 6 bytes, and one in
// which all ten scores change takes about 30.
//
// Members appear as small numbers: the store keeps the number of each. So the store erases a member
// from a history when it forgets the member's number.
//
// The package is pure: it knows neither Redis nor the network, nor the names of members.
package history
