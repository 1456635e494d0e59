package redistest

import (
	"context"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// saveScript returns for each key that a pattern matches its name, type, TTL in ms and values, all as strings in one list.
var saveScript = redis.NewScript(`
	local read = {
		string = function(k) return {redis.call('GET', k)} end,
		hash = function(k) return redis.call('HGETALL', k) end,
		zset = function(k)
			local all = redis.call('ZRANGE', k, 0, -1, 'WITHSCORES')
			for i = 1, #all, 2 do all[i], all[i + 1] = all[i + 1], all[i] end
			return all
		end,
		set = function(k) return redis.call('SMEMBERS', k) end,
		list = function(k) return redis.call('LRANGE', k, 0, -1) end,
		stream = function(k)
			local all = {}
			for _, entry in ipairs(redis.call('XRANGE', k, '-', '+')) do
				all[#all + 1] = entry[1]
				all[#all + 1] = tostring(#entry[2])
				for _, v in ipairs(entry[2]) do all[#all + 1] = v end
			end
			return all
		end,
	}
	local saved = {}
	for _, k in ipairs(redis.call('KEYS', ARGV[1])) do
		local type = redis.call('TYPE', k)
		type = type.ok or type
		local values = read[type](k)
		for _, v in ipairs({k, type, tostring(redis.call('PTTL', k)), tostring(#values)}) do saved[#saved + 1] = v end
		for _, v in ipairs(values) do saved[#saved + 1] = v end
	end
	return saved`)

// restoreScript takes the pattern of saveScript, and what that has returned.
var restoreScript = redis.NewScript(`
	local write = {string = 'SET', hash = 'HSET', zset = 'ZADD', set = 'SADD', list = 'RPUSH'}
	local function add_entries(key, at, last)
		while at <= last do
			local count = tonumber(ARGV[at + 1])
			redis.call('XADD', key, ARGV[at], unpack(ARGV, at + 2, at + 1 + count))
			at = at + 2 + count
		end
	end
	for _, k in ipairs(redis.call('KEYS', ARGV[1])) do redis.call('DEL', k) end
	local at = 2
	while at <= #ARGV do
		local key, type, ttl, count = ARGV[at], ARGV[at + 1], tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
		if type == 'stream' then
			add_entries(key, at + 4, at + 3 + count)
		else
			redis.call(write[type], key, unpack(ARGV, at + 4, at + 3 + count))
		end
		if ttl >= 0 then redis.call('PEXPIRE', key, string.format('%d', ttl)) end
		at = at + 4 + count
	end`)

// Save copies all data of a server, of a few thousand values a key. restore puts the copy in place of what the server
// holds by then, any number of times, as a failover to a replica without the last writes does. Each is one step for
// all other clients, and connections stay. server returns a client of the server, or of the one
// that took its place. While that is away or the cluster is down, both wait.
func Save(t require.TestingT, server func() *redis.Client) (restore func()) {
	return SaveKeys(t, server, "*")
}

// SaveKeys is Save for the keys that a pattern of KEYS matches. restore leaves all others as they are.
func SaveKeys(t require.TestingT, server func() *redis.Client, pattern string) (restore func()) {
	var saved []any
	require.NoError(t, Poll(context.Background(), func() (err error) {
		saved, err = saveScript.Run(context.Background(), server(), nil, pattern).Slice()
		return err
	}))
	return func() {
		require.NoError(t, Poll(context.Background(), func() error {
			err := restoreScript.Run(context.Background(), server(), nil, append([]any{pattern}, saved...)...).Err()
			if err == redis.Nil {
				return nil
			}
			return err
		}))
	}
}
