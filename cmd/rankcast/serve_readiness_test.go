package main

import (
	"bytes"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
)

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
			fmt.Errorf("%w: script: %w", ranking.ErrUnavailable, c.err))
		require.True(t, strings.HasSuffix(log.String(), " level=WARN "+c.want+"\n"), log.String())
	}
}
