package access

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
)

// flood sends messages on sockets of one address for a time, each as soon as the last refusal allows. It
// returns how many the limits allowed and refused.
func flood(t *testing.T, l *Limits, sockets int, span time.Duration) (allowed, refused int) {
	type sender struct {
		slot *SocketSlot
		next time.Time
	}
	var senders []*sender
	end := time.Now().Add(span)
	for range sockets {
		slot, err := l.AcquireSocket(client(1))
		require.NoError(t, err)
		senders = append(senders, &sender{slot, time.Now()})
	}
	for {
		first := senders[0]
		for _, s := range senders {
			if s.next.Before(first.next) {
				first = s
			}
		}
		if !first.next.Before(end) {
			time.Sleep(time.Until(end))
			return allowed, refused
		}
		time.Sleep(time.Until(first.next))
		err := first.slot.AllowMessage()
		if err == nil {
			allowed++
			continue
		}
		refused++
		var r *Refusal
		require.True(t, errors.As(err, &r))
		require.ErrorIs(t, err, ErrRateLimited)
		require.Equal(t, AddressRequests, r.Limit)
		require.Positive(t, r.RetryAfter)
		require.LessOrEqual(t, r.RetryAfter, 5*time.Second)
		first.next = time.Now().Add(r.RetryAfter)
	}
}

// Many sockets of one address together are read at the rate of the address, whether their messages are allowed
// or refused; none is closed for what the others send. At least every second message gets through.
func TestMessagesOfAnAddress(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		const perSecond, saved, sockets, seconds = 100, 2000, 150, 10
		l := New(Config{AddressRequests: perSecond, Messages: Unlimited})
		allowed, refused := flood(t, l, sockets, seconds*time.Second)
		require.LessOrEqual(t, allowed+refused, perSecond*seconds+saved+sockets)
		require.GreaterOrEqual(t, allowed+refused, perSecond*seconds+saved-sockets, "and not much slower")
		require.GreaterOrEqual(t, allowed, saved+perSecond*seconds/2-sockets)
		require.EqualValues(t, refused, counted(l)["address_requests"])
	})
}

// The sockets of an address that has more of them than it can pay for in five seconds do not wait longer,
// and what they reserve does not keep the address out for longer.
func TestMessagesAreHeldForFiveSeconds(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		const perSecond, sockets = 2, 100
		l := New(Config{AddressRequests: perSecond})
		allowed, refused := flood(t, l, sockets, time.Minute)
		require.LessOrEqual(t, allowed, 60*perSecond+40)
		require.LessOrEqual(t, refused, sockets*60/5+60*perSecond)
		require.Error(t, l.AllowRequest(client(1)))
		time.Sleep(5*time.Second + time.Second/perSecond)
		require.NoError(t, l.AllowRequest(client(1)))
		require.NoError(t, l.AllowRequest(client(2)))
	})
}

// A message is refused with the time until the socket may send the next one, which is then allowed. Requests
// reserve nothing.
func TestMessagesCountAsRequests(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		l := New(Config{AddressRequests: 10})
		allow(t, 150, func() error { return l.AllowRequest(client(1)) })
		s, err := l.AcquireSocket(client(1))
		require.NoError(t, err)
		allow(t, 50, s.AllowMessage)
		for range 20 {
			requireRefused(t, l.AllowRequest(client(1)), AddressRequests, ErrRateLimited, 100*time.Millisecond)
		}
		requireRefused(t, s.AllowMessage(), AddressRequests, ErrRateLimited, 200*time.Millisecond)
		requireRefused(t, l.AllowRequest(client(1)), AddressRequests, ErrRateLimited, 300*time.Millisecond)
		time.Sleep(200 * time.Millisecond)
		allow(t, 1, s.AllowMessage)
		requireRefused(t, s.AllowMessage(), AddressRequests, ErrRateLimited, 200*time.Millisecond)
		program, err := l.AcquireSocket(local)
		require.NoError(t, err)
		allow(t, 1000, program.AllowMessage)
	})
}

// A socket may send a KiB for each message of its rate, and so may all sockets of an address together. Beyond
// that the caller reads nothing for a while.
func TestBytesOfSockets(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		l := New(Config{Messages: 10, AddressRequests: 100})
		s, err := l.AcquireSocket(client(1))
		require.NoError(t, err)
		require.Zero(t, s.TakeBytes(100<<10), "what it has saved")
		require.Equal(t, time.Second, s.TakeBytes(10<<10))
		require.Equal(t, 2*time.Second, s.TakeBytes(10<<10))
		require.Equal(t, maxHold, s.TakeBytes(50<<10), "no more than that is taken in advance")
		time.Sleep(2 * time.Second)
		require.Equal(t, time.Second, s.TakeBytes(10<<10))

		var wait time.Duration
		for range 10 { // 400 KiB are saved, of which 130 are gone
			other, err := l.AcquireSocket(client(1))
			require.NoError(t, err)
			wait = other.TakeBytes(50 << 10)
		}
		require.Positive(t, wait)
		another, err := l.AcquireSocket(client(2))
		require.NoError(t, err)
		require.Zero(t, another.TakeBytes(50<<10))
		exempt, err := l.AcquireSocket(local)
		require.NoError(t, err)
		require.Zero(t, exempt.TakeBytes(100<<10))
		require.Equal(t, time.Second, exempt.TakeBytes(10<<10), "the socket has its limit")
	})
}
