package ranking

import (
	"rankcast/ranking/sortkey"
)

// Entry is a member's place on a board.
type Entry struct {
	Rank   int64 // 1-based, by the ties of the board
	Member string
	Score  int64       // within ±definition.MaxScore
	Key    sortkey.Key // where it stands; see Cursor
	Data   string      // JSON that came with an update; "" for none
}
