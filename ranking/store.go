package ranking

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

// Config is what a Store or a Feed needs to know beyond its client. The zero
// value is the documented default.
type Config struct {
	// Prefix starts every key and channel. Default "rc".
	Prefix string
	// CallTimeout bounds one call to Redis. Default 2 s.
	CallTimeout time.Duration
	// ProbeInterval is how often a Feed makes sure that it still hears: it
	// counts as down after three in a row go unheard. Default 2 s.
	ProbeInterval time.Duration
}

func (c Config) withDefaults() Config {
	c.Prefix = cmp.Or(c.Prefix, "rc")
	c.CallTimeout = cmp.Or(c.CallTimeout, 2*time.Second)
	c.ProbeInterval = cmp.Or(c.ProbeInterval, 2*time.Second)
	return c
}

// Store writes and reads boards. All its methods may be called concurrently.
//
// Methods return ErrUnknownBoard for a board that was not given to New and
// ErrUnavailable when Redis does not answer as it should.
type Store struct {
	rdb    redis.UniversalClient
	cfg    Config
	keys   keys
	boards map[string]Definition
	queues queues
}

// New makes a Store of the boards given. Their definitions are normalized; a
// FieldError tells what is wrong with one. The Store does not close rdb.
func New(rdb redis.UniversalClient, boards []Definition, cfg Config) (*Store, error) {
	cfg = cfg.withDefaults()
	s := &Store{rdb: rdb, cfg: cfg, keys: keys{cfg.Prefix}, boards: make(map[string]Definition)}
	s.queues.apply = s.applyBatch
	s.queues.timeout = cfg.CallTimeout
	for _, d := range boards {
		d, err := d.Normalize()
		if err != nil {
			return nil, fmt.Errorf("board %q: %w", d.Board, err)
		}
		if _, ok := s.boards[d.Board]; ok {
			return nil, fmt.Errorf("board %q: %w", d.Board, Invalid("board", "is defined twice"))
		}
		s.boards[d.Board] = d
	}
	return s, nil
}

// Close waits for the writes under way. Call it when nobody applies any more.
func (s *Store) Close() { s.queues.running.Wait() }

// Boards lists the boards by name.
func (s *Store) Boards() []Definition {
	return slices.SortedFunc(maps.Values(s.boards), func(a, b Definition) int { return cmp.Compare(a.Board, b.Board) })
}

// Definition gives what a board is.
func (s *Store) Definition(board string) (Definition, error) {
	d, ok := s.boards[board]
	if !ok {
		return Definition{}, &FieldError{Field: "board", Reason: fmt.Sprintf("there is no board %q", board), Kind: ErrUnknownBoard}
	}
	return d, nil
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

// newEpoch is a word that no other life of a board has: 60 random bits.
func newEpoch() string { return rand.Text()[:12] }
