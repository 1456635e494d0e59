package ingest

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

// An entry that surely has not counted is tried again, however long that takes, and is no dead letter. So are the entries
// behind it. An entry that may have counted becomes a dead letter, unless a script has looked its request id up since.
func TestAFullBoardLosesNoEntry(t *testing.T) {
	t.Parallel()
	full := &definition.FieldError{Field: "id", Reason: "is one too many", Kind: definition.ErrTooManyIDs}
	lost := errors.Join(definition.ErrUnavailable, definition.ErrOutcomeUnknown)
	for _, of := range []struct {
		name    string
		errs    []error // of the attempts, eight minutes apart
		unknown int
	}{
		{"full", []error{full, full, full}, 0},
		{"full after a lost answer", []error{lost, full, full, full}, 0},
		{"overloaded", []error{definition.ErrOverloaded, definition.ErrUnavailable, full, definition.ErrOverloaded}, 0},
		{"a lost answer, and no look at the id", []error{lost, definition.ErrOverloaded, definition.ErrUnavailable}, 1},
	} {
		t.Run(of.name, func(t *testing.T) {
			t.Parallel()
			clockedEngines(t, func(t *testing.T, b *bench, pass func(time.Duration)) {
				b.add("board", "stars", "member", "m", "score", "1")
				b.add("event", "sad", "star", "behind", "n", "1")
				b.add("board", "none", "member", "m", "score", "1")
				c, errs := b.ingest().consumer(stream), of.errs
				b.fake.before = func() error {
					if len(errs) == 0 {
						return nil
					}
					err := errs[0]
					errs = errs[1:]
					return err
				}
				for _, want := range of.errs {
					require.ErrorIs(t, redistest.ErrorOf(c.batch(t.Context())), want)
					pass(8 * time.Minute)
					b.dropLease()
				}
				b.drain(c)
				require.EqualValues(t, 1-of.unknown, b.score("stars", "m"))
				require.EqualValues(t, 1, b.score("low", "behind"))
				codes := make(map[string]int)
				letters, _ := b.letters()
				for _, l := range letters {
					codes[l.Code]++
				}
				require.Equal(t, 1, codes["unknown_board"], "refused, and surely not applied before")
				require.Equal(t, of.unknown, codes[codeUnknown])
				require.Len(t, letters, 1+of.unknown)
			})
		})
	}
}

// While Redis is at its maxmemory, it refuses each update before anything counts. The entries of then are no dead letters.
func TestFullMemoryLosesNoEntry(t *testing.T) {
	t.Parallel()
	redis, shift := redistest.StartShifted(t)
	b := newBench(t, redis.URL())
	b.add("board", "stars", "member", "m", "score", "1")
	b.add("event", "gift", "star", "s", "user", "u", "flowers", "1")
	in := redistest.Must(New(b.rdb, b.fake, Config{Explain: explain, Lease: 2 * time.Hour}))(t)
	c := in.consumer(stream)
	_, err := c.take(t.Context(), 0) // acquires the lease, which a full Redis refuses
	require.NoError(t, err)
	require.NoError(t, redis.Admin().ConfigSet(t.Context(), "maxmemory", "1").Err())
	for i := range 4 {
		require.ErrorIs(t, redistest.ErrorOf(c.batch(t.Context())), definition.ErrUnavailable)
		shift(time.Duration(i+1) * 8 * time.Minute)
	}
	require.NoError(t, redis.Admin().ConfigSet(t.Context(), "maxmemory", "0").Err())
	b.drain(c)
	require.EqualValues(t, 1, b.score("stars", "m"))
	require.EqualValues(t, 1, b.score("stars", "s"))
	letters, _ := b.letters()
	require.Empty(t, letters)
}
