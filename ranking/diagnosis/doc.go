// Package diagnosis judges what Redis says of itself: whether its settings keep scores, and what
// to change.
//
// A [Server] holds the answers of one Redis. Each check is a function of a Server that returns a
// [Finding]. [Settings] makes the checks that a node makes at its start, and [Full] makes all of
// them. Package ranking asks Redis and fills in the Server; this package is pure and does no input
// or output.
//
// Redis may refuse a question to the user. The check then returns a Finding of the level [Unknown],
// which says how to find out.
package diagnosis
