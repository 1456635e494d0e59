package host

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The server answers in its own names only, however a request writes another one.
func TestHostsThatAreAllowed(t *testing.T) {
	t.Parallel()
	named := []string{"scores.example.com", "*.Games.example", "ports.example:8443", "xn--fsq.example"}
	for _, c := range []struct {
		allowed []string
		host    string
		want    bool
	}{
		{nil, "localhost", true}, {nil, "LocalHost:8080", true}, {nil, "localhost.:8080", true}, {nil, "a.b.localhost", true},
		{nil, "localhost:", true},
		{nil, "127.0.0.1", true}, {nil, "127.0.0.1:8080", true}, {nil, "127.0.0.1.", true}, {nil, "192.168.1.5:80", true},
		{nil, "0.0.0.0:8080", true},
		{nil, "[::1]", true}, {nil, "[::1]:8080", true}, {nil, "[::1]:", true}, {nil, "[2001:DB8::1]:8080", true},
		{nil, "[::ffff:127.0.0.1]:8080", true},

		{nil, "", false}, {nil, ":8080", false}, {nil, ".", false}, {nil, "..", false},
		{nil, "evil.com", false}, {nil, "evil.com:8080", false}, {nil, "EVIL.com.", false}, {nil, "mybox", false}, {nil, "localdomain", false},
		{nil, "localhost.evil.com", false}, {nil, "localhost.evil.com:8080", false}, {nil, "evil-localhost", false},
		{nil, "evillocalhost", false},
		{nil, "127.0.0.1.evil.com", false}, {nil, "127.0.0.1.evil.com:8080", false}, {nil, "evil.com.127.0.0.1x", false},
		{nil, ".localhost", false}, {nil, "a..localhost", false}, {nil, "localhost..", false}, {nil, "-.localhost", false},
		{nil, strings.Repeat("a.", 127) + "localhost", false},
		{nil, "127.1", false}, {nil, "2130706433", false}, {nil, "0x7f.0.0.1", false}, {nil, "0177.0.0.1", false}, {nil, "127.0.0.256", false},
		{nil, "::1", false}, {nil, "::1:8080", false}, {nil, "[::1", false}, {nil, "::1]", false}, {nil, "[::1]evil.com", false},
		{nil, "[::1].evil.com:80", false},
		{nil, "[evil.com]", false}, {nil, "[127.0.0.1]", false}, {nil, "[fe80::1%25eth0]", false}, {nil, "[fe80::1%eth0]", false},
		{nil, "[]", false},
		{nil, "localhost:x", false}, {nil, "localhost:0", false}, {nil, "localhost:65536", false}, {nil, "localhost:08", false},
		{nil, "localhost:80:80", false}, {nil, "localhost:-1", false},
		{nil, "evil.com:80@localhost", false}, {nil, "user@localhost", false}, {nil, "localhost@evil.com", false},
		{nil, "localhost/evil.com", false},
		{nil, "localhost,evil.com", false}, {nil, "localhost evil.com", false}, {nil, " localhost", false},
		{nil, "localhost\x00", false}, {nil, "localhost#evil.com", false},
		{nil, "example.com%2elocalhost", false}, {nil, "localhost\\.evil.com", false}, {nil, "*.localhost", false},

		{named, "localhost:8080", true}, {named, "10.0.0.1", true},
		{named, "scores.example.com", true}, {named, "Scores.Example.com:8080", true}, {named, "scores.example.com.", true},
		{named, "xn--fsq.example", true},
		{named, "example.com", false}, {named, "a.scores.example.com", false}, {named, "scores.example.com.evil.com", false},
		{named, "evil-scores.example.com", false},
		{named, "eu.games.example", true}, {named, "a.b.games.example:1", true}, {named, "EU.Games.Example.", true},
		{named, "games.example", false}, {named, ".games.example", false}, {named, "evilgames.example", false},
		{named, "games.example.evil.com", false},
		{named, "ports.example:8443", true}, {named, "ports.example", false}, {named, "ports.example:", false},
		{named, "ports.example:443", false},
	} {
		require.Equal(t, c.want, New(c.allowed, slog.Default()).Allows(c.host), "%q with --hosts %v", c.host, c.allowed)
		require.True(t, !c.want || Valid(c.host), c.host)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, valid := range []string{"scores.example.com", "Scores.Example.com", "*.example.com", "a:8443", "*.a.example:8443",
		"localhost", "10.0.0.1:80", "[::1]", "a_b.example", "xn--fsq.example"} {
		require.NoError(t, Check(valid), valid)
	}
	for text, says := range map[string]string{
		"": "is not a host", "*": "is not a host", "*.": "is not a host", "*.*.example": "is not a host",
		"a.*.example": "is not a host", "*example.com": "is not a host",
		"https://example.com": "without a scheme", "example.com/": "is not a host", "u@example.com": "is not a host",
		"a b": "is not a host", "星.example": "xn--",
		"example.com:": "is not a host", "example.com:0": "is not a host", "example.com:65536": "is not a host",
		"example.com:http": "is not a host",
		"*.127.0.0.1":      "is not a host", "*.[::1]": "is not a host", "::1": "is not a host", "a..b": "is not a host",
		".example.com": "is not a host",
	} {
		require.ErrorContains(t, Check(text), says, text)
	}
}

// The log names each refused host once, with the flag that would allow it beside the present hosts.
func TestLogNamesTheFlag(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	l := New([]string{"a.example"}, slog.New(slog.NewTextHandler(&log, nil)))
	for range 2 {
		l.LogRefusal("Real.example:8080")
	}
	require.Equal(t, 1, strings.Count(log.String(), "\n"), log.String())
	require.Contains(t, log.String(), `host=real.example:8080 flag="--hosts a.example,real.example"`)
	for _, unnamed := range []string{"", "u@x", "\xff", strings.Repeat("x.", 200)} {
		log.Reset()
		l.LogRefusal(unnamed)
		require.Contains(t, log.String(), "--hosts cannot name it")
		require.NotContains(t, log.String(), "flag=")
		require.Less(t, log.Len(), 600)
	}
}

// The list names only what --hosts names, and not what the server answers for anyway.
func TestNames(t *testing.T) {
	t.Parallel()
	l := New([]string{"scores.example.com", "*.games.example:8443"}, slog.Default())
	for host, want := range map[string]bool{
		"scores.example.com": true, "Scores.Example.com:8080": true, "eu.games.example:8443": true, "eu.games.example": false,
		"localhost": false, "127.0.0.1:8080": false, "[::1]": false, "other.example": false, "": false,
	} {
		require.Equal(t, want, l.Names(host), "%q", host)
	}
}
