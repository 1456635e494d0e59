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

// A key that may not do what callers without credentials may learns that: the rights of anonymous are none of a key.
func TestRefusalTellsAKeyThatAnonymousMay(t *testing.T) {
	t.Parallel()
	p, err := parsePolicy([]byte(`
keys:
  - {name: game, hash: "` + testHash + `", scopes: [write], boards: [stars]}
anonymous: {scopes: [read], boards: [stars]}
`))
	require.NoError(t, err)
	c := p.keys[0].caller
	const hint = "; callers without credentials may do this, but a key has its own scopes and grants only"
	require.EqualError(t, c.Check(ScopeRead, Board("stars")), `forbidden: the key "game" lacks the scope read`+hint)
	require.EqualError(t, c.Check(ScopeRead, Board("laps")), `forbidden: the key "game" lacks the scope read`)
	require.EqualError(t, c.Check(ScopeWrite, Board("laps")), `forbidden: the key "game" has no grant for the board "laps"`)
	require.NoError(t, c.Check(ScopeWrite, Board("stars")))
}

// No caller may read a board whose name is outside of its spans. They have no other names than those with the text
// before the first * of a pattern.
func TestBoardSpans(t *testing.T) {
	t.Parallel()
	names := []string{"stars", "stars:a", "star", "fans:s1", "fans:s10", "fans:s2", "fans:x:vip", "hot:a", "hot", "z"}
	grants := func(s Scope, boards ...string) rights { return rights{scopes: s, boards: boards} }
	anonymous := grants(ScopeRead, "hot:*")
	deaf := grants(ScopeWrite, "*")
	for what, c := range map[string]struct {
		caller Caller
		want   []string
	}{
		"none":   {Caller{kind: keyCaller, own: grants(ScopeRead)}, nil},
		"exact":  {Caller{kind: keyCaller, own: grants(ScopeRead, "fans:s1", "stars")}, []string{"stars", "fans:s1"}},
		"prefix": {Caller{kind: keyCaller, own: grants(ScopeRead, "fans:s1*")}, []string{"fans:s1", "fans:s10"}},
		"within a name": {Caller{kind: keyCaller, own: grants(ScopeRead, "fans:*:vip", "fans:s2")},
			[]string{"fans:s1", "fans:s10", "fans:s2", "fans:x:vip"}},
		"all boards":     {Caller{kind: keyCaller, own: grants(ScopeRead, "*")}, names},
		"another scope":  {Caller{kind: keyCaller, own: grants(ScopeModerate, "*")}, nil},
		"admin":          {Caller{kind: keyCaller, own: grants(ScopeAdmin)}, names},
		"no access file": {Caller{kind: openCaller}, names},
		"as anonymous too": {Caller{kind: viewerCaller, own: grants(ScopeRead|ScopeWrite, "stars"), anonymous: &anonymous},
			[]string{"stars", "hot:a"}},
		"anonymous is deaf":  {Caller{kind: viewerCaller, own: grants(ScopeRead, "stars"), anonymous: &deaf}, []string{"stars"}},
		"only by anonymous":  {Caller{kind: viewerCaller, own: grants(ScopeWrite, "*"), anonymous: &anonymous}, []string{"hot:a"}},
		"without any rights": {Caller{}, nil},
	} {
		var got []string
		for _, name := range names {
			within := false
			for _, s := range c.caller.BoardSpans(ScopeRead) {
				within = within || s.From <= name && name < s.Before
			}
			if within {
				got = append(got, name)
			} else {
				require.False(t, c.caller.May(ScopeRead, Board(name)), "%s: %s", what, name)
			}
		}
		require.Equal(t, c.want, got, what)
	}
}
