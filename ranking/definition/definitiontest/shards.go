// Package definitiontest tells tests what definitions come to in their run.
package definitiontest

import (
	"rankcast/ranking/definition"
	"rankcast/ranking/internal/keyspace"
)

// Shards is the number of shards that a board has in this run of the tests, if its definition gives none and may give some; 0: none.
// See .ci/sharded.
func Shards() int {
	board, err := definition.Board{Name: "b"}.Normalize()
	if err != nil {
		panic(err)
	}
	return board.Shards
}

// NameOf is the name under which Redis holds a member of an instance in this run of the tests, if the definition of the board gives no
// shards and may give some.
func NameOf(instance, member string) string {
	return keyspace.NameOf(instance, member, Shards())
}
