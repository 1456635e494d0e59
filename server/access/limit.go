package access

import (
	"errors"
	"iter"
	"sync/atomic"
	"time"
)

// Limit is one of the limits.
type Limit int

const (
	Subscriptions Limit = iota
	Messages
	AddressSockets
	AddressRequests
	AddressHandshakes
	Sockets
	Handshakes
	Exports
	AddressExports
	WatchedBoards
	AddressBoards
	WaitingBytes
	AddressWaitingBytes
	Requests
	Connections
	AddressConnections
	CallerRate
	limitCount
)

// limitNames are stable: metrics show them.
var limitNames = [limitCount]string{
	Subscriptions: "subscriptions", Messages: "messages",
	AddressSockets: "address_sockets", AddressRequests: "address_requests", AddressHandshakes: "address_handshakes",
	Sockets: "sockets", Handshakes: "handshakes", Exports: "exports", AddressExports: "address_exports", WatchedBoards: "watched_boards", AddressBoards: "address_boards",
	WaitingBytes: "waiting_bytes", Requests: "requests", AddressWaitingBytes: "address_waiting_bytes",
	Connections: "connections", AddressConnections: "address_connections",
	CallerRate: "caller_rate",
}

// String is the name of the limit in metrics.
func (l Limit) String() string { return limitNames[l] }

// The kinds of a Refusal, for errors.Is.
var (
	// ErrRateLimited refuses a client that sends too fast.
	ErrRateLimited = errors.New("rate limited")
	// ErrLimitReached refuses one thing more to a client that has all that it may have.
	ErrLimitReached = errors.New("limit reached")
	// ErrOverloaded refuses work that is too much for the node, whoever sends it.
	ErrOverloaded = errors.New("overloaded")
	// ErrFlood ends a socket that goes on after many refusals.
	ErrFlood = errors.New("too many messages")
)

// Refusal is the error of a limit. It wraps its kind: ErrRateLimited, ErrLimitReached, ErrOverloaded or
// ErrFlood.
type Refusal struct {
	Limit      Limit
	RetryAfter time.Duration // when the client may come back at the earliest; 0: not known

	kind   error
	reason string
}

func (r *Refusal) Error() string { return r.reason }

func (r *Refusal) Unwrap() error { return r.kind }

// counts counts refusals.
type counts [limitCount]atomic.Uint64

func (c *counts) add(l Limit) { c[l].Add(1) }

// all gives the number of refusals for each limit, by its name.
func (c *counts) all() iter.Seq2[string, uint64] {
	return func(yield func(string, uint64) bool) {
		for l := range c {
			if !yield(Limit(l).String(), c[l].Load()) {
				return
			}
		}
	}
}
