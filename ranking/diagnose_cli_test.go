package ranking

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/internal/pipeline"
)

// endpointAt returns the endpoint of a URL.
func endpointAt(t *testing.T, url string) endpoint {
	rdb, err := Open(url)
	require.NoError(t, err)
	t.Cleanup(func() { rdb.Close() })
	return endpointOf(rdb.(*pipeline.Client))
}

// A fix calls redis-cli for the server that the finding concerns, and shows no password.
func TestCallOfRedisCLI(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"redis://app:secret@127.0.0.1:7000/3":       "redis-cli -u redis://127.0.0.1:7000",
		"redis://scores.example":                    "redis-cli -u redis://scores.example:6379",
		"rediss://scores.example:7000":              "redis-cli -u rediss://scores.example:7000",
		"unix://app:secret@/run/redis.sock?db=3":    "redis-cli -s /run/redis.sock",
		"redis-sentinel://app:secret@a,b/mymaster":  "redis-cli -u redis://HOST:PORT",
		"redis-cluster://app:secret@127.0.0.1:7000": "redis-cli -u redis://HOST:PORT",
		"rediss-cluster://127.0.0.1:7000":           "redis-cli -u rediss://HOST:PORT",
	} {
		require.Equal(t, want, endpointAt(t, url).cli(""), url)
	}
	require.Equal(t, "redis-cli -u redis://b:7001", endpointAt(t, "redis-cluster://a:7000").cli("b:7001"), "a master")
}

// A connection that came about and then failed may be for want of TLS, or for TLS. The fix names the other scheme.
func TestFixNamesTLS(t *testing.T) {
	t.Parallel()
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	late := &net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded}
	const without, with = "if this port speaks no TLS, use ", "if this port speaks TLS, use "
	for _, c := range []struct {
		url  string
		err  error
		hint string
	}{
		{"rediss://a", context.DeadlineExceeded, without + "redis:// in place of rediss://"},
		{"rediss://a", tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"}, without + "redis:// in place of rediss://"},
		{"rediss-cluster://a", io.EOF, without + "redis-cluster:// in place of rediss-cluster://"},
		{"redis://a", io.EOF, with + "rediss:// in place of redis://"},
		{"redis://a", &net.OpError{Op: "read", Err: syscall.ECONNRESET}, with + "rediss:// in place of redis://"},
		{"redis-sentinel://a/m", io.EOF, with + "rediss-sentinel:// in place of redis-sentinel://"},
		{"redis://a", refused, ""},
		{"rediss://a", refused, ""},
		{"redis://a", context.DeadlineExceeded, ""},
		{"redis://a", late, ""},
		{"unix:///run/redis.sock", io.EOF, ""},
	} {
		f := endpointAt(t, c.url).noAnswer("", c.err)
		require.Contains(t, f.Found, "does not answer: ")
		want := "start Redis, or correct the address in --redis"
		if c.hint != "" {
			want += "; " + c.hint
		}
		require.Equal(t, want, f.Fix, "%s: %v", c.url, c.err)
	}
}
