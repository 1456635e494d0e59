package ranking

import (
	"strings"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/keyspace"
)

// The documentation of the package explains shards.

// ShardOf returns the number of the shard, of so many, to which a member belongs, 0 to shards−1: xxhash64(member) mod shards, with the
// seed 0.
func ShardOf(member string, shards int) int { return keyspace.ShardOf(member, shards) }

// ShardName is the name by which package feed knows a shard of an instance.
func ShardName(instance string, number int) string { return keyspace.Shard(instance, number) }

// NameOf is the name by which Redis and package feed know the shard of a member, or the instance if it has no shards.
func NameOf(instance, member string, shards int) string {
	return keyspace.NameOf(instance, member, shards)
}

// ShardNames returns the names by which Redis and package feed know an instance: those of its shards, or its own if it has none.
func ShardNames(instance string, shards int) []string {
	if shards == 0 {
		return []string{instance}
	}
	names := make([]string, shards)
	for i := range names {
		names[i] = ShardName(instance, i)
	}
	return names
}

// shardNames returns the names under which Redis holds an instance. Without a definition, these are all names that it may have.
func shardNames(r *definition.Compiled, instance string) []string {
	if r == nil {
		return append([]string{instance}, ShardNames(instance, definition.MaxShards)...)
	}
	return ShardNames(instance, r.Shards)
}

// periodKeys returns the keys of a period of an instance: of each shard, or of the instance itself.
func (s *Store) periodKeys(r *definition.Compiled, instance, period string) []keyspace.BoardKeys {
	names := shardNames(r, instance)
	keys := make([]keyspace.BoardKeys, len(names))
	for i, name := range names {
		keys[i] = s.keys.Board(name, period)
	}
	return keys
}

// States are the states of the shards of a board-period, by number. The state of a board without shards stands alone.
type States []State

// State is what clients see of the states: a digest of the epochs, and the sum of the seqs. It is the state itself if it stands alone.
func (s States) State() State {
	if len(s) == 1 {
		return s[0]
	}
	all, epochs := State{}, make([]string, len(s))
	for i, one := range s {
		all.Seq += one.Seq
		epochs[i] = one.Epoch
	}
	if joined := strings.Join(epochs, keyspace.FieldSep); len(joined) >= len(s) { // a shard has been written to
		all.Epoch = definition.Digest([]byte(joined))
	}
	return all
}

// Reaches reports whether each state is of the same life as that of other, and not before it.
func (s States) Reaches(other States) bool {
	if len(s) != len(other) {
		return false
	}
	for i, one := range s {
		if one.Epoch != other[i].Epoch || one.Seq < other[i].Seq {
			return false
		}
	}
	return true
}

// sameLives reports whether other has as many shards, and whether each shard with data in s has the same life there.
func (s States) sameLives(other States) bool {
	if len(s) != len(other) {
		return false
	}
	for i, one := range s {
		if one.Epoch != "" && one.Epoch != other[i].Epoch {
			return false
		}
	}
	return true
}
