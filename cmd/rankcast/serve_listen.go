package main

import (
	"errors"
	"fmt"
	"math"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"rankcast/cmd/rankcast/internal/remote"
	"rankcast/ranking/definition"
)

// listen opens the listener of --addr. It closes one that other machines reach, before it takes a connection, unless the
// flags of access allow it.
func (s *serve) listen() (net.Listener, error) {
	l, err := listenAt("--addr", s.Addr)
	if err != nil {
		return nil, err
	}
	if err := s.Access.check(s.Addr, l.Addr()); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// checkAddr refuses an address of a flag that is no host and port.
func checkAddr(flag, addr string) error {
	host, port, err := net.SplitHostPort(addr)
	if err == nil && !strings.Contains(host, "/") {
		if _, err = net.LookupPort("tcp", port); err == nil {
			return nil
		}
	}
	example := remote.DefaultAddr
	if _, err := strconv.ParseUint(addr, 10, 16); err == nil {
		example = net.JoinHostPort("127.0.0.1", addr)
	}
	return fmt.Errorf("%s: is %q; want HOST:PORT, such as %s", flag, addr, example)
}

// listenAt opens a listener at the address of a flag. For an address that is in use the error says how to choose another one.
func listenAt(flag, addr string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	if err == nil {
		return l, nil
	}
	host, port, splitErr := net.SplitHostPort(addr)
	n, portErr := strconv.ParseUint(port, 10, 16)
	if !errors.Is(err, syscall.EADDRINUSE) || splitErr != nil || portErr != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	other := n + 1
	if n == math.MaxUint16 {
		other = n - 1
	}
	return nil, fmt.Errorf("%s: %w\nanother listener uses this port; to choose another one: %s %s", flag, err, flag,
		net.JoinHostPort(host, strconv.FormatUint(other, 10)))
}

// plainPath is a path that a shell reads as it is.
var plainPath = regexp.MustCompile(`^[A-Za-z0-9_./-]+$`)

// firstScore is the command that sends a score to one of the boards of this node: to points, or
// else to the first board that takes any score, under its own name, at any time. The member is ana, or on a board of
// another kind than players one that shows what the board ranks, such as idol-1. program is the path of
// this program, page the URL of the front page.
func firstScore(program, page string, boards []definition.Board) string {
	if !plainPath.MatchString(program) {
		program = "rankcast"
	}
	board, member := "", "ana"
	for _, d := range boards {
		isBounded := d.Min != nil || d.Max != nil || d.MaxChange != 0 || !d.Starts.IsZero() || !d.Ends.IsZero()
		takes := d.Union == nil && !strings.Contains(d.Name, ":") && !isBounded
		if takes && (board == "" || d.Name == "points") {
			board, member = d.Name, "ana"
			if !slices.Contains([]string{"", "member", "player", "user"}, d.Kind) {
				member = d.Kind + "-1"
			}
		}
	}
	if board == "" {
		return program + " send --help"
	}
	command := fmt.Sprintf("%s send %s %s 40", program, board, member)
	if server := strings.TrimSuffix(page, "/"); server != "http://"+remote.DefaultAddr {
		command += " --server " + server
	}
	return command
}

// pageURL is the URL of the front page, for a browser on this machine.
func (s *serve) pageURL(addr net.Addr) string {
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return addr.String()
	}
	if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	scheme := "http://"
	if s.TLS.given() {
		scheme = "https://"
	}
	return scheme + net.JoinHostPort(host, port) + "/"
}
