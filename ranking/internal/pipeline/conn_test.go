package pipeline

import (
	"bufio"
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
	"github.com/stretchr/testify/require"
)

// pair returns a connection in memory, whose writes wait until the other end reads.
func pair(t *testing.T) (*conn, net.Conn) {
	ours, theirs := net.Pipe()
	c := newConn(time.Second, time.Second)
	require.NoError(t, c.open(ours, redis.NewClient(&redis.Options{Addr: "127.0.0.1:1",
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}})))
	t.Cleanup(func() { c.fail(errClosedEarly); theirs.Close() })
	return c, theirs
}

// begin sends a command in the background. The function it returns waits for the outcome.
func begin(ctx context.Context, c *conn, arg string) func() error {
	cmd := redis.NewCmd(ctx, arg)
	done := make(chan error, 1)
	go func() {
		call := &call{cmds: []redis.Cmder{cmd}}
		err := c.enqueue(ctx, call)
		if err == nil {
			c.wait(ctx, call)
			err = cmd.Err()
		}
		done <- err
	}()
	synctest.Wait()
	return func() error { return <-done }
}

// A command that the connection has not written yet is known not to be sent.
func TestCommandsBehindAWriteThatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, theirs := pair(t)
		first := begin(t.Context(), c, "first")
		second, third := begin(t.Context(), c, "second"), begin(t.Context(), c, "third")
		_, err := io.ReadFull(theirs, make([]byte, 5)) // a part of the first command
		require.NoError(t, err)
		start := time.Now()
		for _, outcome := range []func() error{second, third} {
			require.ErrorIs(t, outcome(), ErrNotSent)
		}
		require.NotErrorIs(t, first(), ErrNotSent)
		require.Equal(t, time.Second, time.Since(start), "the timeout of a write")
		require.ErrorIs(t, begin(t.Context(), c, "later")(), errClosedEarly)
	})
}

// Nothing has reached a socket that takes no byte.
func TestWriteThatTakesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, _ := pair(t)
		require.ErrorIs(t, begin(t.Context(), c, "first")(), ErrNotSent)
	})
}

// Commands that wait for a write go out together, in order, and the replies come to their callers.
func TestCommandsThatWaitShareAWrite(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, theirs := pair(t)
		var outcomes []func() error
		for _, arg := range []string{"1", "2", "3", "4"} {
			outcomes = append(outcomes, begin(t.Context(), c, arg))
		}
		buf := make([]byte, 1<<10)
		for _, want := range []string{"*1\r\n$1\r\n1\r\n", "*1\r\n$1\r\n2\r\n*1\r\n$1\r\n3\r\n*1\r\n$1\r\n4\r\n"} {
			n, err := theirs.Read(buf)
			require.NoError(t, err)
			require.Equal(t, want, string(buf[:n]))
		}
		theirs.Write([]byte("+1\r\n-ERR no\r\n+3\r"))
		require.NoError(t, outcomes[0]())
		require.EqualError(t, outcomes[1](), "ERR no")
		theirs.Close()
		for _, outcome := range outcomes[2:] {
			err := outcome()
			require.Error(t, err)
			require.NotErrorIs(t, err, ErrNotSent)
		}
	})
}

// Without a reply for the timeout of a read, all calls in flight end together.
func TestNoReply(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, theirs := pair(t)
		var drained sync.WaitGroup
		drained.Go(func() { io.Copy(io.Discard, theirs) })
		start := time.Now()
		var outcomes []func() error
		for range 3 {
			outcomes = append(outcomes, begin(t.Context(), c, "x"))
		}
		for _, outcome := range outcomes {
			err := outcome()
			require.Error(t, err)
			require.NotErrorIs(t, err, ErrNotSent)
		}
		require.Equal(t, time.Second, time.Since(start))
		drained.Wait()
	})
}

// A caller behind others ends with its own deadline.
func TestDeadlineOfACallThatDoesNotRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, theirs := pair(t)
		var drained sync.WaitGroup
		drained.Go(func() { io.Copy(io.Discard, theirs) })
		first := begin(t.Context(), c, "x")
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		start := time.Now()
		require.ErrorIs(t, begin(ctx, c, "x")(), context.DeadlineExceeded)
		require.Equal(t, time.Millisecond, time.Since(start))
		require.Error(t, first())
		drained.Wait()
	})
}

// A retired connection takes no more commands, and closes after the answers to those in flight.
func TestRetiredConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, theirs := pair(t)
		in := bufio.NewReader(theirs)
		var outcomes []func() error
		for range 2 {
			outcomes = append(outcomes, begin(t.Context(), c, "x"))
			for range 3 {
				_, err := in.ReadString('\n')
				require.NoError(t, err)
			}
		}
		theirs.Write([]byte("-READONLY You can't write against a read only replica.\r\n"))
		require.True(t, redis.HasErrorPrefix(outcomes[0](), "READONLY"))
		require.ErrorIs(t, begin(t.Context(), c, "later")(), errClosedEarly)
		theirs.Write([]byte("+OK\r\n"))
		require.NoError(t, outcomes[1]())
		_, err := in.ReadByte()
		require.ErrorIs(t, err, io.EOF)
	})
}
