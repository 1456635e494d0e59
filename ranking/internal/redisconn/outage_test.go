package redisconn_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/internal/redisconn"
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
		want redisconn.Outage
	}{
		{"redis://" + nobody, redisconn.Outage{"Redis refuses the connection", false}},
		{"redis-cluster://" + nobody, redisconn.Outage{"Redis refuses the connection", false}},
		{"redis-sentinel://" + nobody + "/mymaster", redisconn.Outage{"Redis refuses the connection", false}},
		{"unix://" + filepath.Join(t.TempDir(), "none.sock"), redisconn.Outage{"the socket of Redis does not exist", false}},
		{"redis://host.invalid:6379", redisconn.Outage{"the host of Redis is unknown", false}},
		{"rediss" + plain[len("redis"):], redisconn.Outage{"Redis does not answer in time", false}}, // Redis waits for the end of a line
		{closes.URL(), redisconn.Outage{"Redis closes the connection: it has stopped, or wants TLS (rediss://)", false}},
		{"redis://" + hangs.Addr().String(), redisconn.Outage{"Redis does not answer in time", false}},
		{"redis-cluster" + plain[len("redis"):], redisconn.Outage{"Redis answers ERR", true}},
		{"redis-sentinel" + plain[len("redis"):] + "/mymaster", redisconn.Outage{"Redis answers ERR", true}},
		{"redis://ann:wrong-password@" + plain[len("redis://"):], redisconn.Outage{"Redis answers WRONGPASS", true}},
		{locked.URL(), redisconn.Outage{"Redis answers NOAUTH", true}},
	} {
		rdb, err := redisconn.Open(c.url)
		require.NoError(t, err)
		err = rdb.Ping(t.Context()).Err()
		require.Equal(t, c.want, redisconn.OutageOf(err), "%s: %v", c.url, err)
		rdb.Close()
	}
	plainText := &tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"}
	require.Equal(t, redisconn.Outage{"Redis speaks no TLS: use redis:// in place of rediss://", false},
		redisconn.OutageOf(fmt.Errorf("dial: %w", *plainText)))
	require.Equal(t, redisconn.Outage{}, redisconn.OutageOf(nil))
	require.Equal(t, redisconn.Outage{}, redisconn.OutageOf(errors.New("another error")))
	require.Equal(t, redisconn.Outage{"Redis does not answer in time", false},
		redisconn.OutageOf(fmt.Errorf("unavailable: %w", context.DeadlineExceeded)))
}
