package ranking

import (
	"strings"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/keyspace"
)

// A board with shards is held in parts: each shard of an instance is a whole board-period under a hash tag of its own, with
// the scripts, request ids, seq and epoch of any board. A member belongs to one shard for ever. Reads take each shard's
// answer and merge them by (sort key, member), so an answer is exact where nobody moves meanwhile.

// ShardOf returns the number of the shard, of so many, to which a member belongs, 0 to shards−1: xxhash64(member) mod shards, with the
// seed 0.
func ShardOf(member string, shards int) int { return keyspace.ShardOf(member, shards) }

// ShardName is the name by which package feed knows a shard of an instance.
func ShardName(instance string, number int) string { return keyspace.Shard(instance, number) }

// shardNames returns the names under which Redis holds an instance: one for each shard, and the name of the instance itself
// without shards. Without a definition, these are all names that it may have.
func shardNames(r *definition.Compiled, instance string) []string {
	if r != nil && r.Shards == 0 {
		return []string{instance}
	}
	var names []string
	n := definition.MaxShards
	if r == nil {
		names = append(names, instance)
	} else {
		n = r.Shards
	}
	for i := range n {
		names = append(names, keyspace.Shard(instance, i))
	}
	return names
}

// shardOf returns the name under which Redis holds a member of an instance.
func shardOf(shards int, instance, member string) string {
	if shards == 0 {
		return instance
	}
	return keyspace.Shard(instance, keyspace.ShardOf(member, shards))
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

// sameLives reports whether other has the same shards, and no shard that has been written to in s has another life there.
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
