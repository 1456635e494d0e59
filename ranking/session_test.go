package ranking_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/redistest"
)

// A session is known to each node until it expires by the clock of Redis, or ends.
func TestSessionExpires(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		synctest.Test(t, func(t *testing.T) {
			s, other := open(t, url), open(t, url)
			must(s.SaveSession(t.Context(), "a", []byte("x"), time.Hour))(t)
			must(s.SaveSession(t.Context(), "b", []byte("y"), time.Hour))(t)
			read := func(hash string) (string, error) {
				about, _, err := other.Session(t.Context(), hash)
				return string(about), err
			}
			require.Equal(t, "x", must(read("a"))(t))
			require.Equal(t, "x", must(read("a"))(t), "reading ends none")
			require.NoError(t, other.EndSession(t.Context(), "a"))
			require.NoError(t, other.EndSession(t.Context(), "a"))
			require.ErrorIs(t, errorOf(read("a")), ranking.ErrUnknownSession)
			time.Sleep(time.Hour - time.Second) // of the node's estimate of that clock alone
			require.Equal(t, "y", must(read("b"))(t))
			time.Sleep(time.Second)
			require.ErrorIs(t, errorOf(read("b")), ranking.ErrUnknownSession)
		})
	})
}

// An operator can sign in while Redis is at its maxmemory, to delete boards and to hide members.
func TestSessionAtMaxmemory(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	s := open(t, r.URL())
	require.NoError(t, r.Admin().ConfigSet(t.Context(), "maxmemory", "1").Err())
	expires := must(s.SaveSession(t.Context(), "a", []byte("x"), time.Hour))(t)
	about, until, err := s.Session(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, "x", string(about))
	require.True(t, until.Equal(expires.Truncate(time.Microsecond)))
	require.NoError(t, s.EndSession(t.Context(), "a"))
	require.ErrorContains(t, errorOf(s.SaveTicket(t.Context(), "a", nil, time.Minute)), "OOM")
}
