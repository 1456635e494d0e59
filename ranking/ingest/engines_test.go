package ingest

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

// exercise applies an entry, makes a dead letter and replays it.
func exercise(t *testing.T, b *bench, streams ...string) {
	in := redistest.Must(New(b.rdb, b.fake, Config{Streams: streams, Explain: explain}))(t)
	for i, name := range streams {
		for _, board := range []string{"stars", "none"} {
			require.NoError(t, b.rdb.Do(t.Context(), "XADD", name, "*", "board", board, "member", name, "score", "3").Err())
		}
		c := in.consumer(name)
		redistest.Must(c.batch(t.Context()))(t)
		require.EqualValues(t, 3, b.score("stars", name))
		require.EqualValues(t, 1, b.length("rc:{"+name+"}:dead"))
		if i > 0 {
			continue
		}
		moved, left, err := in.Replay(t.Context(), Refused)
		require.NoError(t, err)
		require.Equal(t, []int{1, 0}, []int{moved, left})
		redistest.Must(c.batch(t.Context()))(t)
		require.NoError(t, c.release(t.Context()))
	}
}

// A stream and its dead letters are on one node of a cluster, and the boards are anywhere.
func TestCluster(t *testing.T) {
	t.Parallel()
	url := redistest.StartCluster(t).URL
	exercise(t, newBench(t, url), "rc:ingest", "rc:ingest2", "orders", "星")
}

// The Redis user that the documentation describes has all the rights that a consumer needs.
func TestRightsOfTheDocumentedUser(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	url := redis.AppURL("~rc:*", "&rc:*", "+@read", "+@write", "+@pubsub", "+@scripting", "+@connection", "+time", "-@dangerous", "+info")
	exercise(t, newBench(t, url), "rc:ingest", "rc:ingest2")
}

// Where Redis refuses to write dead letters, a refused entry stays in its stream.
func TestRefusedDeadLetters(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	b := newBench(t, redis.URL())
	all := []string{"~*", "&*", "+@all"}
	limited := newBench(t, redis.AppURL(all...))
	c := limited.ingest().consumer(stream)
	redistest.Must(c.batch(t.Context()))(t)
	b.add("board", "none", "member", "m", "score", "1")
	redis.AppURL(append(all, "-xadd")...)
	require.ErrorIs(t, redistest.ErrorOf(c.batch(t.Context())), definition.ErrUnavailable)
	require.EqualValues(t, 1, b.length(stream))
	redis.AppURL(all...)
	redistest.Eventually(t, "the dead letter", func() error {
		if _, err := c.batch(t.Context()); err != nil {
			return err
		}
		if letters, _ := b.letters(); len(letters) != 1 {
			return errors.New("none")
		}
		return nil
	})
	require.Zero(t, b.length(stream))
}
