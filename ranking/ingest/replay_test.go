package ingest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

// A replayed entry has the request id and the time of the entry that the producer wrote. It replays once, also
// where it is refused again.
func TestReplay(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		b := newBench(t, url)
		now := redistest.Must(b.rdb.Time(t.Context()).Result())(t)
		id := fmt.Sprintf("%d-7", now.Add(-hour/2).UnixMilli())
		b.addAs(id, "board", "later", "member", "m", "score", "3")
		partly := b.add("event", "cheer", "star", "s17", "n", "11")
		b.add("board", "later", "member", "m", "score", "4", "id", "mine")
		wrong := b.add("board", "later", "member", "m", "score", "x")
		in := b.ingest()
		c := in.consumer(stream)
		b.drain(c)
		letters, _ := b.letters()
		require.Len(t, letters, 4)

		// Still no board: the same dead letters, with the same origins.
		moved, left, err := in.Replay(t.Context(), Refused)
		require.NoError(t, err)
		require.Equal(t, []int{3, 1}, []int{moved, left})
		b.drain(c)
		again, _ := b.letters()
		require.ElementsMatch(t, letters, again)
		require.NoError(t, b.store.Define(t.Context(),
			definition.Set{Boards: []definition.Board{{Name: "later", Window: hour, Refresh: definition.Live}}}))
		moved, left, err = in.Replay(t.Context(), Refused)
		require.NoError(t, err)
		require.Equal(t, []int{3, 1}, []int{moved, left})
		b.fake.updates = nil
		b.drain(c)
		require.EqualValues(t, 7, b.score("later", "m"))
		require.Equal(t, "rc:ingest "+id, b.fake.updates[0].ID)
		require.Equal(t, now.Add(-hour/2).UnixMilli(), b.fake.updates[0].At.UnixMilli())
		require.Equal(t, "mine", b.fake.updates[1].ID)
		letters, fields := b.letters()
		require.Equal(t, []letter{{stream, partly, codePartly, "score"}, {stream, wrong, "invalid_request", "score"}}, letters)
		require.Equal(t, []string{"rankcast:entry", wrong, "board", "later", "member", "m", "score", "x"}, fields[1])

		// The operator decides about those that may have counted. The request id is still known here.
		moved, left, err = in.Replay(t.Context(), All)
		require.NoError(t, err)
		require.Equal(t, []int{2, 0}, []int{moved, left})
		b.drain(c)
		require.EqualValues(t, 1, b.score("hot", "s17"))
	})
}

// Replay moves all dead letters that there are, in order, whatever their number.
func TestReplayOfMany(t *testing.T) {
	t.Parallel()
	b := newBench(t, redistest.Embedded(t))
	in := b.ingest()
	c := in.consumer(stream)
	const many = 2*replayCount + 5
	for i := range many {
		b.add("board", "later", "member", "m", "score", fmt.Sprint(i))
	}
	b.drain(c)
	moved, left, err := in.Replay(t.Context(), Refused)
	require.NoError(t, err)
	require.Equal(t, []int{many, 0}, []int{moved, left})
	require.NoError(t, b.store.Define(t.Context(), definition.Set{Boards: []definition.Board{{Name: "later", Mode: definition.Last}}}))
	b.drain(c)
	require.EqualValues(t, many-1, b.score("later", "m"))
	moved, left, err = in.Replay(t.Context(), Refused)
	require.NoError(t, err)
	require.Equal(t, []int{0, 0}, []int{moved, left})
}
