package ingest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/redistest"
)

// An entry for whose id its board has no room waits until there is some, and is no dead letter.
func TestAFullBoardLosesNoEntry(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		b := newBench(t, url)
		b.add("board", "stars", "member", "m", "score", "1")
		refusals := 2
		b.fake.before = func() error {
			if refusals == 0 {
				return nil
			}
			refusals--
			return &ranking.FieldError{Field: "id", Reason: "is one too many", Kind: ranking.ErrTooManyIDs}
		}
		c := b.ingest().consumer(stream)
		for range 2 {
			_, err := c.batch(t.Context())
			require.ErrorIs(t, err, ranking.ErrTooManyIDs)
			require.EqualValues(t, 1, b.length(stream))
		}
		b.drain(c)
		require.EqualValues(t, 1, b.score("stars", "m"))
		letters, _ := b.letters()
		require.Empty(t, letters)
	})
}
