package access

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
)

var local = newAddress(netip.MustParseAddr("127.0.0.1"))

func TestRequestsOfAnAddress(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		l := New(Config{AddressRequests: 2})
		one := func() error { return l.AllowRequest(client(1)) }
		allow(t, 40, one) // those of 20 s
		requireRefused(t, one(), AddressRequests, ErrRateLimited, 500*time.Millisecond)
		time.Sleep(200 * time.Millisecond)
		requireRefused(t, one(), AddressRequests, ErrRateLimited, 300*time.Millisecond)
		time.Sleep(300 * time.Millisecond)
		allow(t, 1, one)
		requireRefused(t, one(), AddressRequests, ErrRateLimited, 500*time.Millisecond)
		allow(t, 40, func() error { return l.AllowRequest(client(2)) })
		allow(t, 1000, func() error { return l.AllowRequest(local) })
		require.Equal(t, map[string]uint64{"address_requests": 3}, counted(l))
		time.Sleep(time.Hour)
		allow(t, 40, one)
		requireRefused(t, one(), AddressRequests, ErrRateLimited, 500*time.Millisecond)
	})
}

// A bucket is forgotten only when it is full again, unless too many addresses send.
func TestBucketsAreForgottenWhenFull(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		b := newAddressBuckets(tokenRate{1, 20 * time.Second})
		for range 20 {
			require.Zero(t, b.of(client(1)).take())
		}
		for second := range 100 { // the bucket stays as it is, over any number of turns of the table
			time.Sleep(time.Second)
			require.Zero(t, b.of(client(1)).take(), "after %d s", second)
			require.Equal(t, time.Second, b.of(client(1)).take().Round(time.Millisecond), "after %d s", second)
			b.of(client(2 + second)).take()
		}
		require.LessOrEqual(t, len(b.newer)+len(b.older), 52)
		time.Sleep(time.Minute)
		b.of(client(1)).take()
		time.Sleep(time.Minute)
		b.of(client(1)).take()
		require.Equal(t, 2, len(b.newer)+len(b.older), "the quiet addresses are gone")
	})
}

func TestBucketsAreBounded(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		b := newAddressBuckets(tokenRate{1, 20 * time.Second})
		b.most = 100
		for range 20 {
			require.Zero(t, b.of(client(0)).take())
		}
		for i := range 10_000 {
			b.of(client(i)).take()
			require.LessOrEqual(t, len(b.newer)+len(b.older), 200)
			if i%50 == 0 {
				require.NotZero(t, b.of(client(0)).take(), "an address that sends is not forgotten")
			}
		}
	})
}

func TestSocketsOfAnAddress(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		l := New(Config{AddressSockets: 2, Sockets: 5})
		first, err := l.AcquireSocket(client(1))
		require.NoError(t, err)
		acquire := func(a Address) func() error {
			return func() error { _, err := l.AcquireSocket(a); return err }
		}
		allow(t, 1, acquire(client(1)))
		requireRefused(t, acquire(client(1))(), AddressSockets, ErrLimitReached, 5*time.Second)
		first.Release()
		first.Release() // counts once
		allow(t, 1, acquire(client(1)))
		requireRefused(t, acquire(client(1))(), AddressSockets, ErrLimitReached, 5*time.Second)
		allow(t, 3, acquire(local))
		requireRefused(t, acquire(local)(), Sockets, ErrOverloaded, 5*time.Second)
		requireRefused(t, acquire(client(2))(), Sockets, ErrOverloaded, 5*time.Second)
		require.Equal(t, map[string]uint64{"address_sockets": 2, "sockets": 2}, counted(l))
	})
}

func TestAddressWithoutSocketsTakesNoMemory(t *testing.T) {
	t.Parallel()
	l := New(Config{})
	for i := range 100 {
		first, err := l.AcquireSocket(client(i))
		require.NoError(t, err)
		second, err := l.AcquireSocket(client(i))
		require.NoError(t, err)
		first.Release()
		require.Len(t, l.sockets.takenBy, 1)
		second.Release()
		require.Empty(t, l.sockets.takenBy)
	}
}

