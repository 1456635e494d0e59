package ingest

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/internal/keyspace"
)

const (
	// leaseDuration is how long a dead consumer keeps its stream. Another consumer looks for a free
	// lease once a busyPause, so it takes over within 21 s.
	leaseDuration = 20 * time.Second
	// busyPause is the time between two looks at a lease that another consumer holds.
	busyPause = time.Second
	// idlePause is the time between two looks at an empty stream. One look costs Redis 20 µs.
	idlePause = 50 * time.Millisecond
	// group is the consumer group of each stream. There is one, because applied entries are deleted: another
	// group would take an entry for new that this one has delivered before.
	group = "rankcast"
	// maxEntries bounds the entries of a batch. The updates of a board in it are one request to the store,
	// which the store never has in two calls in flight. So their order holds after a failure.
	maxEntries = 100
	// maxBatchBytes is the size at which a batch takes no more entries, so that it arrives within the default of
	// ranking.Config.CallTimeout; take.lua tells how far it may be exceeded. A larger entry is refused: no update, and no
	// event that the API takes, comes near to it.
	maxBatchBytes = 1 << 20
	// idsMargin is how long before the end of the time for which its request id counts an entry is no longer applied
	// again. It is for a batch that is under way.
	idsMargin = time.Minute
	// maxStreamBytes bounds the name of a stream: with the id of an entry it makes a request id.
	maxStreamBytes = 80
	// MinRate is the least Config.Rate: a consumer pays for one event with many updates within its lease.
	MinRate = 10
)

// Store applies updates and events. *ranking.Store implements it.
type Store interface {
	Apply(ctx context.Context, board string, updates []definition.Update) ([]ranking.Outcome, error)
	ApplyEvents(ctx context.Context, event string, all []ranking.EventCall) ([]ranking.EventResult, error)
	Event(ctx context.Context, name string) (definition.Event, error)
	IDsCount(ctx context.Context, board string, since time.Time) (time.Duration, error)
	EventIDsCount(ctx context.Context, event string, since time.Time) (time.Duration, error)
}

// Problem is the reason why an entry was not applied.
type Problem struct {
	Code   string // such as unknown_board
	Field  string // of the entry; "" for none
	Detail string // for people
}

// Config holds the settings of an Ingest. The zero value is the documented default.
type Config struct {
	Prefix  string        // start of all keys, as of ranking.Config. Default "rc".
	Streams []string      // names that CheckStream accepts. Default the one of DefaultStream.
	Rate    int           // most updates a second, of all streams together, MinRate at least. Default 0: no bound.
	Lease   time.Duration // how long a dead consumer keeps its stream. Default 20 s.

	Explain func(error) Problem   // describes the error of a refused entry. Default: the text of the error, as "refused".
	Log     *slog.Logger          // Default none.
	Metrics prometheus.Registerer // gets the metrics. Default none.
}

func (c Config) withDefaults() Config {
	c.Prefix = cmp.Or(c.Prefix, "rc")
	if len(c.Streams) == 0 {
		c.Streams = []string{DefaultStream(c.Prefix)}
	}
	c.Lease = cmp.Or(c.Lease, leaseDuration)
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	if c.Explain == nil {
		c.Explain = func(err error) Problem { return Problem{Code: "refused", Detail: err.Error()} }
	}
	return c
}

// DefaultStream is the stream that producers write to unless an operator names others: "rc:ingest".
func DefaultStream(prefix string) string { return keyspace.New(prefix).Ingest() }

// CheckStream returns an error for a name that no stream may have. A name has 1 to 80 bytes of UTF-8,
// without control characters and braces.
func CheckStream(name string) error {
	if reason := definition.TextFault(name, maxStreamBytes); reason != "" {
		return definition.Invalid("stream", reason)
	}
	if strings.ContainsAny(name, "{}") {
		return definition.Invalid("stream", fmt.Sprintf("is %q; want a name without braces", name))
	}
	return nil
}

// Ingest applies the entries of streams.
type Ingest struct {
	rdb     redis.UniversalClient
	store   Store
	cfg     Config
	keys    keyspace.Keys
	rate    rateLimit
	metrics *metrics
}

// New returns an Ingest. rdb is the client of ranking.Open that store uses, so the CallTimeout of store bounds each
// call. The Ingest closes neither. New sends nothing.
func New(rdb redis.UniversalClient, store Store, cfg Config) (*Ingest, error) {
	cfg = cfg.withDefaults()
	for i, stream := range cfg.Streams {
		if err := CheckStream(stream); err != nil {
			return nil, err
		}
		if slices.Contains(cfg.Streams[:i], stream) {
			return nil, definition.Invalid("stream", fmt.Sprintf("%q is given twice", stream))
		}
	}
	if cfg.Rate != 0 && cfg.Rate < MinRate {
		return nil, definition.Invalid("rate", fmt.Sprintf("is %d; want %d or more, or 0 for no bound", cfg.Rate, MinRate))
	}
	return &Ingest{
		rdb: rdb, store: store, cfg: cfg, keys: keyspace.New(cfg.Prefix),
		rate: rateLimit{rate: cfg.Rate}, metrics: newMetrics(cfg.Metrics, cfg.Streams),
	}, nil
}

// Streams returns the names of the streams.
func (in *Ingest) Streams() []string { return in.cfg.Streams }

// Run consumes the streams until ctx ends. Then it finishes the batches under way, releases the leases and
// returns. Any number of processes may run at once: each stream has one consumer.
func (in *Ingest) Run(ctx context.Context) {
	var consumers sync.WaitGroup
	for _, stream := range in.cfg.Streams {
		c := in.consumer(stream)
		consumers.Go(func() { c.run(ctx) })
	}
	consumers.Wait()
}
