// Package embedded is a Redis inside the process, so that Rankcast starts with
// nothing installed. It keeps nothing: what it holds is gone when it stops.
//
// It sorts a board anew for each read of it, which is fine to a few thousand
// members a board; beyond that run a real Redis.
package embedded

import (
	"crypto/rand"
	"fmt"
	"net/url"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// Store is a running embedded store.
type Store struct {
	redis    *miniredis.Miniredis
	password string
}

// Start starts a store on a free port of the loopback interface. A random
// password keeps other programs of the machine out.
func Start() (*Store, error) {
	s := &Store{redis: miniredis.NewMiniRedis(), password: rand.Text()}
	s.redis.RequireAuth(s.password)
	if err := s.redis.Start(); err != nil {
		return nil, fmt.Errorf("start the embedded store: %w", err)
	}
	return s, nil
}

// URL is where ranking.Open finds the store.
func (s *Store) URL() string {
	u := url.URL{Scheme: "redis", User: url.UserPassword("", s.password), Host: s.redis.Addr()}
	return u.String()
}

// SetClock has the store's clock stand still at a time, by which it decides what falls into
// which period, until it is set anew or ResetClock is called. It is for making a past: move
// it on only, while nobody counts on it but who makes that past, and end before now, so that
// time goes only one way for all who come after.
func (s *Store) SetClock(at time.Time) { s.redis.SetTime(at) }

// ResetClock has the store's clock be this machine's again, as it is from the start.
func (s *Store) ResetClock() { s.redis.SetTime(time.Time{}) }

// Close stops the store and drops what it holds.
func (s *Store) Close() { s.redis.Close() }
