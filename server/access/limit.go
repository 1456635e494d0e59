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

// limits has each limit's name, which is stable because metrics show it, and the setting that sets it, which refusals and
// the log show.
var limits = [limitCount]struct{ name, setBy string }{
	Subscriptions: {"subscriptions", "--max-subscriptions"}, Messages: {"messages", "--message-rate"},
	AddressSockets: {"address_sockets", "--max-address-sockets"}, AddressRequests: {"address_requests", "--address-rate"},
	Handshakes: {"handshakes", "--handshake-rate"}, AddressHandshakes: {"address_handshakes", "half of --handshake-rate"},
	Sockets: {"sockets", "--max-sockets"}, Requests: {"requests", "--max-requests"},
	Exports: {"exports", "--max-exports"}, AddressExports: {"address_exports", "half of --max-exports"},
	WatchedBoards: {"watched_boards", "--max-watched-boards"}, AddressBoards: {"address_boards", "half of --max-watched-boards"},
	WaitingBytes: {"waiting_bytes", "--max-waiting-mb"}, AddressWaitingBytes: {"address_waiting_bytes", "half of --max-waiting-mb"},
	Connections: {"connections", "--max-connections"}, AddressConnections: {"address_connections", "half of --max-connections"},
	Cards: {"cards", "--card-rate"}, AddressCards: {"address_cards", "half of --card-rate"},
	CallerRate: {"caller_rate", "rate, in the access file"},
}

// String is the name of the limit in metrics.
func (l Limit) String() string { return limits[l].name }

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
		c.log.Warn("clients exceed a limit", append([]any{"limit", l.String(), "set_by", limits[l].setBy, "refusals", since}, about...)...)
	})
}

// Counts gives the number of refusals of each limit so far, by the limit's name.
func (l *Limits) Counts() iter.Seq2[string, uint64] {
	return func(yield func(string, uint64) bool) {
		for i := range limits {
			if !yield(limits[i].name, l.refused.of[i].Total()) {
				return
			}
		}
	}
}
