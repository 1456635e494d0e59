package access

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Who has no credentials learns which ones can help: a token never opens what only a key can.
func TestRefusalNamesTheCredentialsThatHelp(t *testing.T) {
	t.Parallel()
	const key, either = "a key, as Authorization: Bearer", "a key or a token, as Authorization: Bearer"
	for _, c := range []struct {
		scope    Scope
		resource Resource
		want     string
	}{
		{ScopeRead, Resource{}, "unauthorized: the scope read needs credentials: " + either},
		{ScopeRead, Board("stars"), `unauthorized: the scope read for the board "stars" needs credentials: ` + either},
		{ScopeRead, Event("gift"), `unauthorized: the scope read for the event "gift" needs credentials: ` + either},
		{ScopeWrite, Event("gift"), `unauthorized: the scope write for the event "gift" needs credentials: ` + either},
		{ScopeRead, Kind("user"), `unauthorized: the scope read for the kind "user" needs credentials: ` + key},
		{ScopeWrite, Board("stars"), `unauthorized: the scope write for the board "stars" needs credentials: ` + key},
		{ScopeWrite, Kind("user"), `unauthorized: the scope write for the kind "user" needs credentials: ` + key},
		{ScopeModerate, Board("stars"), `unauthorized: the scope moderate for the board "stars" needs credentials: ` + key},
		{ScopeMetrics, Resource{}, "unauthorized: the scope metrics needs credentials: " + key},
		{ScopeAdmin, Resource{}, "unauthorized: the scope admin needs credentials: " + key},
	} {
		err := new(Caller).Check(c.scope, c.resource)
		require.ErrorIs(t, err, ErrUnauthorized)
		require.EqualError(t, err, c.want)
	}
}
