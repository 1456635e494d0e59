package access

import (
	"errors"
	"iter"
	"log/slog"
	"time"

	"rankcast/server/internal/refusal"
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
	Cards
	AddressCards
	limitCount
)

// limitNames are stable: metrics show them.
var limitNames = [limitCount]string{
	Subscriptions: "subscriptions", Messages: "messages",
	AddressSockets: "address_sockets", AddressRequests: "address_requests", AddressHandshakes: "address_handshakes",
	Sockets: "sockets", Handshakes: "handshakes", Exports: "exports", AddressExports: "address_exports",
	WatchedBoards: "watched_boards", AddressBoards: "address_boards",
	WaitingBytes: "waiting_bytes", Requests: "requests", AddressWaitingBytes: "address_waiting_bytes",
	Connections: "connections", AddressConnections: "address_connections",
	CallerRate: "caller_rate", Cards: "cards", AddressCards: "address_cards",
}

// String is the name of the limit in metrics.
func (l Limit) String() string { return limitNames[l] }

// limitSettings are what sets each limit, for refusals and the log.
var limitSettings = [limitCount]string{
	Subscriptions: "--max-subscriptions", Messages: "--message-rate",
	AddressSockets: "--max-address-sockets", AddressRequests: "--address-rate", AddressHandshakes: "half of --handshake-rate",
	Sockets: "--max-sockets", Handshakes: "--handshake-rate", Exports: "--max-exports", AddressExports: "half of --max-exports",
	WatchedBoards: "--max-watched-boards", AddressBoards: "half of --max-watched-boards",
	WaitingBytes: "--max-waiting-mb", AddressWaitingBytes: "half of --max-waiting-mb", Requests: "--max-requests",
	Connections: "--max-connections", AddressConnections: "half of --max-connections",
	CallerRate: "rate, in the access file", Cards: "--card-rate", AddressCards: "half of --card-rate",
}

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

// counts counts refusals, and logs them: one line a minute for each limit.
type counts struct {
	log *slog.Logger
	of  [limitCount]refusal.Count
}

// add counts a refusal. about are further attributes of the line in the log.
func (c *counts) add(l Limit, about ...any) {
	c.of[l].Add(func(since uint64) {
		c.log.Warn("clients exceed a limit", append([]any{"limit", l.String(), "set_by", limitSettings[l], "refusals", since}, about...)...)
	})
}

// all gives the number of refusals for each limit, by its name.
func (c *counts) all() iter.Seq2[string, uint64] {
	return func(yield func(string, uint64) bool) {
		for l := range c.of {
			if !yield(Limit(l).String(), c.of[l].Total()) {
				return
			}
		}
	}
}
