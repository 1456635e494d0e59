package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"

	"rankcast/cmd/rankcast/internal/remote"
	"rankcast/ranking/localredis"
)

const (
	// startTime is the longest time until a process of the command answers.
	startTime = 30 * time.Second
	// stopTime is the longest time that a process of the command may take to end by itself.
	stopTime = 10 * time.Second
	// pollStep is the time between two questions to a process that starts.
	pollStep = 10 * time.Millisecond
)

// ownServer is a node and a Redis of the command: child processes, with a folder of their own.
type ownServer struct {
	program string // that serves
	dir     string
	socket  string   // of Redis
	args    []string // further arguments of the node
	redis   *child
	rdb     *redis.Client // for what the command itself asks; nil until it answers
	node    *child
}

// openOwn starts a Redis and a node of a program.
func openOwn(ctx context.Context, name, program string) (t *target, err error) {
	own := &ownServer{program: program}
	defer func() {
		if err != nil {
			err = errors.Join(err, own.close())
		}
	}()
	if own.dir, err = os.MkdirTemp("", "rankcast-bench-"); err != nil {
		return nil, err
	}
	own.socket = filepath.Join(own.dir, "redis.sock")
	if err = own.startRedis(ctx); err != nil {
		return nil, err
	}
	addr, err := own.startNode(ctx, "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	if t, err = newTarget(name, remote.Server{URL: "http://" + addr}, ""); err != nil {
		return nil, err
	}
	t.own, t.program = own, program
	return t, nil
}

func (o *ownServer) startRedis(ctx context.Context) error {
	path, err := localredis.Find(ctx)
	if err != nil {
		return fmt.Errorf("%w; or measure a running server with --url URL: without it the command measures with a Redis of its own", err)
	}
	o.redis, err = startChild(filepath.Join(o.dir, "redis.log"), path, "--port", "0", "--unixsocket", o.socket, "--dir", o.dir,
		"--save", "", "--appendonly", "no", "--daemonize", "no", "--loglevel", "warning")
	if err != nil {
		return err
	}
	return o.redis.until(ctx, func() error {
		c := o.openRedis(context.Background())
		if err := c.Ping(ctx).Err(); err != nil {
			c.Close()
			return err
		}
		o.rdb = c
		return nil
	})
}

var servingAt = regexp.MustCompile(`msg=serving page="?http://([^/]+)/`)

// startNode starts the node at an address, and waits until it is ready.
func (o *ownServer) startNode(ctx context.Context, at string) (addr string, err error) {
	// A crowd connects as fast as the work says: no limit of handshakes.
	o.node, err = startChild(filepath.Join(o.dir, "node.log"), o.program,
		append([]string{"serve", "--redis", "unix://" + o.socket, "--addr", at, "--handshake-rate", "0"}, o.args...)...)
	if err != nil {
		return "", err
	}
	err = o.node.until(ctx, func() error {
		found := servingAt.FindStringSubmatch(o.node.output())
		if found == nil {
			return errors.New("does not serve yet")
		}
		addr = found[1]
		return (&target{remote: remote.Server{URL: "http://" + addr}}).require(ctx, "GET", "/readyz")
	})
	return addr, err
}

// close ends the processes, the node first, and removes the folder.
func (o *ownServer) close() error {
	o.node.end()
	if o.rdb != nil {
		o.rdb.Close()
	}
	o.redis.end()
	if o.dir == "" {
		return nil
	}
	return os.RemoveAll(o.dir)
}

// child is a process that the command has started.
type child struct {
	cmd   *exec.Cmd
	log   string        // path of the file that gets its output
	stop  func()        // asks the process to end, and kills it after stopTime
	ended chan struct{} // closed when the process has ended
}

// startChild starts a program, whose output replaces a file. Variables for rankcast serve do not reach it.
func startChild(log, program string, args ...string) (*child, error) {
	output, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer output.Close() // the process has it open
	ctx, cancel := context.WithCancel(context.Background())
	c := &child{cmd: exec.CommandContext(ctx, program, args...), log: log, stop: cancel, ended: make(chan struct{})}
	c.cmd.Cancel = func() error { return c.cmd.Process.Signal(syscall.SIGTERM) }
	c.cmd.WaitDelay = stopTime
	c.cmd.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool { return strings.HasPrefix(variable, "RANKCAST_") })
	c.cmd.SysProcAttr = childAttributes()
	c.cmd.Stdout, c.cmd.Stderr = output, output
	if err := c.cmd.Start(); err != nil {
		cancel()
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	go func() {
		defer close(c.ended)
		c.cmd.Wait()
	}()
	return c, nil
}

// output is what the process has written.
func (c *child) output() string {
	text, err := os.ReadFile(c.log)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(text))
}

func (c *child) pid() int { return c.cmd.Process.Pid }

// until asks until the process answers.
func (c *child) until(ctx context.Context, ask func() error) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for {
		err := ask()
		if err == nil {
			return nil
		}
		select {
		case <-c.ended:
			return fmt.Errorf("%s has ended before it was ready: %s", c.cmd.Path, c.output())
		case <-ctx.Done():
			return fmt.Errorf("%s: %w; its output: %s", c.cmd.Path, err, c.output())
		case <-time.After(pollStep):
		}
	}
}

// end ends the process, and returns when it has ended.
func (c *child) end() {
	if c == nil {
		return
	}
	c.stop()
	<-c.ended
}
