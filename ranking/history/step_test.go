package history

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rankcast/ranking/definition"
	"rankcast/ranking/proptest"
)

// someScore draws scores of any size, and such that are often equal.
var someScore = rapid.OneOf(rapid.Int64Range(-definition.MaxScore, definition.MaxScore), rapid.Int64Range(-2, 3))

// anyState draws a state of few members, so that two states share many.
var anyState = rapid.Custom(func(t *rapid.T) State {
	s := State{}
	for _, number := range rapid.SliceOfNDistinct(rapid.OneOf(rapid.Int64Range(0, 12), rapid.Just(int64(MaxNumber))), 0,
		MaxEntries, rapid.ID[int64]).Draw(t, "numbers") {
		s = append(s, Entry{number, someScore.Draw(t, "score")})
	}
	return s
})

// The law of steps: a step decodes to the state that was encoded, as a keyframe and as a delta.
func TestStepsRoundTrip(t *testing.T) {
	t.Parallel()
	proptest.Check(t, 2000, func(t *rapid.T) {
		before := anyState.Draw(t, "before")
		s := Step{State: anyState.Draw(t, "state"), Gap: rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(1, maxGap)).Draw(t, "gap")}
		if len(before) > 0 && rapid.Bool().Draw(t, "similar") { // as on a board: most stay
			s.State = slices.Clone(before)
			for range rapid.IntRange(0, 3).Draw(t, "changes") {
				i, j := rapid.IntRange(0, len(before)-1).Draw(t, "i"), rapid.IntRange(0, len(before)-1).Draw(t, "j")
				s.State[i], s.State[j] = s.State[j], s.State[i]
				s.State[i].Score = someScore.Draw(t, "changed")
			}
			s.State = s.State[:rapid.IntRange(0, len(before)).Draw(t, "stay")]
		}
		whole := Keyframe(s)
		got, err := Decode(nil, whole)
		require.NoError(t, err)
		require.Equal(t, s, got)
		delta := Delta(before, s)
		got, err = Decode(before, delta)
		require.NoError(t, err)
		require.Equal(t, s, got)
		_, err = Decode(nil, delta)
		require.ErrorIs(t, err, ErrNoBase)
	})
}

// A delta takes few bytes, so a history does.
func TestDeltasAreSmall(t *testing.T) {
	t.Parallel()
	var before State
	for i := range int64(MaxEntries) {
		before = append(before, Entry{i, 1_000_000 - 1000*i})
	}
	swapped, grown, moved := slices.Clone(before), slices.Clone(before), slices.Clone(before)
	swapped[2], swapped[3] = swapped[3], swapped[2]
	swapped[2].Score += 1500
	for i := range grown {
		grown[i].Score += 50
	}
	moved = slices.Insert(slices.Delete(moved, 9, 10), 0, Entry{9, 2_000_000})
	for name, c := range map[string]struct {
		state State
		most  int
	}{
		"nothing": {before, 2}, "two change places": {swapped, 6}, "all scores": {grown, 22},
		"the last becomes the first": {moved, 7}, "the last leaves": {before[:9], 2},
	} {
		require.LessOrEqual(t, len(Delta(before, Step{State: c.state})), c.most, name)
	}
}

func TestMalformedStepsAreRefused(t *testing.T) {
	t.Parallel()
	before := State{{1, 10}, {2, 5}}
	for name, b := range map[string][]byte{
		"nothing": {}, "unknown flags": {4}, "a gap without its length": {hasGap}, "a gap of nothing": {hasGap, 0},
		"a gap that is too long":   {hasGap, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
		"a number without a score": {isKeyframe, 1}, "the same member twice": {isKeyframe, 1, 2, 1, 2},
		"a number that is too great": {isKeyframe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0},
		"a number without an end":    {isKeyframe, 0x80}, "a score that is too great": append([]byte{isKeyframe, 1}, 0x80, 0x80, 0x80,
			0x80, 0x80, 0x80, 0x80, 0x80, 1),
		"a score that becomes too great": append([]byte{isKeyframe, 1, 0xfc, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x1f}, 2, 20),
		"eleven entries":                 {isKeyframe, 0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8, 0, 9, 0, 10, 0},
		"a run of nothing":               {0, opCopy}, "more than there is": {0, opCopy | 3},
		"an old entry that is not there": {0, opMove | 2}, "an old entry twice": {0, opCopy | 1, opMove}, "a jump without a change": {0, opJump},
		"a member that is there enters": {0, opCopy | 1, opEnter, 1, 0}, "an entry with a count": {0, opEnter | 1, 7, 0},
		"no operation": {0, 0x50}, "a run that ends": {0, opScore | 2, 2},
	} {
		_, err := Decode(before, b)
		require.ErrorIs(t, err, ErrMalformed, name)
	}
}

// Whatever bytes come, the decoder returns an error or a state that encodes to a step again.
func FuzzDecode(f *testing.F) {
	before := State{{1, 10}, {2, 5}, {3, -definition.MaxScore}}
	f.Add(Keyframe(Step{State: before, Gap: 7}))
	f.Add(Delta(before, Step{State: State{{2, 11}, {1, 10}, {9, 4}}, Gap: 1}))
	f.Add(Delta(before, Step{State: State{}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := Decode(before, b)
		if err != nil {
			require.ErrorIs(t, err, ErrMalformed)
			return
		}
		require.LessOrEqual(t, len(s.State), MaxEntries)
		again, err := Decode(before, Delta(before, s))
		require.NoError(t, err)
		require.Equal(t, s, again)
		again, err = Decode(nil, Keyframe(s))
		require.NoError(t, err)
		require.Equal(t, s, again)
	})
}
