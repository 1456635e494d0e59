package redisconn

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
)

// An operator learns why a node does not reach Redis. The words hold nothing of the URL, because anybody may see them.
func TestReasonsOfAnOutage(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	plain := redistest.StartProxy(t, r.URL()).URL() // by TCP
	locked := redistest.Start(t)
	require.NoError(t, locked.Admin().ConfigSet(t.Context(), "requirepass", "secret-of-redis").Err())
	closes := redistest.StartProxy(t, "")
	nobody := fmt.Sprintf("127.0.0.1:%d", redistest.FreePort(t))
	hangs, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer hangs.Close()
	for _, c := range []struct {
		url  string
		want Outage
	}{
		{"redis://" + nobody, Outage{"Redis refuses the connection", false}},
		{"redis-cluster://" + nobody, Outage{"Redis refuses the connection", false}},
		{"redis-sentinel://" + nobody + "/mymaster", Outage{"Redis refuses the connection", false}},
		{"unix://" + filepath.Join(t.TempDir(), "none.sock"), Outage{"the socket of Redis does not exist", false}},
		{"redis://host.invalid:6379", Outage{"the host of Redis is unknown", false}},
		{"rediss" + plain[len("redis"):], Outage{"Redis does not answer in time", false}}, // Redis waits for the end of a line
		{closes.URL(), Outage{"Redis closes the connection: it has stopped, or wants TLS (rediss://)", false}},
		{"redis://" + hangs.Addr().String(), Outage{"Redis does not answer in time", false}},
		{"redis-cluster" + plain[len("redis"):], Outage{"Redis answers ERR", true}},
		{"redis-sentinel" + plain[len("redis"):] + "/mymaster", Outage{"Redis answers ERR", true}},
		{"redis://ann:wrong-password@" + plain[len("redis://"):], Outage{"Redis answers WRONGPASS", true}},
		{locked.URL(), Outage{"Redis answers NOAUTH", true}},
	} {
		rdb, err := Open(c.url)
		require.NoError(t, err)
		err = rdb.Ping(t.Context()).Err()
		require.Equal(t, c.want, OutageOf(err), "%s: %v", c.url, err)
		rdb.Close()
	}
	plainText := &tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"}
	require.Equal(t, Outage{"Redis speaks no TLS: use redis:// in place of rediss://", false}, OutageOf(fmt.Errorf("dial: %w", *plainText)))
	require.Equal(t, Outage{}, OutageOf(nil))
	require.Equal(t, Outage{}, OutageOf(errors.New("another error")))
	require.Equal(t, Outage{"Redis does not answer in time", false}, OutageOf(fmt.Errorf("unavailable: %w", context.DeadlineExceeded)))
}
