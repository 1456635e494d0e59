package access

import (
	"crypto/sha256"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
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
		got, reason := parseRate(text)
		require.Empty(t, reason)
		require.Equal(t, want, got)
	}
	for _, text := range []string{"", "20", "/s", "20/h", "-1/s", "1.5/s", "0/s", "0/m", "1000001/s", "9999999999/s", " 20/s", "20/s\n"} {
		_, reason := parseRate(text)
		require.NotEmpty(t, reason, "%q", text)
	}
}

// A bucket holds as many tokens as a caller may save up, for each rate that a file can have.
func TestBucketHoldsWhatItsRateSaves(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 2000; n++ {
		for text, want := range map[string]int{fmt.Sprintf("%d/s", n): 10 * n, fmt.Sprintf("%d/m", n): n} {
			r, reason := parseRate(text)
			require.Empty(t, reason)
			require.Equal(t, want, r.bucket().limiter.Burst(), text)
		}
	}
}

// A request of more tokens than a bucket holds passes when the bucket is full, and then the caller waits as
// long as all of them take to come.
func TestTakeManyTokens(t *testing.T) {
	inBubble(t, func(t *testing.T) {
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
