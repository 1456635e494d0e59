package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/internal/accessfile"
	"rankcast/cmd/rankcast/internal/remote"
	"rankcast/ranking/definition"
	"rankcast/server/access"
)

// The command that the log shows runs as it is pasted.
func TestFirstScore(t *testing.T) {
	t.Parallel()
	page := (&serve{}).pageURL(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080})
	boards := []definition.Board{{Name: "b"}}
	for program, want := range map[string]string{
		"bin/rankcast":        "bin/rankcast send b ana 40",
		"/opt/my $app/x;rm y": "rankcast send b ana 40",
	} {
		require.Equal(t, want, firstScore(program, page, boards))
	}
	idols := []definition.Board{{Name: "idols", Kind: "idol"}}
	require.Equal(t, "bin/rankcast send idols idol-1 40", firstScore("bin/rankcast", page, idols))
}

func TestLogNamesAFewBoards(t *testing.T) {
	t.Parallel()
	var boards []definition.Board
	for i := range maxBoardNames {
		boards = append(boards, definition.Board{Name: fmt.Sprint("b", i)})
	}
	require.Equal(t, "b0 b1 b2 b3 b4 b5 b6 b7 b8 b9", boardNames(boards))
	require.Equal(t, "b0 b1 b2 b3 b4 b5 b6 b7 b8 b9 and 2 more", boardNames(append(boards, boards[:2]...)))
}

// Without an access file no other machine can reach the server, unless --insecure allows it.
func TestAddressesThatNeedAccess(t *testing.T) {
	t.Parallel()
	for addr, refused := range map[string]bool{
		":0": true, "0.0.0.0:0": true, "[::]:0": true, "192.0.2.1:0": true, "[2001:db8::1]:0": true, "[::ffff:192.0.2.1]:0": true,
		"[fe80::1%lo]:0": true,
		"127.0.0.1:0":    false, "127.0.0.2:0": false, "localhost:0": false, "[::1]:0": false, "[::ffff:127.0.0.1]:0": false,
	} {
		at, err := net.ResolveTCPAddr("tcp", addr)
		require.NoError(t, err)
		err = (&serveAccess{}).check(addr, at)
		require.Equal(t, refused, err != nil, "%s: %v", addr, err)
		require.NoError(t, (&serveAccess{Insecure: true}).check(addr, at))
		require.NoError(t, (&serveAccess{Flag: accessfile.Flag{File: "access.yaml"}}).check(addr, at))
	}
}

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

// An attribute has the same text in both forms of the log: a duration has its unit, and an address is host and port.
func TestBothFormsOfTheLogHaveTheSameText(t *testing.T) {
	t.Parallel()
	about := []any{
		"admin", net.Addr(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8082}), "after", 261 * time.Millisecond,
		"error", &net.OpError{Op: "dial", Err: errors.New("refused")},
	}
	var text, object bytes.Buffer
	(&serveLog{Format: "text", Level: "info"}).logger(&text).Info("m", about...)
	(&serveLog{Format: jsonFormat, Level: "info"}).logger(&object).Info("m", about...)
	require.Contains(t, text.String(), ` level=INFO msg=m admin=127.0.0.1:8082 after=261ms error="dial: refused"`)
	var line map[string]any
	require.NoError(t, json.Unmarshal(object.Bytes(), &line))
	_, err := time.Parse(time.RFC3339Nano, line["time"].(string))
	require.NoError(t, err)
	delete(line, "time")
	require.Equal(t, map[string]any{"level": "INFO", "msg": "m", "admin": "127.0.0.1:8082", "after": "261ms", "error": "dial: refused"}, line)
}

// redisError is an answer of Redis.
type redisError string

func (e redisError) Error() string { return string(e) }
func (redisError) RedisError()     {}

// The log tells a Redis that does not answer from one that refuses the node, and names the next step.
func TestLogOfAnOutage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want string
	}{
		{&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED},
			`msg="Redis does not answer; this node is ready when it does" reason="dial: connection refused"`},
		{redisError("WRONGPASS invalid"), `msg="Redis answers WRONGPASS; this node is ready once that has changed" reason="WRONGPASS invalid"`},
		{redisError("ERR This instance has cluster support disabled"),
			`msg="Redis answers ERR; this node is ready once that has changed" reason="ERR This instance has cluster support disabled"`},
	} {
		var log bytes.Buffer
		logOutage((&serveLog{Format: "text", Level: "info"}).logger(&log), "node is ready",
			fmt.Errorf("%w: script: %w", definition.ErrUnavailable, c.err))
		require.True(t, strings.HasSuffix(log.String(), " level=WARN "+c.want+"\n"), log.String())
	}
}
