package main

import (
	"fmt"
	"net/netip"

	"rankcast/server/access"
)

// serveLimits are the flags of rankcast serve that bound what clients may use of the node. 0 turns a limit
// off.
type serveLimits struct {
	TrustedProxies    []string `env:"RANKCAST_TRUSTED_PROXIES" placeholder:"PROXY" help:"Proxies whose Forwarded or X-Forwarded-For names the client: addresses, ranges such as 10.0.0.0/8, loopback, private."`
	MaxSubscriptions  int      `default:"100" env:"RANKCAST_MAX_SUBSCRIPTIONS" help:"Most boards that a socket may watch, and most feeds. 0: no limit, here and below."`
	MessageRate       int      `default:"100" env:"RANKCAST_MESSAGE_RATE" help:"Most messages of a socket in a second; it may save up those of ten seconds."`
	MaxAddressSockets int      `default:"10000" env:"RANKCAST_MAX_ADDRESS_SOCKETS" help:"Most sockets of an address, and never more than half of --max-sockets. Loopback has no limit."`
	AddressRate       int      `default:"5000" env:"RANKCAST_ADDRESS_RATE" help:"Most requests and messages of an address in a second; it may save up those of 20 seconds. Loopback has no limit."`
	MaxSockets        *int     `env:"RANKCAST_MAX_SOCKETS" placeholder:"N" help:"Most sockets of this node. Default nine tenths of the files that the process may open."`
	MaxConnections    *int     `env:"RANKCAST_MAX_CONNECTIONS" placeholder:"N" help:"Most connections of this node, sockets and requests together, half of them of one address. Default nineteen twentieths of the files that the process may open."`
	MaxRequests       *int     `env:"RANKCAST_MAX_REQUESTS" placeholder:"N" help:"Most writes at once on this node; one of more than 1 KiB counts as several. An address gets half of them, and as many reads. Default 16 for each processor."`
	HandshakeRate     int      `default:"2000" env:"RANKCAST_HANDSHAKE_RATE" help:"Most sockets that this node opens in a second, half of them to one address; it may save up those of five seconds."`
	MaxExports        int      `default:"50" env:"RANKCAST_MAX_EXPORTS" help:"Most exports at once on this node, half of them of one address."`
	CardRate          int      `default:"20" env:"RANKCAST_CARD_RATE" help:"Most cards (pictures of boards) that this node draws in a second, half of them for one address; it may save up those of five seconds."`
	MaxWaitingMB      int      `name:"max-waiting-mb" default:"256" env:"RANKCAST_MAX_WAITING_MB" help:"Most MiB of frames, answers, bodies and messages that wait on this node for slow clients, half of them of one address."`
	MaxWatchedBoards  int      `default:"100000" env:"RANKCAST_MAX_WATCHED_BOARDS" help:"Most different boards that clients watch on this node at once; those of an address get half of them."`

	proxies []netip.Prefix
}

// Validate checks the flags, and reads the proxies.
func (s *serveLimits) Validate() (err error) {
	if s.proxies, err = access.ParseProxies(s.TrustedProxies); err != nil {
		return fmt.Errorf("--trusted-proxies: %w", err)
	}
	for name, n := range map[string]int{
		"max-subscriptions": s.MaxSubscriptions, "message-rate": s.MessageRate, "max-address-sockets": s.MaxAddressSockets,
		"address-rate": s.AddressRate, "max-sockets": orOne(s.MaxSockets), "max-connections": orOne(s.MaxConnections),
		"max-requests":   orOne(s.MaxRequests),
		"handshake-rate": s.HandshakeRate, "max-exports": s.MaxExports, "card-rate": s.CardRate, "max-waiting-mb": s.MaxWaitingMB,
		"max-watched-boards": s.MaxWatchedBoards,
	} {
		if n < 0 {
			return fmt.Errorf("--%s must be 0, for no limit, or more", name)
		}
	}
	return nil
}

// orOne is the value of a flag whose default depends on the system, or 1 without one.
func orOne(flag *int) int {
	if flag == nil {
		return 1
	}
	return *flag
}

// config is the configuration of the limits.
func (s *serveLimits) config() access.Config {
	limit := func(n int) int {
		if n == 0 {
			return access.Unlimited
		}
		return n
	}
	cfg := access.Config{
		Subscriptions: limit(s.MaxSubscriptions), Messages: limit(s.MessageRate),
		AddressSockets: limit(s.MaxAddressSockets), AddressRequests: limit(s.AddressRate),
		Handshakes: limit(s.HandshakeRate), Exports: limit(s.MaxExports), Cards: limit(s.CardRate), WaitingBytes: limit(s.MaxWaitingMB << 20),
	}
	if s.MaxSockets != nil {
		cfg.Sockets = limit(*s.MaxSockets)
	}
	if s.MaxRequests != nil {
		cfg.Requests = limit(*s.MaxRequests)
	}
	if s.MaxConnections != nil {
		cfg.Connections = limit(*s.MaxConnections)
	}
	return cfg
}
