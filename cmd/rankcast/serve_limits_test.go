package main

import (
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/internal/remote"
	"rankcast/server/access"
)

func parseServe(t *testing.T, args ...string) (*serve, error) {
	var c commands
	_, err := kong.Must(&c, kong.Vars{"version": "", "addr": remote.DefaultAddr}).Parse(append([]string{"serve"}, args...))
	return &c.Serve, err
}

// The defaults of the flags are those of the package, and 0 turns a limit off.
func TestFlagsOfLimits(t *testing.T) {
	t.Parallel()
	s, err := parseServe(t)
	require.NoError(t, err)
	require.Equal(t, access.Config{Subscriptions: 100, Messages: 100, AddressSockets: 10_000, AddressRequests: 5000,
		Handshakes: 2000, Exports: 50, Cards: 20, WaitingBytes: 256 << 20}, s.Limits.config())
	require.Empty(t, s.Limits.proxies)
	require.Equal(t, 100_000, s.Limits.MaxWatchedBoards)

	s, err = parseServe(t, "--max-subscriptions=0", "--message-rate=0", "--max-address-sockets=0", "--address-rate=0",
		"--max-sockets=0", "--handshake-rate=0", "--max-exports=0", "--card-rate=0", "--max-connections=0", "--max-requests=0",
		"--max-waiting-mb=0", "--trusted-proxies=10.0.0.5,loopback")
	require.NoError(t, err)
	const none = access.Unlimited
	require.Equal(t, access.Config{Subscriptions: none, Messages: none, AddressSockets: none, AddressRequests: none, Sockets: none,
		Handshakes: none, Exports: none, Cards: none, WaitingBytes: none, Connections: none, Requests: none}, s.Limits.config())
	require.Len(t, s.Limits.proxies, 3)

	s, err = parseServe(t, "--max-sockets=7")
	require.NoError(t, err)
	require.Equal(t, 7, s.Limits.config().Sockets)

	for _, wrong := range []string{"--max-subscriptions=-1", "--message-rate=-1", "--max-address-sockets=-1", "--address-rate=-1",
		"--max-sockets=-1", "--handshake-rate=-1", "--max-exports=-1", "--card-rate=-1", "--max-connections=-1", "--max-requests=-1",
		"--max-waiting-mb=-1", "--max-watched-boards=-1", "--trusted-proxies=nginx"} {
		_, err = parseServe(t, wrong)
		flag, _, _ := strings.Cut(wrong, "=")
		require.ErrorContains(t, err, flag)
	}
}