// One address never gets more than half of the node: neither its sockets nor its handshakes.
func TestOneAddressGetsHalf(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		l := New(Config{AddressSockets: 10_000, Sockets: 30, Handshakes: Unlimited})
		acquire := func(a Address) func() error {
			return func() error { _, err := l.AcquireSocket(a); return err }
		}
		allow(t, 15, acquire(client(1)))
		requireRefused(t, acquire(client(1))(), AddressSockets, ErrLimitReached, 5*time.Second)
		allow(t, 15, acquire(client(2)))

		l = New(Config{Handshakes: 10, Sockets: Unlimited})
		allow(t, 25, acquire(client(1))) // half of five seconds' handshakes
		requireRefused(t, acquire(client(1))(), AddressHandshakes, ErrRateLimited, 200*time.Millisecond)
		allow(t, 25, acquire(client(2)))
		requireRefused(t, acquire(client(3))(), Handshakes, ErrOverloaded, 100*time.Millisecond)
		requireRefused(t, acquire(local)(), Handshakes, ErrOverloaded, 100*time.Millisecond)
		require.Equal(t, 50, l.sockets.taken, "a refused handshake holds no place")
		require.Equal(t, map[string]uint64{"address_handshakes": 1, "handshakes": 2}, counted(l))
		time.Sleep(100 * time.Millisecond)
		allow(t, 1, acquire(client(3)))
	})
}

// A node draws a bounded number of cards, and half of them for one address.
func TestCards(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		l := New(Config{Cards: 10})
		draw := func(a Address) func() error { return func() error { return l.AllowCard(a) } }
		allow(t, 25, draw(client(1))) // half of five seconds' cards
		requireRefused(t, draw(client(1))(), AddressCards, ErrRateLimited, 200*time.Millisecond)
		allow(t, 25, draw(client(2)))
		requireRefused(t, draw(client(3))(), Cards, ErrOverloaded, 100*time.Millisecond)
		requireRefused(t, draw(local)(), Cards, ErrOverloaded, 100*time.Millisecond)
		require.Equal(t, map[string]uint64{"address_cards": 1, "cards": 2}, counted(l))
		time.Sleep(100 * time.Millisecond)
		allow(t, 1, draw(client(3)))
	})
}

func TestMessagesOfASocket(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		l := New(Config{Messages: 10})
		s, err := l.AcquireSocket(local)
		require.NoError(t, err)
		allow(t, 100, s.AllowMessage) // those of ten seconds
		for range 100 {
			requireRefused(t, s.AllowMessage(), Messages, ErrRateLimited, 100*time.Millisecond)
		}
		requireRefused(t, s.AllowMessage(), Messages, ErrFlood, 0)
		other, err := l.AcquireSocket(local)
		require.NoError(t, err)
		allow(t, 100, other.AllowMessage)
		for range 1000 { // a client that sends twice as much as it may keeps its socket
			time.Sleep(100 * time.Millisecond)
			require.NoError(t, other.AllowMessage())
			require.ErrorIs(t, other.AllowMessage(), ErrRateLimited)
		}
		require.Equal(t, map[string]uint64{"messages": 1101}, counted(l))
	})
}

func TestSubscriptions(t *testing.T) {
	t.Parallel()
	l := New(Config{})
	s, err := l.AcquireSocket(local)
	require.NoError(t, err)
	require.NoError(t, s.AllowSubscription(99))
	requireRefused(t, s.AllowSubscription(100), Subscriptions, ErrLimitReached, 0)
	require.Equal(t, map[string]uint64{"subscriptions": 1}, counted(l))
}

// One address gets half of the exports, at least one. A program on this machine gets all.
func TestExports(t *testing.T) {
	t.Parallel()
	l := New(Config{Exports: 5})
	acquire := func(a Address) (release func()) {
		release, err := l.AcquireExport(a)
		require.NoError(t, err)
		return release
	}
	refuse := func(a Address, limit Limit, kind error) {
		_, err := l.AcquireExport(a)
		requireRefused(t, err, limit, kind, 5*time.Second)
	}
	first := acquire(client(1))
	acquire(client(1))
	refuse(client(1), AddressExports, ErrLimitReached)
	_, err := l.AcquireExport(client(1))
	require.EqualError(t, err, "198.0.0.1 has 2 exports under way, the most that it may have (half of --max-exports)")
	first()
	acquire(client(1))
	refuse(client(1), AddressExports, ErrLimitReached)
	acquire(local)
	acquire(local)
	program := acquire(local)
	refuse(local, Exports, ErrOverloaded)
	refuse(client(2), Exports, ErrOverloaded)
	program()
	acquire(client(2))
	require.Equal(t, map[string]uint64{"exports": 2, "address_exports": 3}, counted(l))

	l = New(Config{Exports: 1})
	acquire(client(1))
	refuse(client(1), AddressExports, ErrLimitReached)
	refuse(client(2), Exports, ErrOverloaded)
}

