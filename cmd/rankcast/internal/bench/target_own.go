package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"

	"rankcast/cmd/rankcast/internal/remote"
	"rankcast/ranking/localredis"
	"rankcast/server/client"
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
	at := remote.Server{URL: "http://" + addr}
	c, err := client.New(at.URL, client.Config{})
	if err != nil {
		return nil, err
	}
	return &target{name: name, remote: at, client: c, own: own, prefix: "bench", addr: addr, host: addr}, nil
}

func (o *ownServer) startRedis(ctx context.Context) error {
	path, err := localredis.Find()
	if err != nil {
		return fmt.Errorf("%w; or measure a running server with --url URL: without it the command measures with a Redis of its own", err)
	}
	o.redis, err = startChild(path, "--port", "0", "--unixsocket", o.socket, "--dir", o.dir, "--save", "", "--appendonly", "no",
		"--daemonize", "no", "--loglevel", "warning")
	if err != nil {
		return err
	}
	return o.redis.until(ctx, func() error {
		c := o.openRedis(ctx)
		defer c.Close()
		return c.Ping(ctx).Err()
	})
}

var servingAt = regexp.MustCompile(`msg=serving page="?http://([^/]+)/`)

// startNode starts the node at an address, and waits until it is ready.
func (o *ownServer) startNode(ctx context.Context, at string) (addr string, err error) {
	// A crowd connects as fast as the work says: no limit of handshakes.
	o.node, err = startChild(o.program,
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
		return (&target{addr: addr, host: addr}).do(ctx, "GET", "/readyz", "")
	})
	return addr, err
}

// close ends the processes, the node first, and removes the folder.
func (o *ownServer) close() error {
	o.node.end()
	o.redis.end()
	if o.dir == "" {
		return nil
	}
	return os.RemoveAll(o.dir)
}

// child is a process that the command has started.
type child struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when the process has ended

	mu  sync.Mutex
	log []string // the last lines of its output
}

// maxLog is the number of lines of output that a child keeps.
const maxLog = 50

// startChild starts a program. Variables for rankcast serve do not reach it.
func startChild(program string, args ...string) (*child, error) {
	c := &child{cmd: exec.Command(program, args...), ended: make(chan struct{})}
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "RANKCAST_") {
			c.cmd.Env = append(c.cmd.Env, variable)
		}
	}
	c.cmd.SysProcAttr = childAttributes()
	out, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	c.cmd.Stdout, c.cmd.Stderr = in, in
	err = c.cmd.Start()
	in.Close()
	if err != nil {
		out.Close()
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	go func() {
		defer close(c.ended)
		defer out.Close()
		c.keep(out)
		c.cmd.Wait()
	}()
	return c, nil
}

// keep keeps the output of the process until it ends.
func (c *child) keep(out io.Reader) {
	for lines := bufio.NewScanner(out); lines.Scan(); {
		c.mu.Lock()
		c.log = append(c.log, lines.Text())
		if len(c.log) > maxLog {
			c.log = c.log[1:]
		}
		c.mu.Unlock()
	}
	io.Copy(io.Discard, out) // after a line that is too long
}

func (c *child) output() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.log, "\n")
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
	c.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-c.ended:
	case <-time.After(stopTime):
		c.cmd.Process.Kill()
		<-c.ended
	}
}
