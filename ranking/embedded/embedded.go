// Package embedded runs a Redis inside the process, so that Rankcast starts with nothing
// installed. It writes nothing to disk: its data are lost when it stops.
//
// A [Store] is a miniredis server on the loopback interface. The store of package ranking
// connects to its URL as to any other Redis. For each read of a board it sorts the board again,
// which is fast enough for a few thousand members a board; for more members run a real Redis.
//
// The command serve uses it when no Redis is given, the demo moves its clock to make a past,
// and tests run on it. The package knows nothing of boards.
package embedded

import (
	"crypto/rand"
	"fmt"
	"net/url"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// expiryInterval is the time between two looks for expired keys: a key may live that much longer than its TTL.
// A look walks all keys, which takes 3 ms for 10,000. With ClockTTL miniredis would look at each command.
const expiryInterval = 5 * time.Second

// Store is a running embedded store. Its methods may be called concurrently.
type Store struct {
	redis     *miniredis.Miniredis
	password  string
	stop      chan struct{} // closed by Close
	expiring  sync.WaitGroup
	closeOnce sync.Once
}

// Start starts a store on a free port of the loopback interface. A random password keeps other
// programs of the machine out.
func Start() (*Store, error) {
	s := &Store{redis: miniredis.NewMiniRedis(), password: rand.Text(), stop: make(chan struct{})}
	s.redis.RequireAuth(s.password)
	if err := s.redis.Start(); err != nil {
		return nil, fmt.Errorf("start the embedded store: %w", err)
	}
	s.expiring.Go(s.expire)
	return s, nil
}

// expire moves the TTLs of keys as time passes, which miniredis does not do by itself, until Close.
func (s *Store) expire() {
	tick := time.NewTicker(expiryInterval)
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case <-s.stop:
			return
		case now := <-tick.C:
			s.redis.FastForward(now.Sub(last))
			last = now
		}
	}
}

// URL returns the URL that ranking.Open takes. It contains the password.
func (s *Store) URL() string {
	u := url.URL{Scheme: "redis", User: url.UserPassword("", s.password), Host: s.redis.Addr()}
	return u.String()
}

// SetClock stops the store's clock at a time, until the next call of SetClock or ResetClock. The
// clock decides which period an update counts in, so a caller can make a past. The caller must
// move the clock only forwards, must be the only client while it does so, and must end before
// the present time: then the clock never goes back for the clients that follow.
func (s *Store) SetClock(at time.Time) { s.redis.SetTime(at) }

// ResetClock sets the store's clock to this machine's clock, which it also has at the start.
func (s *Store) ResetClock() { s.redis.SetTime(time.Time{}) }

// Close stops the store and drops its data.
func (s *Store) Close() {
	s.closeOnce.Do(func() { close(s.stop) })
	s.expiring.Wait()
	s.redis.Close()
}
