package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/internal/pipeline"
	"rankcast/ranking/redistest"
)

// connect returns a client that closes with the test.
func connect(t testing.TB, url string) *pipeline.Client {
	rdb := redistest.Dial(t, url)
	return rdb.(*pipeline.Client)
}

func command(args ...any) *redis.Cmd { return redis.NewCmd(context.Background(), args...) }

// do sends one command and returns its reply.
func do(t testing.TB, c *pipeline.Client, args ...any) (any, error) {
	cmd := command(args...)
	err := c.Send(t.Context(), nil, cmd)
	require.Equal(t, err, cmd.Err())
	return cmd.Val(), err
}

func TestCommandsArriveInTheOrderOfSend(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		c := connect(t, url)
		const count = 200
		var wg sync.WaitGroup
		var want []string
		for i := range count {
			next := make(chan struct{})
			wg.Go(func() {
				err := c.Send(t.Context(), func() { close(next) }, command("rpush", "list", i), command("rpush", "list", fmt.Sprint(i, "b")))
				if err != nil {
					t.Error(err)
				}
			})
			redistest.Receive(t, "a value from next", next) // and not the reply
			want = append(want, fmt.Sprint(i), fmt.Sprint(i, "b"))
		}
		redistest.Wait(t, "the callers of the test", wg.Wait)
		got := redistest.Must(c.LRange(t.Context(), "list", 0, -1).Result())(t)
		require.Equal(t, want, got)
	})
}

func TestEachCallerGetsItsReplies(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		c := connect(t, url)
		var wg sync.WaitGroup
		for caller := range 16 {
			wg.Go(func() {
				for i := range 200 {
					text := fmt.Sprint(caller, "-", i)
					first, second := command("echo", text), command("echo", text+"b")
					if err := c.Send(t.Context(), nil, first, second); err != nil || first.Val() != text || second.Val() != text+"b" {
						t.Errorf("%s: %v, %v, %v", text, first, second, err)
						return
					}
				}
			})
		}
		redistest.Wait(t, "the callers of the test", wg.Wait)
	})
}

// Replies and errors are those that go-redis gives.
func TestRepliesEqualThoseOfTheClient(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		c := connect(t, url)
		large := strings.Repeat("large", 1<<18)
		scripts := []string{
			"return 1", "return 'text'", "return false", "return {}", "return {1, 'a', false, {2, {'b'}}}",
			"return redis.status_reply('FINE')", "return redis.error_reply('WRONG by design')", "return ARGV[1]",
			"return {ARGV[1], ARGV[1]}", "nonsense(",
		}
		var cmds []pipeline.Command
		var want []*redis.Cmd
		for _, sc := range scripts {
			cmds = append(cmds, command("eval", sc, 1, "k", large))
			plain := command("eval", sc, 1, "k", large)
			c.UniversalClient.Process(t.Context(), plain)
			want = append(want, plain)
		}
		require.ErrorContains(t, c.Send(t.Context(), nil, cmds...), "nil", "the first error")
		for i, cmd := range cmds {
			require.Equal(t, want[i].Val(), cmd.(*redis.Cmd).Val(), scripts[i])
			if want[i].Err() == nil {
				require.NoError(t, cmd.Err(), scripts[i])
				continue
			}
			require.EqualError(t, cmd.Err(), want[i].Err().Error())
			require.Equal(t, want[i].Err() == redis.Nil, cmd.Err() == redis.Nil)
			var refused redis.Error
			require.ErrorAs(t, cmd.Err(), &refused)
		}
		require.True(t, redis.HasErrorPrefix(cmds[6].Err(), "WRONG"))
	})
}

// counted is a client that counts the writes and the connections of its calls of Send.
func counted(t *testing.T, url string) (c *pipeline.Client, writes, dials *atomic.Int64) {
	c = connect(t, url)
	writes, dials = new(atomic.Int64), new(atomic.Int64)
	o := c.Unwrap().(*redis.Client).Options()
	dialer := o.Dialer
	o.Dialer = func(ctx context.Context, network, address string) (net.Conn, error) {
		dials.Add(1)
		s, err := dialer(ctx, network, address)
		return &countingConn{s, writes}, err
	}
	return c, writes, dials
}

type countingConn struct {
	net.Conn
	writes *atomic.Int64
}

func (c *countingConn) NetConn() net.Conn { return c.Conn }

func (c *countingConn) Write(b []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(b)
}

