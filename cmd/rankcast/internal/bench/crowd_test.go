package bench

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/server/client"
)

const (
	snapshotABC = `{"type":"snapshot","board":"b","seq":3,"total":5,"top":[{"rank":1,"member":"a","score":9},{"rank":2,` +
		`"member":"b","score":8},{"rank":3,"member":"c","score":7}]}`
	deltaB = `{"type":"delta","board":"b","from":3,"seq":6,"total":6,"rows":[[0,{"rank":1,"member":"b","score":10}],[1,` +
		`{"rank":2,"member":"a","score":9}]],"len":3}`
)

// All watchers that take the same frames come to the same state, and each step tells its updates once.
func TestFolder(t *testing.T) {
	t.Parallel()
	steps := 0
	f := &folder{shows: func(before, after *boardState) []int {
		steps++
		return []int{int(before.seq), int(after.seq)}
	}}
	var first *boardState
	for range 3 {
		s, err := f.fold(nil, []byte(snapshotABC))
		require.NoError(t, err)
		require.Empty(t, s.shown)
		s, err = f.fold(s.after, []byte(deltaB))
		require.NoError(t, err)
		require.Equal(t, []int{3, 6}, s.shown)
		require.Equal(t, &boardState{6, 6, []entry{{1, "b", 10}, {2, "a", 9}, {3, "c", 7}}}, s.after)
		if first == nil {
			first = s.after
		}
		require.Same(t, first, s.after)
		same, err := f.fold(s.after, []byte(`{"type":"status","stale":true}`))
		require.NoError(t, err)
		require.Same(t, s.after, same.after)
		require.Empty(t, same.shown)
	}
	require.Equal(t, 1, steps)

	// Another way to the same state, with a shorter list on the way.
	s, err := f.fold(nil, []byte(`{"type":"snapshot","seq":5,"total":6,"top":[{"rank":1,"member":"b","score":10}]}`))
	require.NoError(t, err)
	s, err = f.fold(s.after,
		[]byte(`{"type":"delta","from":5,"seq":6,"total":6,"rows":[[1,{"rank":2,"member":"a","score":9}],[2,{"rank":3,`+
			`"member":"c","score":7}]],"len":3}`))
	require.NoError(t, err)
	require.Same(t, first, s.after)
	s, err = f.fold(s.after, []byte(`{"type":"delta","from":6,"seq":7,"total":1,"rows":[],"len":1}`))
	require.NoError(t, err)
	require.Equal(t, &boardState{7, 1, []entry{{1, "b", 10}}}, s.after)
}

func TestFramesThatDoNotFit(t *testing.T) {
	t.Parallel()
	f := &folder{shows: func(_, _ *boardState) []int { return nil }}
	_, err := f.fold(nil, []byte(deltaB))
	require.ErrorIs(t, err, errFrame, "a delta before the snapshot")
	s, err := f.fold(nil, []byte(snapshotABC))
	require.NoError(t, err)
	for name, frame := range map[string]string{
		"another seq": `{"type":"delta","from":4,"seq":5,"total":5,"rows":[],"len":3}`,
		"a hole":      `{"type":"delta","from":3,"seq":5,"total":5,"rows":[[4,{"rank":5,"member":"e","score":1}]],"len":3}`,
		"a long len":  `{"type":"delta","from":3,"seq":5,"total":5,"rows":[],"len":4}`,
		"no JSON":     `{"type":"delta","from":3,`,
		"a bad row":   `{"type":"delta","from":3,"seq":5,"total":5,"rows":[{}],"len":3}`,
	} {
		_, err := f.fold(s.after, []byte(frame))
		require.ErrorIs(t, err, errFrame, name)
	}
}

// A watcher is right only if all of its list is what the server answers.
func TestShows(t *testing.T) {
	t.Parallel()
	page := client.Page{Total: 2, Top: []client.Entry{{Rank: 1, Member: "a", Score: 9}, {Rank: 2, Member: "b", Score: 8}}}
	state := &boardState{7, 2, []entry{{1, "a", 9}, {2, "b", 8}}}
	require.True(t, shows(state, page))
	require.False(t, shows(nil, page))
	for _, wrong := range []*boardState{
		{7, 3, state.top}, {7, 2, state.top[:1]}, {7, 2, []entry{{1, "a", 9}, {2, "b", 7}}},
		{7, 2, []entry{{1, "a", 9}, {1, "b", 8}}}, {7, 2, []entry{{1, "b", 8}, {2, "a", 9}}},
	} {
		require.False(t, shows(wrong, page))
	}
}

func TestReadMe(t *testing.T) {
	t.Parallel()
	rank, score, ok := readMe([]byte(`{"type":"me","board":"b","seq":4,"rank":12,"score":-35,"total":30}`))
	require.True(t, ok)
	require.EqualValues(t, 12, rank)
	require.EqualValues(t, -35, score)
	_, _, ok = readMe([]byte(`{"type":"me","board":"b","seq":4,"rank":null,"score":null,"total":30}`))
	require.False(t, ok)
	_, _, ok = readMe([]byte(`{"type":"me","rank":1}`))
	require.False(t, ok)
}
