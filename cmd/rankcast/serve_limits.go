package main

import (
	"cmp"
	"fmt"
	"net/netip"

	"rankcast/server/access"
)

// serveLimits are the flags of rankcast serve that bound what clients may use of the node. 0 turns a limit
// off.
type serveLimits struct {
	TrustedProxies    []string `env:"RANKCAST_TRUSTED_PROXIES" placeholder:"PROXY" help:"Proxies whose Forwarded or X-Forwarded-For names the client: addresses, ranges such as 10.0.0.0/8, loopback, private."`
	MaxSubscriptions  int      `range:"0.." default:"100" env:"RANKCAST_MAX_SUBSCRIPTIONS" help:"Most boards that a socket may watch, and most feeds. 0: no limit, here and below."`
	MessageRate       int      `range:"0.." default:"100" env:"RANKCAST_MESSAGE_RATE" help:"Most messages of a socket in a second; it may save up those of ten seconds."`
	MaxAddressSockets int      `range:"0.." default:"10000" env:"RANKCAST_MAX_ADDRESS_SOCKETS" help:"Most sockets of an address, and never more than half of --max-sockets. Loopback has no limit."`
	AddressRate       int      `range:"0.." default:"5000" env:"RANKCAST_ADDRESS_RATE" help:"Most requests and messages of an address in a second; it may save up those of 20 seconds. Loopback has no limit."`
	MaxSockets        *int     `range:"0.." env:"RANKCAST_MAX_SOCKETS" placeholder:"N" help:"Most sockets of this node. Default nine tenths of the files that the process may open."`
	MaxConnections    *int     `range:"0.." env:"RANKCAST_MAX_CONNECTIONS" placeholder:"N" help:"Most connections of this node, sockets and requests together, half of them of one address. Default nineteen twentieths of the files that the process may open."`
	MaxRequests       *int     `range:"0.." env:"RANKCAST_MAX_REQUESTS" placeholder:"N" help:"Most writes at once on this node; one of more than 1 KiB counts as several. An address gets half of them, and as many reads. Default 16 for each processor."`
	HandshakeRate     int      `range:"0.." default:"2000" env:"RANKCAST_HANDSHAKE_RATE" help:"Most sockets that this node opens in a second, half of them to one address; it may save up those of five seconds."`
	MaxExports        int      `range:"0.." default:"50" env:"RANKCAST_MAX_EXPORTS" help:"Most exports at once on this node, half of them of one address."`
	CardRate          int      `range:"0.." default:"20" env:"RANKCAST_CARD_RATE" help:"Most cards (pictures of boards) that this node draws in a second, half of them for one address; it may save up those of five seconds."`
	MaxWaitingMB      int      `range:"0.." name:"max-waiting-mb" default:"256" env:"RANKCAST_MAX_WAITING_MB" help:"Most MiB of frames, answers, bodies and messages that wait on this node for slow clients, half of them of one address."`
	MaxWatchedBoards  int      `range:"0.." default:"100000" env:"RANKCAST_MAX_WATCHED_BOARDS" help:"Most different boards that clients watch on this node at once; those of an address get half of them."`

	proxies []netip.Prefix
}

// Validate checks the flags, and reads the proxies.
func (s *serveLimits) Validate() (err error) {
	if s.proxies, err = access.ParseProxies(s.TrustedProxies); err != nil {
		err = fmt.Errorf("--trusted-proxies: %w", err)
	}
	return err
}

// config is the configuration of the limits.
func (s *serveLimits) config() access.Config {
	limit := func(n int) int { return cmp.Or(n, access.Unlimited) }
	cfg := access.Config{
		Subscriptions: limit(s.MaxSubscriptions), Messages: limit(s.MessageRate),
		AddressSockets: limit(s.MaxAddressSockets), AddressRequests: limit(s.AddressRate),
		Handshakes: limit(s.HandshakeRate), Exports: limit(s.MaxExports), Cards: limit(s.CardRate), WaitingBytes: limit(s.MaxWaitingMB << 20),
	}
	for field, n := range map[*int]*int{&cfg.Sockets: s.MaxSockets, &cfg.Requests: s.MaxRequests, &cfg.Connections: s.MaxConnections} {
		if n != nil {
			*field = limit(*n)
		}
	}
	return cfg
}