func TestUnlimited(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		l := New(Config{
			Subscriptions: Unlimited, Messages: Unlimited, AddressSockets: Unlimited, AddressRequests: Unlimited, Sockets: Unlimited,
			Connections: Unlimited, Handshakes: Unlimited, Exports: Unlimited, Cards: Unlimited, Requests: Unlimited, WaitingBytes: Unlimited,
		})
		for range 20_000 {
			s, err := l.AcquireSocket(client(1))
			require.NoError(t, err)
			require.NoError(t, errors.Join(s.AllowMessage(), s.AllowMessage(), s.AllowSubscription(1_000_000), l.AllowRequest(client(1)),
				l.AllowCard(client(1))))
			_, err = l.AcquireExport(client(1))
			require.NoError(t, err)
			s.Hold(Memory{Own: 1 << 30}, func() { t.Error("given up") })
		}
		s, err := l.AcquireSocket(client(2))
		require.NoError(t, err)
		allow(t, 20_000, s.AllowMessage)
		require.Empty(t, counted(l))
	})
}

// 5,000 phones behind one address that all load a page at one moment, ten requests each over six connections,
// and open a socket with five subscriptions, meet no limit; nor do they when they all come back a few
// seconds later.
func TestPhonesBehindOneAddressPass(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		const phones, requests, messages, connections = 5000, 10, 5, 6
		const files = 75_000
		l := New(Config{Sockets: files / 10 * 9, Connections: files / 20 * 19})
		nat := client(1)
		var slots []*SocketSlot
		open := func() {
			for range phones {
				require.NoError(t, l.AllowRequest(nat)) // the handshake
				s, err := l.AcquireSocket(nat)
				require.NoError(t, err)
				allow(t, messages, s.AllowMessage)
				slots = append(slots, s)
			}
		}
		for range phones * (connections + 1) { // one more for the socket
			_, _, ok := l.connections.take(nat)
			require.True(t, ok)
		}
		allow(t, phones*requests, func() error { return l.AllowRequest(nat) })
		open()
		for _, s := range slots {
			s.Release()
		}
		time.Sleep(5 * time.Second)
		open()
		require.Empty(t, counted(l))
	})
}

// 9,000 clients of as many addresses that come back at one moment meet no limit of the node.
func TestCrowdComesBack(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		l := New(Config{Sockets: 18_000})
		for i := range 9000 {
			_, err := l.AcquireSocket(client(i))
			require.NoError(t, err)
		}
		require.Empty(t, counted(l))
	})
}

// A counter exists before its limit has refused anything, so that a metric can begin at 0.
func TestCountsNameEachLimit(t *testing.T) {
	t.Parallel()
	all := maps.Collect(New(Config{}).Counts())
	require.Len(t, all, int(limitCount))
	require.NotContains(t, all, "")
}

// BenchmarkRequest measures what the limits cost a request: finding its client, directly and behind a proxy,
// and taking a token among 100,000 addresses.
func BenchmarkRequest(b *testing.B) {
	a := addresses(b, "10.0.0.0/8")
	for name, r := range map[string]func(ip string) (peer string, header []string){
		"direct":    func(ip string) (string, []string) { return ip + ":4000", nil },
		"proxied":   func(ip string) (string, []string) { return "10.0.0.1:4000", []string{"X-Forwarded-For: " + ip} },
		"forwarded": func(ip string) (string, []string) { return "10.0.0.1:4000", []string{"Forwarded: for=" + ip} },
	} {
		b.Run(name, func(b *testing.B) {
			l := New(Config{})
			requests := make([]func() error, 100_000)
			for i := range requests {
				peer, header := r(client(i).String())
				req := request(peer, header...)
				requests[i] = func() error { return l.AllowRequest(a.Of(req)) }
			}
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for i := 0; pb.Next(); i++ {
					if err := requests[i%len(requests)](); err != nil {
						panic(fmt.Sprint(err))
					}
				}
			})
		})
	}
}
