package keyspace

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// No two things of a board are kept under one name.
func TestKeysOfABoardDiffer(t *testing.T) {
	t.Parallel()
	k := New("rc")
	for _, period := range []string{"", "2026"} {
		b, ids := k.Board("u", period), k.Ids("u")
		all := slices.Concat(b.All(), k.Build("u").All(), ids[:], []string{b.Periods, b.Channel})
		slices.Sort(all)
		require.Equal(t, all, slices.Compact(slices.Clone(all)))
	}
}

// The keys of a part of the profiles of a kind are in one slot, and are those of no board, event, other part or kind.
func TestKeysOfProfiles(t *testing.T) {
	t.Parallel()
	k := New("rc")
	all := []string{k.Agenda(), k.Definitions(), k.Profiles(), k.Board("profiles/user/1", "").Members, k.EventIDs("profiles")[0],
		k.EventIDs("profiles/user/1")[0]}
	for _, kind := range []string{"user", "star"} {
		for part := range ProfileParts {
			p := k.ProfilePart(kind, part)
			for _, key := range []string{p.Profiles, p.Names} {
				require.Contains(t, key, fmt.Sprintf("rc:{/profiles/%s/%d}:", kind, part))
				all = append(all, key)
			}
		}
	}
	slices.Sort(all)
	require.Equal(t, all, slices.Compact(slices.Clone(all)))
}

// The part of a member never changes, because Redis holds profiles by it. The digests are published values of XXH64.
func TestPartsOfMembers(t *testing.T) {
	t.Parallel()
	for member, digest := range map[string]uint64{"": 0xef46db3751d8e999, "a": 0xd24ec4f1a98c6e5b, "abc": 0x44bc2cf5ad770999} {
		require.EqualValues(t, digest%16, ProfilePart(member), member)
	}
	var members [ProfileParts]int
	for i := range 16_000 {
		members[ProfilePart(fmt.Sprint("m", i))]++
	}
	require.Greater(t, slices.Min(members[:]), 800)
}

// A cluster whose masters hold as many slots each spreads the shards of each board evenly over 2, 4, 8 and 16 masters.
func TestShardsSpreadOverMasters(t *testing.T) {
	t.Parallel()
	const slots = 16384
	slot := func(text string) (crc uint16) { // CRC16/XMODEM, by the specification of Redis Cluster
		for _, b := range []byte(text) {
			crc ^= uint16(b) << 8
			for range 8 {
				if carry := crc >> 15; carry == 1 {
					crc = crc<<1 ^ 0x1021
				} else {
					crc <<= 1
				}
			}
		}
		return crc % slots
	}
	require.EqualValues(t, 0x31c3%slots, slot("123456789"))
	for _, instance := range []string{"b", "votes", "fans:s17", "votes:de:mobile", "投票:鹿见汀"} {
		for shards := 2; shards <= 16; shards *= 2 {
			var masters []int
			for number := range shards {
				name := Shard(instance, number)
				masters = append(masters, int(slot(name))*shards/slots)
				of, parsed := ParseShard(name)
				require.Equal(t, instance, of)
				require.Equal(t, number, parsed)
			}
			slices.Sort(masters)
			require.Len(t, slices.Compact(masters), shards, "%d shards of %s", shards, instance)
		}
	}
	of, number := ParseShard("votes")
	require.Equal(t, "votes", of)
	require.Zero(t, number)
}
