package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net"

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

// check refuses a listener that other machines reach, unless the flags allow it. addr is its address in the flag.
func (s *serveAccess) check(addr string, at net.Addr) error {
	if s.Given() || s.Insecure || isLoopback(at) {
		return nil
	}
	return fmt.Errorf(`--addr %s: other machines reach this address, and without an access file anybody may do anything.
There are two ways on:
--access FILE: the file says who may do what (rankcast key new makes a key for it)
--insecure: anybody who reaches the server may do anything`, addr)
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
