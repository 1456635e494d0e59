package access

import (
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"golang.org/x/time/rate"
)

// ipv6Client is the length of the prefix that counts as one IPv6 client: a provider gives each customer a
// whole /64 at least (RFC 6177), and a machine may use any address in it.
const ipv6Client = 64

// proxyLoggedFor is the time between two lines of the log about proxies that the flag does not name.
const proxyLoggedFor = time.Hour

// Address is a client as the limits count it: an IPv4 address, or an IPv6 /64. The zero Address is exempt
// from all limits for an address: it is a program on this machine. An Address is comparable.
type Address struct{ key netip.Addr }

// Exempt reports whether no limit for an address applies.
func (a Address) Exempt() bool { return !a.key.IsValid() }

// String is the address for people: 203.0.113.9, or 2001:db8::/64.
func (a Address) String() string {
	switch {
	case a.Exempt():
		return "loopback"
	case a.key.Is6():
		return netip.PrefixFrom(a.key, ipv6Client).String()
	}
	return a.key.String()
}

// newAddress counts an address. A loopback address is exempt.
func newAddress(ip netip.Addr) Address {
	if ip.IsLoopback() {
		return Address{}
	}
	return sharedAddress(ip)
}

// sharedAddress counts an address, also on loopback.
func sharedAddress(ip netip.Addr) Address {
	if ip.Is6() {
		prefix, err := ip.Prefix(ipv6Client)
		if err != nil {
			return Address{}
		}
		ip = prefix.Addr()
	}
	return Address{ip}
}

// Addresses finds the address of a request's client. NewAddresses makes it. All methods may be called
// concurrently.
type Addresses struct {
	trusted []netip.Prefix
	log     *slog.Logger
	unnamed rate.Sometimes // the line about an unnamed proxy
}

// NewAddresses makes Addresses that believe the proxies in trusted, as ParseProxies returns them. log gets a
// line, at most once an hour, when another peer sends such headers.
func NewAddresses(trusted []netip.Prefix, log *slog.Logger) *Addresses {
	return &Addresses{trusted: trusted, log: log, unnamed: rate.Sometimes{Interval: proxyLoggedFor}}
}

// Of returns the address of a request's client: the peer, unless the peer is a trusted proxy. Then it is
// the last address in X-Forwarded-For that is not a trusted proxy's: each proxy appends the address that
// it saw, and what stands before that may be invented. Without that header, Forwarded (RFC 7239) counts in
// the same way. Most proxies write X-Forwarded-For alone and pass a client's own Forwarded on, so the
// other order would let a client choose its address.
//
// Where such a header holds no address, the proxy that sent it counts as the client, also on loopback.
func (a *Addresses) Of(r *http.Request) Address {
	peer, ok := parseNode(r.RemoteAddr)
	if !ok {
		return Address{} // the connection has no address, as on a unix socket: it is of this machine
	}
	forwarded, field := r.Header[forwardedFor], forwardedForNode
	if len(forwarded) == 0 {
		forwarded, field = r.Header[forwardedHeader], forwardedNode
	}
	if len(forwarded) == 0 {
		return newAddress(peer)
	}
	if !a.isTrusted(peer) {
		isDue := false
		a.unnamed.Do(func() { isDue = true })
		if isDue { // not within Do, where others would wait for the log
			a.logProxy(peer)
		}
		return newAddress(peer)
	}
	hop := peer
	for element := range elementsFromRight(forwarded) {
		ip, ok := parseNode(field(element))
		if !ok {
			return sharedAddress(hop)
		}
		if hop = ip; !a.isTrusted(ip) {
			break
		}
	}
	// Also on loopback: a proxy may pass on what a client claims to be.
	return sharedAddress(hop)
}

func (a *Addresses) isTrusted(ip netip.Addr) bool {
	return slices.ContainsFunc(a.trusted, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// logProxy logs that a peer which is not trusted sends the headers of a proxy.
func (a *Addresses) logProxy(peer netip.Addr) {
	effect := "the server counts all its clients as one"
	if peer.IsLoopback() {
		effect = "the server limits none of its clients"
	}
	named := make([]string, 0, len(a.trusted)+1)
	for _, p := range a.trusted {
		named = append(named, p.String())
	}
	a.log.Warn("a peer sends Forwarded or X-Forwarded-For, and no flag names it as a proxy; "+effect,
		"peer", peer, "flag", "--trusted-proxies "+strings.Join(append(named, peer.String()), ","))
}
