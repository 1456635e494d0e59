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

// Close stops the store and drops what it holds.
func (s *Store) Close() { s.redis.Close() }
