package access

import (
	"context"
	"sync"
	"time"
)

// SocketSlot is the place of a socket, or of a stream, in the limits of its address and of the node. It
// limits the messages of the socket, too. AcquireSocket makes it. Release and Hold may be called
// concurrently with all else; one goroutine may call the other methods.
type SocketSlot struct {
	limits  *Limits
	address Address
	release sync.Once

	messages *bucket // nil: no limit, or no message yet
	bytes    *bucket // nil: no limit, or no byte yet
	refused  *bucket // how many refusals the socket may still cause; nil before the first
	paid     bool    // a refusal has reserved the address's token for the next message
}

// AcquireSocket takes a place for a socket of an address, and a token of the handshakes. The caller
// releases it. Call it before the handshake: a refusal must cost the node next to nothing.
func (l *Limits) AcquireSocket(a Address) (*SocketSlot, error) {
	if err := l.takePlace(l.sockets, a); err != nil {
		return nil, err
	}
	if err := l.takeToken(l.handshakes, a); err != nil {
		l.sockets.release(a)
		return nil, err
	}
	return &SocketSlot{limits: l, address: a}, nil
}

// AcquireWrite is Limits.AcquireWrite for the client of the socket.
func (s *SocketSlot) AcquireWrite(ctx context.Context, bytes int) (release func(), err error) {
	release, _, err = s.limits.AcquireWrite(ctx, s.address, bytes)
	return release, err
}

// Address is the address of the socket's client.
func (s *SocketSlot) Address() Address { return s.address }

// Release gives the place back. Further calls do nothing.
func (s *SocketSlot) Release() { s.release.Do(func() { s.limits.sockets.release(s.address) }) }

// AllowMessage takes a token for one message. The Refusal is of the kind ErrRateLimited: the caller
// answers the message with it and does nothing else. It is of the kind ErrFlood for a socket that has
// caused refusals for ten seconds' messages above the rate of its messages: the caller closes it.
//
// If the address sends too much, Limit is AddressRequests. The caller then reads no message of this socket
// before RetryAfter, five seconds at most, has passed.
func (s *SocketSlot) AllowMessage() error {
	l := s.limits
	r := tokenRate{float64(l.cfg.Messages), messagesSaved}
	switch wait := r.begin(&s.messages).take(); {
	case wait == 0:
		return s.allowAddressMessage()
	case r.begin(&s.refused).take() > 0:
		return l.refuse(Messages, ErrFlood, 0, "too many messages: this socket goes on after many refusals")
	default:
		return l.refuse(Messages, ErrRateLimited, wait,
			"this socket sends more than %d messages a second (--message-rate); the server has not acted on this one", l.cfg.Messages)
	}
}

// tokensOfRefusal are one for the message that is refused, and one for the next message of the socket. So all
// sockets of an address together are read at the rate of the address. And each gets a message through in
// time: if a refusal paid for itself alone, those of a crowd would use up all tokens.
const tokensOfRefusal = 2

// allowAddressMessage takes a token of the address for one message.
func (s *SocketSlot) allowAddressMessage() error {
	if s.paid {
		s.paid = false
		return nil
	}
	l := s.limits
	tokens := l.requests.of(s.address)
	if tokens.take() == 0 {
		return nil
	}
	wait, reserved := tokens.reserve(tokensOfRefusal)
	s.paid = reserved
	return l.refuseRequest(s.address, max(1, wait))
}

// TakeBytes counts bytes that the socket has sent, and returns how long the caller then reads nothing from it:
// five seconds at most. A socket may send a KiB for each message of its rate, and so may an address. Messages
// alone do not bound what a client makes the node read: it may send frames that are no message, or parts of
// one, without end.
func (s *SocketSlot) TakeBytes(n int) (wait time.Duration) {
	l := s.limits
	wait, _ = tokenRate{float64(l.cfg.Messages * messageBytes), messagesSaved}.begin(&s.bytes).reserve(n)
	ofAddress, _ := l.bytes.of(s.address).reserve(n)
	return max(wait, ofAddress)
}

// AllowSubscription refuses a subscription to a socket that holds so many of its kind already.
func (s *SocketSlot) AllowSubscription(held int) error {
	l := s.limits
	if most := l.cfg.Subscriptions; most > 0 && held >= most {
		return l.refuse(Subscriptions, ErrLimitReached, 0,
			"is one subscription too many; a socket has at most %d to boards, and as many to feeds (--max-subscriptions)", most)
	}
	return nil
}
