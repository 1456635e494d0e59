package script

import (
	"errors"
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// redisError is an answer of Redis.
type redisError string

func (e redisError) Error() string { return string(e) }
func (redisError) RedisError()     {}

var _ redis.Error = redisError("")

// The texts of Redis 7.0, of Redis 7.2 and of Valkey, for a command by itself and in a script.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Refusal{
		"NOPERM this user has no permissions to run the 'publish' command":                                           RefusedCommand,
		"NOPERM this user has no permissions to access one of the keys used as arguments":                            RefusedKeys,
		"NOPERM this user has no permissions to access one of the channels used as arguments":                        RefusedChannel,
		"NOPERM User channel-keys has no permissions to run the 'publish' command":                                   RefusedCommand,
		"NOPERM User app has no permissions to access the 'rc:{b}::z' key":                                           RefusedKeys,
		"NOPERM No permissions to access a key":                                                                      RefusedKeys,
		"NOPERM User app has no permissions to access the 'rc:{b}:c' channel":                                        RefusedChannel,
		"NOPERM ACL failure in script: User app has no permissions to run the 'zadd' command":                        RefusedCommand,
		"NOPERM ACL failure in script: No permissions to access a channel":                                           RefusedChannel,
		"ERR ACL failure in script: User app has no permissions to run the 'zadd' command":                           RefusedCommand,
		"ERR ACL failure in script: No permissions to access a key":                                                  RefusedKeys,
		"ERR ACL failure in script: No permissions to access a channel":                                              RefusedChannel,
		"ERR Unknown command called from script":                                                                     NoCommand,
		"ERR Invalid command passed to server.acl_check_cmd() script: 7552, on @user_script:1.":                      NoCommand,
		"ERR The user executing the script can't run this command or subcommand":                                     RefusedCommand,
		"ERR The user executing the script can't access at least one of the keys mentioned in the command arguments": RefusedKeys,
		"ERR The user executing the script can't publish to the channel mentioned in the command":                    RefusedChannel,
		"ERR unknown command 'RENAME', with args beginning with: 'a' 'b' ":                                           NoCommand,
		"ERR Unknown Redis command called from script script: eac6, on @user_script:1.":                              NoCommand,
		"ERR Unknown Valkey command called from script script: eac6, on @user_script:1.":                             NoCommand,
		"ERR Invalid command passed to redis.acl_check_cmd() script: 5f1b, on @user_script:1.":                       NoCommand,
		"NORIGHT the Redis user may not PUBLISH":                                                                     RefusedCommand,
		"READONLY You can't write against a read only replica.":                                                      ReadOnly,
		"READONLY You can't write against a read only replica. script: a84a, on @user_script:1.":                     ReadOnly,
		"MISCONF Errors writing to the AOF file: No space left on device":                                            NotStored,
		"MISCONF Errors writing to the AOF file: File too large script: a84a, on @user_script:1.":                    NotStored,
		"NOREPLICAS Not enough good replicas to write.":                                                              NoReplicas,
		"OOM command not allowed when used memory > 'maxmemory'.":                                                    NoMemory,
		"OOM command not allowed when used memory > 'maxmemory'. script: a84a, on @user_script:1.":                   NoMemory,
		"ERR unknown subcommand 'SETINFO'. Try CLIENT HELP.":                                                         0,
		"ERR no such key": 0,
		"LOADING Redis is loading the dataset in memory":                0,
		"WRONGPASS invalid username-password pair or user is disabled.": 0,
		"NOSCRIPT No matching script. Please use EVAL.":                 0,
	} {
		require.Equal(t, want, RefusalOf(text), text)
		require.Equal(t, want, RefusalIn(fmt.Errorf("script apply: %w", redisError(text))), text)
		require.Zero(t, RefusalIn(errors.New(text)), "only Redis refuses")
	}
}

// Only a refusal ahead of the first write tells that nothing has changed.
func TestRefusedBefore(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"ERR unknown command 'evalsha', with args beginning with: 'bbe5' '1' ":                                    "this Redis has no EVALSHA or no EVAL",
		"NORIGHT the Redis user may not PUBLISH":                                                                  "the Redis user may not PUBLISH",
		"ERR Invalid command passed to redis.acl_check_cmd() script: 5f1b, on @user_script:1.":                    "this Redis has no PUBLISH or no HSET",
		"ERR Invalid command passed to server.acl_check_cmd() script: 5f1b, on @user_script:1.":                   "this Redis has no PUBLISH or no HSET",
		"ERR ACL failure in script: User app has no permissions to run the 'zadd' command script: a84a, on @u:1.": "",
		"READONLY You can't write against a read only replica. script: a84a, on @user_script:1.":                  reasons[ReadOnly],
		"MISCONF Errors writing to the AOF file: File too large script: a84a, on @user_script:1.":                 reasons[NotStored],
		"NOREPLICAS Not enough good replicas to write. script: a84a, on @user_script:1.":                          reasons[NoReplicas],
		"OOM command not allowed when used memory > 'maxmemory'. script: a84a, on @user_script:1.":                reasons[NoMemory],
		"NOPERM this user has no permissions to run the 'evalsha' command":                                        "this user has no permissions to run the 'evalsha' command",
		"NOPERM ACL failure in script: User app has no permissions to run the 'zadd' command":                     "",
		"ERR The user executing the script can't run this command or subcommand script: a84a, on @user_script:1.": "",
		"ERR Unknown Redis command called from script script: eac6, on @user_script:1.":                           "",
	} {
		reason, before := refusedBefore(redisError(text))
		require.Equal(t, want, reason, text)
		require.Equal(t, want != "", before, text)
	}
}
