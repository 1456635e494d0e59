// Package hubtest decodes the frames of a hub and folds them into the state that a client
// holds, for tests of the packages that send frames.
//
// A [Message] is any frame. [Board.Fold] applies a snapshot, a delta, a me or a board to a [Board],
// and returns an error for a frame that a client could not apply.
package hubtest
