package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"

	"rankcast/server/access"
)

// accessText is the variable that holds the text of an access file, in place of a file. No flag does: other
// users of the machine see command lines.
const accessText = "RANKCAST_ACCESS_TEXT"

// serveAccess are the flags that say who may do what.
type serveAccess struct {
	File     string `name:"access" env:"RANKCAST_ACCESS" placeholder:"FILE" help:"Access file (YAML): the keys and tokens that the server accepts, and what each may do. The server reads it again when it changes, and on SIGHUP. RANKCAST_ACCESS_TEXT may hold its text instead. Without one anybody may do anything, so the server listens on loopback only."`
	Insecure bool   `env:"RANKCAST_INSECURE" help:"Listen on any address without an access file: anybody who reaches it may do anything."`

	text string // of accessText
}

// Validate checks the flags.
func (s *serveAccess) Validate() error {
	s.text = os.Getenv(accessText)
	switch {
	case s.File != "" && s.text != "":
		return fmt.Errorf("--access and %s cannot be used together: both are access files", accessText)
	case s.given() && s.Insecure:
		return errors.New("--insecure has no effect with an access file, which says who may do what: leave one of them out")
	}
	return nil
}

// given reports whether there is an access file.
func (s *serveAccess) given() bool { return s.File != "" || s.text != "" }

// guard reads the access file.
func (s *serveAccess) guard(log *slog.Logger) (*access.Guard, error) {
	if !s.given() {
		return access.NewOpenGuard(), nil
	}
	g, err := access.NewGuard(access.GuardConfig{File: s.File, Text: s.text, Log: log})
	if err == nil {
		return g, nil
	}
	source := accessText
	if s.File != "" {
		source = "--access " + s.File
	}
	return nil, fmt.Errorf("%s: %w", source, err)
}

// checkAddr refuses an address that other machines reach, unless the flags allow it. It leaves a host that is
// not known to Listen.
func (s *serveAccess) checkAddr(ctx context.Context, addr string) error {
	if s.given() || s.Insecure {
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
			return fmt.Errorf(`--addr %s: other machines reach this address, and without an access file anybody may do anything. There are two ways on:
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
	case s.given() && !encrypted && !isLoopback(addr):
		log.Warn("keys and tokens travel unencrypted, unless a proxy on the way terminates TLS: give --tls-cert and --tls-key, or name the proxy by --trusted-proxies", "address", addr)
	}
}

// isLoopback reports whether only this machine reaches an address.
func isLoopback(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}
