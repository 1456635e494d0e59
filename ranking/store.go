package ranking

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"rankcast/ranking/definition"
	"rankcast/ranking/fair"
	"rankcast/ranking/internal/batch"
	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/internal/pipeline"
	"rankcast/ranking/internal/profiles"
	"rankcast/ranking/internal/redisconn"
	"rankcast/ranking/internal/rights"
	"rankcast/ranking/lru"
)

// Config holds the settings of a Store beside its client. The zero value is the documented
// default.
type Config struct {
	// Prefix starts each key and each channel in Redis. Default "rc".
	Prefix string
	// CallTimeout bounds one call to Redis. It also bounds all calls together of a batch of updates, a page of a
	// list, a search, a write of a profile, a check of definitions and a page of Reindex. Elsewhere each call has
	// its own CallTimeout, so a method of n calls may take n times as long while Redis is slow; the end of ctx
	// ends them all. A script that Redis does not know yet takes two calls. Updates of a window wait a quarter of
	// CallTimeout for the removal of what has left the window. Default 2 s.
	CallTimeout time.Duration
	// ProbeInterval is the interval at which RunRightsChecks probes whether Redis takes writes.
	// Default 2 s.
	ProbeInterval time.Duration
	// ProfileAge is how long the node uses a profile that it has read, unless the feed
	// reports a change of it: pub/sub may lose one. Default 30 s.
	ProfileAge time.Duration
	// Announce is the number of first entries in the message about a closed period, 0 to
	// MaxAnnounce. Default 0. Configure all nodes alike: the node that settles or delivers
	// a period uses its own value.
	Announce int
	// Deliver names the boards, as they are defined, whose closed periods wait until a
	// caller of Deliveries has taken them. AllBoards stands for all. Default none. The
	// closed periods wait on all nodes, also on nodes that are configured otherwise. They
	// wait as long as a node with this setting runs, and for a day after that.
	Deliver []string
	// MaxIDs is the number of request ids that a board, and an event, may hold. Default 20 million, see maxIDs.
	MaxIDs int64
	// Metrics gets the metrics of the Store. Default none.
	Metrics prometheus.Registerer
}

// CheckPrefix returns an error for a text that cannot be Config.Prefix.
func CheckPrefix(prefix string) error {
	if prefix == "" || strings.ContainsAny(prefix, "{}: ") {
		return errors.New("must have no braces, colons or spaces, and not be empty")
	}
	return nil
}

// AllBoards stands for all boards in Config.Deliver.
const AllBoards = "*"

// MaxAnnounce is the maximum of Config.Announce.
const MaxAnnounce = 100

func (c Config) withDefaults() Config {
	c.Prefix = cmp.Or(c.Prefix, "rc")
	c.CallTimeout = cmp.Or(c.CallTimeout, 2*time.Second)
	c.ProbeInterval = cmp.Or(c.ProbeInterval, 2*time.Second)
	c.MaxIDs = cmp.Or(c.MaxIDs, maxIDs)
	c.ProfileAge = cmp.Or(c.ProfileAge, 30*time.Second)
	return c
}

// Store writes and reads boards. All its methods may be called concurrently.
//
// Clients name a board "stars" or "fans:s17". To read a period, they name it
// "stars@2026-W46", or "stars@-1" for the period before the current one.
//
// Methods return a FieldError for an invalid name and ErrUnknownBoard for a board that is
// not defined. They return ErrUnknownPeriod for a period that does not exist, and
// ErrUnavailable when Redis does not answer as expected.
type Store struct {
	rdb           *pipeline.Client
	cfg           Config
	keys          keyspace.Keys
	catalog       catalog
	updates       batch.Queues[updateItem]  // by instance
	events        batch.Queues[*occurrence] // by event
	lookups       batch.Queues[*singleRead] // by the key of the board-period
	inThreeTrips  atomic.Bool               // an event takes three trips, see useThreeTrips
	receiverNoted atomic.Int64              // when this node last recorded that it takes deliveries, µs since 1970
	maxDeliveries int                       // of a definition, that wait in Redis
	maxSteps      int64                     // of a history, that Redis keeps at least
	maxNames      int64                     // of a history, see forgetNames
	fullBoards    sync.Map                  // instances that may take no more request ids, as far as the node knows
	dropped       unlogged[droppedDeliveries]
	settled       unlogged[settledPeriods]

	largePages   *fair.Pacer[any]                // turns, by caller
	hiddenCounts *lru.Cache[string, hiddenCount] // by the key of the hidden members with a score

	wantWhole sync.Map // slots of the definitions with a board of which the plain script has said that it does not know it
	builds    builds
	profiles  *profiles.Cache[Profile]
	profiled  profiles.Kinds

	searches     searchBounds
	reindexSlice time.Duration // after which a call of Reindex begins no other page

	rights  *rights.Gate
	metrics *metrics

	defining chan struct{} // capacity one: held by the caller that changes definitions
}

