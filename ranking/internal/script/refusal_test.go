package script

import (
	"errors"
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
)

// redisError is an answer of Redis.
type redisError string

func (e redisError) Error() string { return string(e) }
func (redisError) RedisError()     {}

var _ redis.Error = redisError("")

// The code of an answer says whether Redis refuses the command, all writes, or a script before its first write.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		refused, writes, full bool
		before                string
	}{
		"NOPERM this user has no permissions to run the 'publish' command":       {refused: true},
		"NOPERM ACL failure in script: No permissions to access a channel":       {refused: true},
		"ERR The user executing the script can't run this command or subcommand": {refused: true},
		"ERR unknown command 'RENAME', with args beginning with: 'a' 'b' ":       {refused: true},
		"NORIGHT the Redis user may not PUBLISH": {refused: true,
			before: "the Redis user may not PUBLISH"},
		"READONLY You can't write against a read only replica.": {refused: true, writes: true,
			before: "READONLY You can't write against a read only replica."},
		"MISCONF Errors writing to the AOF file: File too large script: a84a, on @user:1": {refused: true, writes: true,
			before: "MISCONF Errors writing to the AOF file: File too large script: a84a, on @user:1"},
		"NOREPLICAS Not enough good replicas to write.": {refused: true, writes: true,
			before: "NOREPLICAS Not enough good replicas to write."},
		"OOM command not allowed when used memory > 'maxmemory'.": {refused: true, writes: true, full: true,
			before: "OOM command not allowed when used memory > 'maxmemory'."},
		"LOADING Redis is loading the dataset in memory":                {},
		"WRONGPASS invalid username-password pair or user is disabled.": {},
		"NOSCRIPT No matching script. Please use EVAL.":                 {},
		"MOVED 77 a:1": {},
	} {
		err := fmt.Errorf("script apply: %w", redisError(text))
		require.Equal(t, want.refused, Refusal(err) == text, text)
		require.Equal(t, want.before, refusedBefore(err), text)
		writes, full := RefusesWrites(text)
		require.Equal(t, []bool{want.writes, want.full}, []bool{writes, full}, text)
		require.Empty(t, Refusal(errors.New(text)), "only Redis refuses")
	}
}

// A value that is missing is taken, another one stays, and a reply that is too short has none.
func TestMissingValues(t *testing.T) {
	t.Parallel()
	r := &Reply{Rest: []any{nil, "", "7"}}
	require.True(t, r.TookNone())
	require.True(t, r.TookNone())
	require.False(t, r.TookNone())
	require.EqualValues(t, 7, r.Number())
	require.NoError(t, r.Err)
	require.False(t, r.TookNone())
	require.Zero(t, r.OptionalNumber())
	require.ErrorIs(t, r.Err, definition.ErrUnavailable)
}
