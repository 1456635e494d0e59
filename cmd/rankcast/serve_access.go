package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"

	"rankcast/cmd/rankcast/internal/accessfile"
)

// serveAccess are the flags that say who may do what.
type serveAccess struct {
	accessfile.Flag

	Insecure bool `env:"RANKCAST_INSECURE" help:"Listen on any address without an access file: anybody who reaches it may do anything."`
}

// Validate checks the flags.
func (s *serveAccess) Validate() error {
	if err := s.Flag.Validate(); err != nil {
		return err
	}
	if s.Given() && s.Insecure {
		return errors.New("--insecure has no effect with an access file, which says who may do what: leave one of them out")
	}
	return nil
}

// checkAddr refuses an address that other machines reach, unless the flags allow it. It leaves a host that is
// not known to Listen.
func (s *serveAccess) checkAddr(ctx context.Context, addr string) error {
	if s.Given() || s.Insecure {
		return nil
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return s.checkIPs(addr, ip)
	}
	if host == "" {
		return s.checkIPs(addr, netip.IPv6Unspecified())
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil
	}
	return s.checkIPs(addr, ips...)
}

func (s *serveAccess) checkIPs(addr string, ips ...netip.Addr) error {
	for _, ip := range ips {
		if !ip.Unmap().IsLoopback() {
			return fmt.Errorf(`--addr %s: other machines reach this address, and without an access file anybody may do anything.
There are two ways on:
--access FILE: the file says who may do what (rankcast key new makes a key for it)
--insecure: anybody who reaches the server may do anything`, addr)
		}
	}
	return nil
}

// warn logs a warning for flags that are unsafe. encrypted reports whether TLS may protect the way to the server.
func (s *serveAccess) warn(log *slog.Logger, addr net.Addr, encrypted bool) {
	switch {
	case s.Insecure:
		log.Warn("--insecure: anybody who reaches this server may do anything", "address", addr)
	case s.Given() && !encrypted && !isLoopback(addr):
		log.Warn("keys and tokens travel unencrypted, unless a proxy on the way terminates TLS: give --tls-cert and --tls-key, "+
			"or name the proxy by --trusted-proxies", "address", addr)
	}
}

// isLoopback reports whether only this machine reaches an address.
func isLoopback(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}