func TestCommandsOfOneSendGoOutInOneWrite(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		c, writes, dials := counted(t, url)
		redistest.Must(do(t, c, "echo", "a"))(t)
		before := writes.Load()
		require.NoError(t, c.Send(t.Context(), nil, command("set", "a", 1), command("get", "a"), command("echo", strings.Repeat("x", 100_000))))
		require.EqualValues(t, 1, writes.Load()-before)
		require.EqualValues(t, 1, dials.Load())
	})
}

// recorder is a hook that notes the commands that pass, and stops those with the argument "stop".
type recorder struct {
	name  string
	log   *[]string
	stops bool
}

var errStopped = errors.New("stopped by a hook")

func (r *recorder) DialHook(next redis.DialHook) redis.DialHook { return next }

func (r *recorder) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		*r.log = append(*r.log, r.name+" before "+cmd.Name())
		if r.stops {
			cmd.SetErr(errStopped)
			return errStopped
		}
		err := next(ctx, cmd)
		if cmd, ok := cmd.(*redis.Cmd); ok {
			*r.log = append(*r.log, fmt.Sprint(r.name, " after ", cmd.Val()))
		}
		return err
	}
}

func (r *recorder) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		*r.log = append(*r.log, fmt.Sprint(r.name, " before ", len(cmds)))
		if r.stops {
			for _, cmd := range cmds {
				cmd.SetErr(errStopped)
			}
			return errStopped
		}
		return next(ctx, cmds)
	}
}

func TestHooksSurroundEachCommand(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		c, writes, _ := counted(t, url)
		require.NoError(t, c.Ping(t.Context()).Err()) // the embedded client has its connection
		var log []string
		c.AddHook(&recorder{name: "outer", log: &log})
		c.AddHook(&recorder{name: "inner", log: &log})
		redistest.Must(do(t, c, "echo", "a"))(t)
		require.NoError(t, c.Send(t.Context(), nil, command("echo", "b"), command("echo", "c")))
		want := []string{"outer before echo", "inner before echo", "inner after a", "outer after a", "outer before 2", "inner before 2"}
		require.Equal(t, want, log)
		require.NoError(t, c.Process(t.Context(), command("echo", "a")))
		require.Equal(t, append(want, want[:4]...), log, "a command of the embedded client")

		c.AddHook(&recorder{name: "stop", log: new([]string), stops: true})
		before, told := writes.Load(), 0
		require.ErrorIs(t, redistest.ErrorOf(do(t, c, "echo", "a")), errStopped)
		require.ErrorIs(t, c.Send(t.Context(), func() { told++ }, command("echo", "a"), command("echo", "a")), errStopped)
		require.Equal(t, before, writes.Load())
		require.Zero(t, told)
	})
}

func TestWithoutAServerNothingIsSent(t *testing.T) {
	t.Parallel()
	p := redistest.StartProxy(t, "")
	c := connect(t, p.URL())
	told := 0
	first, second := command("echo", "a"), command("echo", "b")
	err := c.Send(t.Context(), func() { told++ }, first, second)
	require.ErrorIs(t, err, pipeline.ErrNotSent)
	require.ErrorIs(t, second.Err(), pipeline.ErrNotSent)
	require.Zero(t, told)
	require.ErrorIs(t, c.Send(t.Context(), nil, command("echo", 1.5)), pipeline.ErrNotSent)
	require.NoError(t, c.Send(t.Context(), nil))
}

// A connection that ends between two calls fails those that Redis may have received, and only
// these. The next call dials.
func TestConnectionEndsBetweenTwoCalls(t *testing.T) {
	t.Parallel()
	p := redistest.StartProxy(t, redistest.Start(t).URL())
	c, _, dials := counted(t, p.URL())
	p.Hold("held")
	redistest.Must(do(t, c, "rpush", "list", "first"))(t)
	var wg sync.WaitGroup
	for range 2 {
		next := make(chan struct{})
		wg.Go(func() {
			err := c.Send(t.Context(), func() { close(next) }, command("rpush", "list", "held"))
			if err == nil || errors.Is(err, pipeline.ErrNotSent) {
				t.Errorf("the outcome is not unknown: %v", err)
			}
		})
		redistest.Receive(t, "a value from next", next)
	}
	redistest.Until(t, "the command to be held", func() bool { return p.Held() > 0 })
	p.Hold()
	p.Cut()
	redistest.Wait(t, "the callers of the test", wg.Wait)
	n := redistest.Must(do(t, c, "rpush", "list", "last"))(t)
	require.EqualValues(t, 2, n, "nothing was sent again")
	require.EqualValues(t, 2, dials.Load())
}

