package access

import (
	"cmp"
	"fmt"
	"log/slog"
	"math"
	"runtime"
	"time"

	"rankcast/ranking/fair"
)

// Unlimited turns a limit of Config off.
const Unlimited = -1

// How much of a rate a client may save up. The documentation derives from these that 5,000 phones behind
// one address pass: see TestPhonesBehindOneAddressPass.
const (
	messagesSaved   = 10 * time.Second
	requestsSaved   = 20 * time.Second
	bytesSaved      = 4 * time.Second
	handshakesSaved = 5 * time.Second
	cardsSaved      = 5 * time.Second
)

// messageBytes is the mean size of the messages that a socket may send at the full rate, in bytes, with
// their frames: of a socket alone, and of all sockets of an address.
const messageBytes = 1 << 10

// placeRetry is the time after which a client may come back that found no place: for a socket, an export or a board.
const placeRetry = 5 * time.Second

// Config holds the limits. The zero value of each field means its default, and Unlimited no limit.
type Config struct {
	// Subscriptions bounds the boards of a socket, and its feeds. Default 100.
	Subscriptions int
	// Messages bounds the messages of a socket, each second. A socket may save up those of ten seconds.
	// Default 100.
	Messages int
	// AddressSockets bounds the sockets of an address. An address never gets more than half of Sockets.
	// Default 10,000.
	AddressSockets int
	// AddressRequests bounds the requests of an address, and the messages on its sockets, each second. An
	// address may save up those of 20 seconds. Default 5,000.
	AddressRequests int
	// Sockets bounds the sockets of the node. Default: nine tenths of the files that the process may
	// open; no limit where the system tells none.
	Sockets int
	// Connections bounds the connections of the node, sockets and requests together. One address gets
	// half of them. Default: nineteen twentieths of the files that the process may open, so that the
	// node can reach Redis and write its log; no limit where the system tells none.
	Connections int
	// Handshakes bounds the sockets that the node opens, each second. It may save up those of five
	// seconds. One address gets half of them. Default 2,000.
	Handshakes int
	// Exports bounds the exports under way. One address gets half of them. Default 50.
	Exports int
	// Cards bounds the cards that the node draws, each second. It may save up those of five seconds. One address
	// gets half of them. Default 20.
	Cards int
	// Requests bounds the writes under way. A write of more than 1 KiB counts as several: 16 KiB as 17. One
	// address gets half of them, and has as many reads under way. Default 16 for each processor.
	Requests int
	// WaitingBytes bounds the memory of frames that wait for slow sockets to accept them, in bytes. One
	// address gets half of it. Default 256 MiB.
	WaitingBytes int
	// Log gets a line about each limit that clients exceed, once a minute at most. Default slog.Default.
	Log *slog.Logger
}

func (c Config) withDefaults() Config {
	c.Log = cmp.Or(c.Log, slog.Default())
	for _, limit := range []struct {
		is      *int
		without int // the default
	}{
		{&c.Subscriptions, 100}, {&c.Messages, 100}, {&c.AddressSockets, 10_000}, {&c.AddressRequests, 5000},
		{&c.Sockets, shareOfFiles(9, 10)}, {&c.Connections, shareOfFiles(19, 20)}, {&c.Handshakes, 2000},
		{&c.Exports, 50}, {&c.Cards, 20}, {&c.Requests, 16 * runtime.GOMAXPROCS(0)}, {&c.WaitingBytes, 256 << 20},
	} {
		*limit.is = max(cmp.Or(*limit.is, limit.without), 0) // 0 means no limit from here on
	}
	if c.AddressSockets > 0 && c.Sockets > 0 {
		c.AddressSockets = min(c.AddressSockets, half(c.Sockets))
	}
	return c
}

// Capacity is what a node takes. Unlimited means no limit.
type Capacity struct {
	OpenFiles   int // that the process may open
	Sockets     int
	Connections int // sockets and requests together
}

// Capacity returns what a node with these limits takes, by the files that this process may open.
func (c Config) Capacity() Capacity {
	c = c.withDefaults()
	limit := func(n int) int {
		if n == 0 {
			return Unlimited
		}
		return n
	}
	return Capacity{OpenFiles: openFiles(), Sockets: limit(c.Sockets), Connections: limit(c.Connections)}
}

// half is what one address gets of a limit of the node: at least one. 0 stays without limit.
func half(most int) int {
	if most == 0 {
		return 0
	}
	return max(1, most/2)
}

// shareOfFiles is a share of the files that the process may open: part of so many parts.
func shareOfFiles(part, parts int) int {
	files := openFiles()
	if files == Unlimited {
		return Unlimited
	}
	return max(1, files/parts*part)
}

