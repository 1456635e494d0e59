package access

import (
	"crypto/sha256"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rankcast/ranking/redistest"
)

func TestNewKey(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	digits := make(map[rune]bool)
	for range 1000 {
		key := NewKey()
		require.Regexp(t, `^rck_[0-9A-Za-z]{43}$`, key)
		require.False(t, seen[key])
		require.True(t, IsKey(key))
		seen[key] = true
		for _, digit := range key[len(keyPrefix)+1:] {
			digits[digit] = true
		}
		hash, ok := parseHash(HashKey(key))
		require.True(t, ok)
		require.Equal(t, sha256.Sum256([]byte(key)), hash)
	}
	require.Len(t, digits, 62)
}

// naiveMatch tries each length that a * may have.
func naiveMatch(pattern, name string) bool {
	switch {
	case pattern == "":
		return name == ""
	case pattern[0] == '*':
		return naiveMatch(pattern[1:], name) || name != "" && naiveMatch(pattern, name[1:])
	}
	return name != "" && pattern[0] == name[0] && naiveMatch(pattern[1:], name[1:])
}

func TestPatterns(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringMatching(`[ab:*]{0,8}`).Draw(t, "pattern")
		name := rapid.StringMatching(`[ab:]{0,10}`).Draw(t, "name")
		require.Equal(t, naiveMatch(pattern, name), matchPattern(pattern, name))
	})
}

func TestRates(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]tokenRate{
		"20/s": {20, 10 * time.Second}, "30/m": {0.5, time.Minute}, "1/m": {1.0 / 60, time.Minute}, "1000000/s": {1e6, 10 * time.Second},
	} {
		got, ok := parseRate(text)
		require.True(t, ok)
		require.Equal(t, want, got)
	}
	for _, text := range []string{"", "20", "/s", "20/h", "-1/s", "1.5/s", "0/s", "0/m", "1000001/s", "9999999999/s", " 20/s", "20/s\n"} {
		_, ok := parseRate(text)
		require.False(t, ok, "%q", text)
	}
}

// A bucket holds as many tokens as a caller may save up, for each rate that a file can have.
func TestBucketHoldsWhatItsRateSaves(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 2000; n++ {
		for text, want := range map[string]int{fmt.Sprintf("%d/s", n): 10 * n, fmt.Sprintf("%d/m", n): n} {
			r, ok := parseRate(text)
			require.True(t, ok)
			require.Equal(t, want, r.bucket().limiter.Burst(), text)
		}
	}
}

// A request of more tokens than a bucket holds passes when the bucket is full, and then the caller waits as
// long as all of them take to come.
func TestTakeManyTokens(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		r := tokenRate{10, 10 * time.Second}
		b := r.bucket()
		q, wait := r.take(b, "key", 30, 0)
		require.Zero(t, wait)
		require.Equal(t, Quota{"key", 100, 10 * time.Second, 70, 3 * time.Second}, q)
		q, wait = r.take(b, "key", 1000, 0)
		require.Equal(t, 3*time.Second, wait, "it takes a full bucket")
		require.Equal(t, 70, q.Remaining, "a refused request takes none")
		time.Sleep(wait)
		q, wait = r.take(b, "key", 1000, 0)
		require.Zero(t, wait)
		require.Zero(t, q.Remaining)
		require.Equal(t, 100*time.Second, q.Reset)
		_, wait = r.take(b, "key", 1, 0)
		require.Equal(t, 90*time.Second+100*time.Millisecond, wait)
		time.Sleep(wait)
		_, wait = r.take(b, "key", 1, 0)
		require.Zero(t, wait)
		_, wait = r.take(b, "key", 1, 0)
		require.Equal(t, 100*time.Millisecond, wait)
	})
}

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