// A call with several commands keeps the replies that came before the connection ended.
func TestRepliesBeforeTheEndAreKept(t *testing.T) {
	t.Parallel()
	l := redistest.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	c := connect(t, "redis://"+l.Addr().String())
	go func() {
		s, err := l.Accept()
		if err != nil {
			return
		}
		defer s.Close()
		buf := make([]byte, 1<<12)
		for {
			n, err := s.Read(buf)
			if err != nil {
				return
			}
			if strings.Contains(string(buf[:n]), "first") {
				s.Write([]byte("+one\r\n+tw"))
				return
			}
			for range strings.Count(string(buf[:n]), "*") {
				s.Write([]byte("-ERR unknown\r\n")) // a connection is possible without HELLO and PING
			}
		}
	}()
	first, second := command("echo", "first"), command("echo", "second")
	require.Error(t, c.Send(t.Context(), nil, first, second))
	require.NoError(t, first.Err())
	require.Equal(t, "one", first.Val())
	require.Error(t, second.Err())
	require.NotErrorIs(t, second.Err(), pipeline.ErrNotSent)
}

func TestSilentConnectionEndsWithTheDeadline(t *testing.T) {
	t.Parallel()
	p := redistest.StartProxy(t, redistest.Start(t).URL())
	c := connect(t, p.URL())
	redistest.Must(do(t, c, "rpush", "list", "first"))(t)
	p.BlackHole()
	first, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	var wg sync.WaitGroup
	for _, ctx := range []context.Context{t.Context(), first, t.Context()} {
		next := make(chan struct{})
		wg.Go(func() {
			if err := c.Send(ctx, func() { close(next) }, command("rpush", "list", "x")); !errors.Is(err, context.DeadlineExceeded) ||
				errors.Is(err, pipeline.ErrNotSent) {
				t.Errorf("not the end of the deadline: %v", err)
			}
		})
		redistest.Receive(t, "a value from next", next)
	}
	redistest.Wait(t, "the callers of the test", wg.Wait)
	p.Restore()
	n := redistest.Must(do(t, c, "rpush", "list", "last"))(t)
	require.EqualValues(t, 2, n)
}

// The timeout of the client bounds a call whose context has no end.
func TestSilentConnectionEndsWithTheTimeoutOfTheClient(t *testing.T) {
	t.Parallel()
	p := redistest.StartProxy(t, redistest.Start(t).URL())
	c := connect(t, p.URL())
	c.Unwrap().(*redis.Client).Options().ReadTimeout = 20 * time.Millisecond
	redistest.Eventually(t, "a connection", func() error { return c.Send(t.Context(), nil, command("echo", "a")) })
	p.BlackHole()
	var timeout net.Error
	require.ErrorAs(t, c.Send(context.Background(), nil, command("echo", "a")), &timeout)
	require.True(t, timeout.Timeout())
}

// A caller that gives up takes no other caller's command along.
func TestCancellationLeavesTheConnection(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		c, _, dials := counted(t, url)
		for range 20 {
			ctx, cancel := context.WithCancel(t.Context())
			require.NoError(t, c.Send(ctx, cancel, command("echo", "a")))
		}
		require.EqualValues(t, 1, dials.Load())
	})
}

// What Redis closed while no call was in flight costs no call.
func TestIdleConnectionThatRedisClosed(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	c, _, dials := counted(t, r.URL())
	for n := range 3 {
		redistest.Must(do(t, c, "echo", "a"))(t)
		require.EqualValues(t, 2*n+1, dials.Load())
		require.NoError(t, r.Admin().Do(t.Context(), "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes").Err())
		redistest.Must(do(t, c, "echo", "a"))(t)
		r.Kill()
		r.Start()
	}
}

// After READONLY the next call reaches the new primary.
func TestReadOnlyEndsTheConnection(t *testing.T) {
	t.Parallel()
	primary, replica := redistest.Start(t), redistest.Start(t)
	replica.Replicate(primary)
	p := redistest.StartProxy(t, replica.URL())
	c := connect(t, p.URL())
	_, err := do(t, c, "set", "k", "v")
	require.True(t, redis.HasErrorPrefix(err, "READONLY"), "%v", err)
	p.Redirect(primary.URL())
	redistest.Must(do(t, c, "set", "k", "v"))(t)
}

