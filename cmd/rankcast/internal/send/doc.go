// Package send is rankcast send: it sends one score to a board, or one event, and shows what
// came of it.
package send
