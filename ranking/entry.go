package ranking

import (
	"rankcast/ranking/sortkey"
)

// Entry is one member of a board, with its rank and score.
type Entry struct {
	Rank   int64 // 1-based, by the ties rule of the board
	Member string
	Score  int64       // within ±definition.MaxScore
	Key    sortkey.Key // position in the sorted set; see Cursor
	Data   string      // JSON from an update; "" for none
}
