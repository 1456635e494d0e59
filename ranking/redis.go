package ranking

import (
	"log/slog"

	"github.com/redis/go-redis/v9"

	"rankcast/ranking/internal/redisconn"
)

// Open returns a client for a Redis or Valkey at one of
//
//	redis://[user:password@]host:port[/db]
//	unix:///path/to/socket[?db=n]
//	redis-sentinel://[user:password@]host:port[,host2:port…]/master[/db]
//	redis-cluster://[user:password@]host:port[,host2:port…]
//
// With Sentinel, the hosts are Sentinels, and the user is one of Redis. The parameters
// sentinel_username and sentinel_password name the user of the Sentinels.
//
// The schemes rediss, rediss-sentinel and rediss-cluster speak TLS. Their parameter ca names a PEM
// file with the authorities that may have signed the certificates; without it, the system decides. A
// certificate must name the host or the address to which the client connects.
//
// Open sends nothing. The caller closes the client. A Store sends updates and events over one
// further connection to each node, which the client opens when it needs it.
//
// The client never repeats a command on its own. Redis may have applied an update whose
// answer was lost, and only the sender knows the id that makes a repetition safe.
func Open(rawURL string) (redis.UniversalClient, error) { return redisconn.Open(rawURL) }

// LogTo sends the messages of the Redis client to log, at level debug. The client logs each
// connection that fails, and the callers get the same facts as errors. The setting holds
// for the whole process: call LogTo before Open.
func LogTo(log *slog.Logger) { redisconn.LogTo(log) }

// Outage says in words why a call failed with ErrUnavailable.
type Outage = redisconn.Outage

// OutageOf returns the Outage of an error.
func OutageOf(err error) Outage { return redisconn.OutageOf(err) }

// IsSlotMoving reports whether Redis has refused a call because the slot of its board moves to another master of the
// cluster. Redis has not carried the call out.
func IsSlotMoving(err error) bool { return redisconn.IsSlotMoving(err) }
