package ranking

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"rankcast/ranking/internal/batch"
	"rankcast/ranking/internal/keyspace"
)

// Config is what a Store needs to know beyond its client. The zero
// value is the documented default.
type Config struct {
	// Prefix starts every key and channel. Default "rc".
	Prefix string
	// CallTimeout bounds one call to Redis. Default 2 s.
	CallTimeout time.Duration
	// ProfileAge is for how long a profile that was read is gone by, unless it is heard
	// to have changed. Default 30 s.
	ProfileAge time.Duration
	// Announce is how many of the first entries are told of a period that has
	// closed, 0 to MaxAnnounce. Default 0. All nodes should be told the same: each
	// tells so many when it has something to tell.
	Announce int
	// Deliver names the boards, as they are defined, whose closed periods wait until
	// somebody has taken them by Deliveries; AllBoards for all. Default none. They
	// wait on all nodes, also on those that are not told so, as long as one is there
	// that was, and for a day after.
	Deliver []string
}

// AllBoards stands for all boards in Config.Deliver.
const AllBoards = "*"

// MaxAnnounce is the most entries that are told of a closed period.
const MaxAnnounce = 100

func (c Config) withDefaults() Config {
	c.Prefix = cmp.Or(c.Prefix, "rc")
	c.CallTimeout = cmp.Or(c.CallTimeout, 2*time.Second)
	c.ProfileAge = cmp.Or(c.ProfileAge, profileAge)
	return c
}

// Store writes and reads boards. All its methods may be called concurrently.
//
// Boards are named as clients name them: "stars", "fans:s17", and, to read,
// "stars@2026-W46" or "stars@-1" for the period before the current one.
//
// Methods return a FieldError for what is no name, ErrUnknownBoard for a board that
// is not defined, ErrUnknownPeriod for one of its periods that is not there, and
// ErrUnavailable when Redis does not answer as it should.
type Store struct {
	rdb            redis.UniversalClient
	cfg            Config
	keys           keyspace.Keys
	catalog        catalog
	updates        batch.Queues[updateItem] // by instance
	eventBegins    batch.Queues[eventItem]  // by event
	eventPublishes batch.Queues[eventItem]  // by event
	receiverNoted  atomic.Int64             // when this node noted last that it takes deliveries, µs since 1970

	builds   builds
	profiles *profileCache
	profiled sync.Map // kinds of which this node heard that they have profiles

	defining chan struct{} // holds one: who changes definitions
}

// New makes a Store of what is defined in rdb's Redis, which Define adds to. Nothing
// is sent yet. The Store does not close rdb.
func New(rdb redis.UniversalClient, cfg Config) *Store {
	cfg = cfg.withDefaults()
	s := &Store{rdb: rdb, cfg: cfg, keys: keyspace.New(cfg.Prefix), defining: make(chan struct{}, 1)}
	s.profiles = newProfileCache(cfg.ProfileAge)
	s.catalog.rdb, s.catalog.keys, s.catalog.timeout = rdb, s.keys, cfg.CallTimeout
	s.updates.Call, s.updates.Timeout = s.applyBatch, cfg.CallTimeout
	s.eventBegins.Call, s.eventBegins.Timeout = s.beginBatch, cfg.CallTimeout
	s.eventPublishes.Call, s.eventPublishes.Timeout = s.publishBatch, cfg.CallTimeout
	s.builds.end, s.builds.stop = context.WithCancel(context.Background())
	return s
}

// Close waits for what is under way; boards that are being built stay as they were. Call
// it when nobody calls anything any more.
func (s *Store) Close() {
	s.builds.close()
	s.eventBegins.Wait()
	s.updates.Wait()
	s.eventPublishes.Wait()
	s.catalog.running.Wait()
}

// Ping asks Redis, every master of a cluster, for a sign of life.
func (s *Store) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	ping := func(ctx context.Context, node *redis.Client) error { return node.Ping(ctx).Err() }
	var err error
	switch rdb := s.rdb.(type) {
	case *redis.ClusterClient:
		err = rdb.ForEachMaster(ctx, ping)
	default:
		err = rdb.Ping(ctx).Err()
	}
	if err != nil {
		return fmt.Errorf("%w: ping: %w", ErrUnavailable, err)
	}
	return nil
}

// Now is Redis's clock as this process knows it, which may lag by what an answer takes
// to arrive; zero as long as Redis was never heard.
func (s *Store) Now() time.Time {
	now := s.catalog.clock.now()
	if now == 0 {
		return time.Time{}
	}
	return time.UnixMicro(now).UTC()
}

// newEpoch is a word that no other life of a board has: 60 random bits.
func newEpoch() string { return rand.Text()[:12] }