// Limits counts what the clients of a node use, and refuses what exceeds a limit. New makes it. All methods
// may be called concurrently. A method that refuses returns a *Refusal and counts it.
type Limits struct {
	cfg           Config // a limit of 0 is none
	refused       counts
	requests      addressBuckets
	bytes         addressBuckets // that sockets send
	handshakes    sharedBuckets
	cards         sharedBuckets
	sockets       *places
	connections   *places
	exports       *places
	writes, reads *fair.Semaphore[Address]
	memory        *memoryInUse
}

// New makes Limits.
func New(cfg Config) *Limits {
	cfg = cfg.withDefaults()
	l := &Limits{
		cfg: cfg, refused: counts{log: cfg.Log},
		sockets:     newPlaces(share{"sockets", Sockets, AddressSockets}, cfg.Sockets, cfg.AddressSockets),
		connections: newPlaces(share{"connections", Connections, AddressConnections}, cfg.Connections, half(cfg.Connections)),
		exports:     newPlaces(share{"exports under way", Exports, AddressExports}, cfg.Exports, half(cfg.Exports)),
		handshakes:  newSharedBuckets(share{"sockets", Handshakes, AddressHandshakes}, cfg.Handshakes, handshakesSaved),
		cards:       newSharedBuckets(share{"cards", Cards, AddressCards}, cfg.Cards, cardsSaved),
		writes:      newTurns(cfg.Requests, half(cfg.Requests)), reads: newTurns(math.MaxInt, half(cfg.Requests)),
		memory: newMemoryInUse(cfg.WaitingBytes, half(cfg.WaitingBytes)),
	}
	l.requests = newAddressBuckets(tokenRate{float64(cfg.AddressRequests), requestsSaved})
	l.bytes = newAddressBuckets(tokenRate{float64(cfg.AddressRequests * messageBytes), bytesSaved})
	return l
}

// RefuseBoard refuses a subscription to one board more than the node watches: the hub counts them.
func (l *Limits) RefuseBoard() error {
	return l.refuse(WatchedBoards, ErrOverloaded, placeRetry,
		"is one board too many: the node watches as many as it may (--max-watched-boards)")
}

// RefuseBoardOf refuses a subscription to one board more than the node watches for an address.
func (l *Limits) RefuseBoardOf(a Address) error {
	return l.refuse(AddressBoards, ErrLimitReached, placeRetry,
		"is one board too many: the node watches as many for %s as it may (half of --max-watched-boards)", a)
}

// takePlace takes a place for an address. The caller releases it.
func (l *Limits) takePlace(p *places, a Address) error {
	switch reached, most, ok := p.take(a); {
	case ok:
		return nil
	case reached == p.ofAddress:
		return l.refuse(reached, ErrLimitReached, placeRetry, "%s has %d %s, the most that it may have (%s)", a, most, p.things,
			limits[reached].setBy)
	default:
		return l.refuse(reached, ErrOverloaded, placeRetry, "the node has %d %s, the most that it takes (%s)", most, p.things,
			limits[reached].setBy)
	}
}

// takeToken takes a token of an address, and then one of the node: one address alone must not use up those of the node.
func (l *Limits) takeToken(s sharedBuckets, a Address) error {
	if wait := s.addresses.of(a).take(); wait > 0 {
		return l.refuse(s.ofAddress, ErrRateLimited, wait, "%s asks for more than %d %s a second (%s)", a, half(s.perSecond), s.things,
			limits[s.ofAddress].setBy)
	}
	if wait := s.node.take(); wait > 0 {
		return l.refuse(s.ofNode, ErrOverloaded, wait, "clients ask for more than %d %s a second (%s)", s.perSecond, s.things,
			limits[s.ofNode].setBy)
	}
	return nil
}

func (l *Limits) refuse(limit Limit, kind error, retryAfter time.Duration, format string, args ...any) *Refusal {
	l.refused.add(limit)
	return &Refusal{Limit: limit, RetryAfter: retryAfter, kind: kind, reason: fmt.Sprintf(format, args...)}
}

// AllowRequest takes a token for one request of an address.
func (l *Limits) AllowRequest(a Address) error {
	if wait := l.requests.of(a).take(); wait > 0 {
		return l.refuseRequest(a, wait)
	}
	return nil
}

// refuseRequest refuses a request, or a message, of an address.
func (l *Limits) refuseRequest(a Address, wait time.Duration) error {
	return l.refuse(AddressRequests, ErrRateLimited, wait, "%s sends more than %d requests a second (--address-rate)", a,
		l.cfg.AddressRequests)
}
