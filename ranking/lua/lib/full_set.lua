-- At its maxmemory, Redis refuses a script whose first write may take memory. A script whose first write takes none runs to
-- its end. So this write, which changes nothing, stands first in scripts that free memory or protect people.
-- KEYS[1] is a sorted set.

redis.call('ZREM', KEYS[1], '\0')