// New returns a Store of the definitions that rdb's Redis holds; Define adds to them. New
// sends nothing, and adds hooks to rdb: for CheckRights, for Config.Metrics and for Config.CallTimeout.
// The Store does not close rdb, which is a client of Open, a *redis.Client or a *redis.ClusterClient.
// Updates and events go over a connection of their own to each node. Only the hooks of a client of Open
// see their commands.
func New(rdb redis.UniversalClient, cfg Config) *Store {
	cfg = cfg.withDefaults()
	client, ok := rdb.(*pipeline.Client)
	if !ok {
		client = pipeline.New(rdb)
	}
	s := &Store{
		rdb: client, cfg: cfg, keys: keyspace.New(cfg.Prefix), defining: make(chan struct{}, 1), maxDeliveries: maxDeliveries,
		maxSteps: historyKept, maxNames: maxNames, largePages: fair.NewPacer[any](maxRest),
		hiddenCounts: lru.New[string, hiddenCount](maxHiddenCounts),
	}
	s.rights = rights.New(client, s.keys, cfg.CallTimeout, cfg.ProbeInterval)
	s.metrics = newMetrics(cfg.Metrics)
	client.AddHook(callHook{cfg.CallTimeout, s.metrics})
	s.profiles = profiles.NewCache[Profile](cfg.ProfileAge)
	s.catalog.rdb, s.catalog.keys, s.catalog.timeout = client, s.keys, cfg.CallTimeout
	s.catalog.rights = s.rights
	s.updates.Call, s.updates.Timeout = s.applyBatch, cfg.CallTimeout
	s.events.Call, s.events.Timeout = s.applyOccurrences, eventTimeouts*cfg.CallTimeout
	s.events.MaxWeight, s.events.LargeWeight, s.events.SlowAfter = maxTripUpdates, maxEventBatch, slowEvents
	s.lookups.Call, s.lookups.Timeout = s.readTogether, cfg.CallTimeout
	s.lookups.Reads, s.lookups.MaxWeight = true, singleRows
	s.lookups.MaxWaiting, s.lookups.Second = maxSingleRows, secondRows
	s.searches, s.reindexSlice = defaultSearchBounds, reindexSlice
	if pipeline.ClusterOf(client) != nil {
		s.useThreeTrips()
	}
	s.builds.do, s.builds.isLarge = s.build, s.isLargeBuild
	s.builds.built, s.builds.last = lru.New[string, int64](resultsKnown), lru.New[string, lastBuild](resultsKnown)
	s.builds.end, s.builds.stop = context.WithCancel(context.Background())
	return s
}

// Close waits for the calls under way. It ends the builds under way, and their boards keep
// the result that they have. Call it after all other calls have returned.
func (s *Store) Close() {
	s.builds.close()
	s.events.Wait()
	s.updates.Wait()
	s.lookups.Wait()
	s.rdb.CloseIdle()
	s.catalog.running.Wait()
}

// Ping checks that Redis answers; in a cluster, that each master answers. It returns
// ErrUnavailable otherwise.
func (s *Store) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	err := redisconn.EachMaster(ctx, s.rdb, func(ctx context.Context, _ string, master redis.UniversalClient) error {
		return master.Ping(ctx).Err()
	})
	if err != nil {
		return fmt.Errorf("%w: ping: %w", definition.ErrUnavailable, err)
	}
	return nil
}

// Now estimates the clock of Redis. The estimate may lag by the time that an answer took to
// arrive. Now returns the zero time until Redis has answered once.
func (s *Store) Now() time.Time {
	now := s.catalog.clock.now()
	if now == 0 {
		return time.Time{}
	}
	return time.UnixMicro(now).UTC()
}

// newEpoch returns a word that no other life of a board has: 60 random bits.
func newEpoch() string { return rand.Text()[:12] }
