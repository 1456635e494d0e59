package access_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/server/access"
	"rankcast/server/access/accesstest"
)

// A socket, or a request that takes long, loses the rights of a session when the session expires. So does one that has
// come by a ticket of the session.
func TestSessionExpires(t *testing.T) {
	t.Parallel()
	g := accesstest.Start(t, "keys: [{name: ops, hash: HASH:ops, scopes: [admin]}]\n")
	key, err := g.Authenticate(t.Context(), g.Key("ops"))
	require.NoError(t, err)
	about, err := key.EncodeForTicket()
	require.NoError(t, err)
	for in, want := range map[time.Duration]error{time.Hour: nil, -time.Second: access.ErrSession} {
		expires := time.Now().Add(in)
		session, err := g.FromSession(about, expires)
		require.NoError(t, err)
		ticket, err := session.EncodeForTicket()
		require.NoError(t, err)
		ofTicket, err := g.FromTicket(ticket)
		require.NoError(t, err)
		for _, c := range []*access.Caller{session, ofTicket} {
			require.True(t, c.Expires().Equal(expires))
			renewed, err := g.Renew(c)
			require.ErrorIs(t, err, want)
			_, err = g.Reverify(c, g.Version())
			require.ErrorIs(t, err, want)
			if want == nil {
				require.Equal(t, c, renewed)
			}
		}
	}
	require.True(t, key.Expires().IsZero())
}
