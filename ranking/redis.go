package ranking

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/pipeline"
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

// redisClock estimates the clock of Redis, which alone decides which period an update falls
// into. The estimate is the latest reading plus the time that this process has measured
// since then. The node's own clock may be off by any amount. redisClock may be used
// concurrently.
type redisClock struct {
	latest atomic.Pointer[clockReading]
	still  bool // the estimate stands between two readings; for tests that move the clock of Redis by hand
}

type clockReading struct {
	redis int64     // µs since 1970
	local time.Time // of this process; only the difference to it is used
}

// readingKept is how long the best reading counts. After that the estimate follows a Redis
// clock that runs slower or was set back.
const readingKept = 10 * time.Second

// now returns the estimate in µs since 1970, or 0 before the first reading. It lags by the
// time that the answer took to arrive.
func (c *redisClock) now() int64 {
	r := c.latest.Load()
	if r == nil {
		return 0
	}
	return r.redis + c.since(r).Microseconds()
}

// observe takes the clock from an answer, unless the reading at hand is better.
func (c *redisClock) observe(redis int64) {
	r := c.latest.Load()
	// A slow answer makes a worse reading than a fast one.
	if r == nil || redis >= c.now() || c.since(r) > readingKept {
		c.set(redis)
	}
}

// set takes the clock from an answer in any case, because the estimate was wrong.
func (c *redisClock) set(redis int64) { c.latest.Store(&clockReading{redis: redis, local: time.Now()}) }

func (c *redisClock) since(r *clockReading) time.Duration {
	if c.still {
		return 0
	}
	return time.Since(r.local)
}

// CheckRights asks Redis about each command that the Store and the feed send, on keys and channels
// under each pattern of names, on each master of a cluster. A check changes nothing in Redis. CheckRights returns
// a MissingRightsError when Redis refuses a command or all writes, and ErrUnavailable when Redis does
// not answer. Redis refuses all writes as a read-only replica, while it cannot write to its disk,
// while it has too few replicas, and at its maxmemory.
//
// After a MissingRightsError the Store sends no script that writes until a later check succeeds: writes fail
// with that error. The same holds after an ErrUnavailable, unless an earlier check has succeeded.
// There is one exception. While Redis refuses the writes of every user, and nothing else is missing, the Store goes on
// sending writes. Redis refuses each of them as a whole, so the first write after a failover, or after the operator has
// made room on the disk, counts. At its maxmemory Redis refuses the writes that may take memory: those that free memory
// go through.
func (s *Store) CheckRights(ctx context.Context) error { return s.rights.Check(ctx) }

// MissingRights returns the MissingRightsError of the last check, or nil.
func (s *Store) MissingRights() error { return s.rights.Missing() }

// ProbeWrite sends a write that changes nothing. It returns a MissingRightsError when Redis refuses
// the write, and ErrUnavailable when Redis does not answer. After a refusal RunRightsChecks checks
// again.
func (s *Store) ProbeWrite(ctx context.Context) error { return s.rights.Probe(ctx) }

// RecheckRights makes RunRightsChecks check again soon. Call RecheckRights when the node may have
// reached another Redis, or another user: when the feed is down, and when the feed is up again.
func (s *Store) RecheckRights() { s.rights.Recheck() }

// RunRightsChecks checks the rights again until ctx ends: after a check that failed, after
// RecheckRights, and after Redis has refused a command of the Store. Once a Config.ProbeInterval
// RunRightsChecks sends a write that changes nothing, because only a write shows that Redis refuses
// all writes. RunRightsChecks logs each new reason once, and logs when Redis allows all
// commands again. It returns the error of ctx.
func (s *Store) RunRightsChecks(ctx context.Context, log *slog.Logger) error {
	return s.rights.Run(ctx, log)
}

// outcomeOf wraps the error of a write. The outcome is unknown, unless Redis has not received the
// write, or refused the write before the write changed anything.
func outcomeOf(err error) error {
	var missing *definition.MissingRightsError
	if errors.As(err, &missing) || errors.Is(err, pipeline.ErrNotSent) || redisconn.IsBusy(err) {
		return err
	}
	return fmt.Errorf("%w: %w", definition.ErrOutcomeUnknown, err)
}