func TestConnectionIsInitialised(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	url := r.AppURL("+@all", "-ping", "~*", "&*") + "?db=3"
	c := connect(t, url)
	redistest.Must(do(t, c, "set", "k", "v"))(t)
	info := redistest.Must(do(t, c, "client", "info"))(t)
	require.Contains(t, info, "user=app")
	require.Contains(t, info, "db=3")

	wrong := connect(t, strings.Replace(url, "pw@", "wrong@", 1))
	_, err := do(t, wrong, "set", "k", "v")
	require.ErrorIs(t, err, pipeline.ErrNotSent)
	require.ErrorContains(t, err, "WRONGPASS")
}

// connections is the number of connections of a server beside that of the test.
func connections(t *testing.T, r *redistest.Redis) int {
	list := redistest.Must(r.Admin().ClientList(t.Context()).Result())(t)
	return strings.Count(list, "\n") - 1
}

func TestCloseLeavesNoConnection(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	none := func(before int) {
		redistest.UntilEqual(t, "the number of connections", before, func() int { return connections(t, r) })
	}
	before := connections(t, r)
	c := connect(t, r.URL())
	for range 2 {
		redistest.Must(do(t, c, "echo", "a"))(t)
		require.Equal(t, before+1, connections(t, r))
		c.CloseIdle()
		none(before)
	}
	redistest.Must(do(t, c, "echo", "a"))(t)
	require.NoError(t, c.Close())
	none(before)
	_, err := do(t, c, "echo", "a")
	require.ErrorIs(t, err, pipeline.ErrNotSent)
	require.ErrorIs(t, err, redis.ErrClosed)
}

// A call whose time is over sends nothing, and ends no call of another caller.
func TestExpiredCallLeavesTheConnection(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		c := connect(t, url)
		placed, answered := make(chan struct{}), make(chan error, 1)
		blocked := command("blpop", "list", 60)
		go func() { answered <- c.Send(t.Context(), func() { close(placed) }, blocked) }()
		redistest.Receive(t, "a value from placed", placed)
		expired, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
		defer cancel()
		require.ErrorIs(t, c.Send(expired, nil, command("ping")), pipeline.ErrNotSent)
		require.NoError(t, c.RPush(t.Context(), "list", "x").Err()) // on another connection
		require.NoError(t, redistest.Receive(t, "a value from answered", answered))
		require.Equal(t, []any{"list", "x"}, blocked.Val())
	})
}

// dialled notes the connections that a client dials.
type dialled struct {
	redistest.Hook
	conns chan net.Conn
}

func (d dialled) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := next(ctx, network, address)
		d.conns <- conn
		return wrapper{wrapper{conn}}, err
	}
}

// wrapper hides what a connection has beyond net.Conn, as TLS does.
type wrapper struct{ net.Conn }

func (w wrapper) NetConn() net.Conn { return w.Conn }

// A hook that dials may close a connection, as one to a master that is none any more. A call in flight fails, and the next
// one dials anew.
func TestHookClosesConnection(t *testing.T) {
	t.Parallel()
	c := connect(t, redistest.Start(t).URL())
	pass := func(ctx context.Context, cmds []redis.Cmder, send redis.ProcessPipelineHook) error {
		return send(ctx, cmds)
	}
	hook := dialled{pass, make(chan net.Conn, 9)}
	c.AddHook(hook)
	id := func() int64 {
		cmd := redis.NewCmd(t.Context(), "client", "id")
		require.NoError(t, c.Send(t.Context(), nil, cmd))
		return redistest.Must(cmd.Int64())(t)
	}
	before := id()
	require.Equal(t, before, id())
	redistest.Receive(t, "the connection", hook.conns).Close()
	next := id()
	require.NotEqual(t, before, next)
	placed, answered := make(chan struct{}), make(chan error, 1)
	go func() { answered <- c.Send(t.Context(), func() { close(placed) }, command("blpop", "list", 60)) }()
	redistest.Receive(t, "a value from placed", placed)
	redistest.Receive(t, "the connection", hook.conns).Close()
	err := redistest.Receive(t, "an error", answered)
	require.ErrorContains(t, err, "another Redis has become the master")
	require.NotErrorIs(t, err, pipeline.ErrNotSent)
	require.NotEqual(t, next, id())
}
