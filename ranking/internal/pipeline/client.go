// Package pipeline sends commands of many callers over one connection to each Redis node.
//
// [Client.Send] appends its commands to the output of the connection, so commands reach Redis in
// the order of the calls of Send. The replies come back in the same order. A connection has no
// goroutine of its own. The caller whose reply is next reads from the socket, and then passes
// this role on to the caller behind it. A caller writes its own commands, unless another caller
// is writing; then the waiting commands of all callers go out in one further write. So a lone
// call costs one write and one read, and no switch of goroutines.
//
// go-redis dials and initialises each connection (TLS, AUTH, SELECT, Sentinel). Afterwards the
// package speaks RESP2 on the socket itself, because the pool of go-redis cannot have the calls
// of two callers in flight on one connection.
//
// A connection that fails ends all calls in flight on it. Each of them learns whether its
// commands may have reached Redis. The package never sends a command twice, except that a
// cluster client follows a redirect: Redis has not carried out a command that it redirects.
package pipeline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
)

// ErrNotSent reports that Redis has not received the command, or that a cluster has not carried it out.
var ErrNotSent = errors.New("the command was not sent to Redis")

// Command is a command that Send carries out. *redis.Cmd is one. Its arguments are of the types
// string, []byte, int and int64. Its first key is the fourth argument of EVAL and EVALSHA, and
// the second of other commands.
type Command interface {
	redis.Cmder
	SetVal(any) // stores the reply: nil, a string, an int64, a redis.Error or a []any of these
}

// Client is a Redis client with the additional method Send. All other commands go the way of the
// client that New was given. All methods may be called concurrently.
type Client struct {
	redis.UniversalClient

	mu    sync.Mutex // guards the writing of hooks, and nodes
	hooks atomic.Pointer[[]redis.Hook]
	nodes map[string]*node // by address
}

// New returns a Client that sends by rdb, which is a *redis.Client or a *redis.ClusterClient. New
// sends nothing. Hooks that rdb has already do not see the commands of Send.
func New(rdb redis.UniversalClient) *Client {
	return &Client{UniversalClient: rdb, nodes: make(map[string]*node)}
}

// Unwrap returns the client that New was given.
func (c *Client) Unwrap() redis.UniversalClient { return c.UniversalClient }

// ClusterOf returns the cluster client that rdb is or sends by, or nil for any other client.
func ClusterOf(rdb redis.UniversalClient) *redis.ClusterClient {
	if c, ok := rdb.(*Client); ok {
		rdb = c.UniversalClient
	}
	cluster, _ := rdb.(*redis.ClusterClient)
	return cluster
}

// AddHook adds a hook to all commands and connections. The first hook is the outermost one. A single
// command of Send runs through ProcessHook, several run through ProcessPipelineHook.
func (c *Client) AddHook(h redis.Hook) {
	c.mu.Lock()
	defer c.mu.Unlock()
	hooks := append(slices.Clone(c.allHooks()), h)
	c.hooks.Store(&hooks)
	c.UniversalClient.AddHook(h)
}

func (c *Client) allHooks() []redis.Hook {
	if hooks := c.hooks.Load(); hooks != nil {
		return *hooks
	}
	return nil
}

// Send sends the commands together, waits for their replies, and stores a value or an error in
// each command. It returns the first of these errors. An error of Redis is a redis.Error, and a
// nil reply is redis.Nil. The error wraps ErrNotSent when Redis has not received the command, or a cluster
// has refused it for now. Any other error means that Redis may have carried the command out.
//
// Send calls sent once, unless sent is nil: when the commands have their place behind those of
// earlier calls. A call of Send that starts after that sends its commands to the same node later.
// Send does not call sent when it sends no command, as without a connection.
//
// The deadline of ctx, and the ReadTimeout and WriteTimeout of the client, bound the call. When
// one of them passes, Send closes the connection, and all calls in flight on it fail. So ctx
// needs a deadline that is long for Redis. After the commands have their place, Send does not
// observe a cancellation of ctx, because others share the connection.
func (c *Client) Send(ctx context.Context, sent func(), cmds ...Command) error {
	if len(cmds) == 0 {
		return nil
	}
	hooks := c.allHooks()
	if len(cmds) == 1 {
		process := func(ctx context.Context, cmd redis.Cmder) error {
			return c.send(ctx, sent, []redis.Cmder{cmd})
		}
		for _, h := range slices.Backward(hooks) {
			if wrapped := h.ProcessHook(process); wrapped != nil {
				process = wrapped
			}
		}
		return process(ctx, cmds[0])
	}
	all := make([]redis.Cmder, len(cmds))
	for i, cmd := range cmds {
		all[i] = cmd
	}
	process := func(ctx context.Context, cmds []redis.Cmder) error { return c.send(ctx, sent, cmds) }
	for _, h := range slices.Backward(hooks) {
		if wrapped := h.ProcessPipelineHook(process); wrapped != nil {
			process = wrapped
		}
	}
	return process(ctx, all)
}

// CloseIdle closes the connections that have no command in flight. The next Send dials anew.
func (c *Client) CloseIdle() {
	c.mu.Lock()
	nodes := slices.Collect(maps.Values(c.nodes))
	c.mu.Unlock()
	for _, n := range nodes {
		n.closeIdle()
	}
}

// Close closes the connections, without waiting for the commands in flight, and then the client
// that New was given.
func (c *Client) Close() error {
	c.mu.Lock()
	nodes := c.nodes
	c.nodes = nil
	c.mu.Unlock()
	for _, n := range nodes {
		n.close()
	}
	return c.UniversalClient.Close()
}

// part holds the commands of one Send for one node.
type part struct {
	node *node
	conn *conn
	call *call
	err  error // the commands are not sent
}

// send is Send within the hooks.
func (c *Client) send(ctx context.Context, sent func(), cmds []redis.Cmder) error {
	if err := ctx.Err(); err != nil { // its deadline would close the connection of all callers
		for _, cmd := range cmds {
			cmd.SetErr(fmt.Errorf("%w: %w", ErrNotSent, err))
		}
		return cmds[0].Err()
	}
	var few [1]part
	parts := few[:0]
	cluster := ClusterOf(c)
	if cluster == nil {
		n, err := c.nodeOf(ctx, cmds[0])
		parts = append(parts, part{node: n, call: &call{cmds: cmds}, err: err})
	} else {
		for _, cmd := range cmds {
			n, err := c.nodeOf(ctx, cmd)
			i := slices.IndexFunc(parts, func(p part) bool { return p.err == nil && p.node == n })
			if err != nil || i < 0 {
				parts = append(parts, part{node: n, call: &call{}, err: err})
				i = len(parts) - 1
			}
			parts[i].call.cmds = append(parts[i].call.cmds, cmd)
		}
	}
	placed := false
	for i := range parts {
		p := &parts[i]
		if p.err == nil {
			p.conn, p.err = p.node.enqueue(ctx, p.call)
		}
		placed = placed || p.err == nil
	}
	if placed && sent != nil {
		sent()
	}
	var others sync.WaitGroup
	for i := 1; i < len(parts); i++ { // a node that does not answer delays no other node
		others.Go(func() { parts[i].wait(ctx) })
	}
	parts[0].wait(ctx)
	others.Wait()

	if cluster != nil {
		for _, cmd := range cmds {
			if IsRedirect(cmd.Err()) {
				cmd.SetErr(nil)
				if err := cluster.Process(ctx, cmd); IsRedirect(err) {
					cmd.SetErr(fmt.Errorf("%w: %w", ErrNotSent, err))
				}
			}
		}
	}
	for _, cmd := range cmds {
		if err := cmd.Err(); err != nil {
			return err
		}
	}
	return nil
}

// wait returns when each command of the part has a value or an error.
func (p *part) wait(ctx context.Context) {
	if p.err == nil {
		p.conn.wait(ctx, p.call)
		return
	}
	for _, cmd := range p.call.cmds {
		cmd.SetErr(fmt.Errorf("%w: %w", ErrNotSent, p.err))
	}
}

// IsRedirect reports whether a node of a cluster has refused a command for now, or in favour of
// another node. The node has not carried it out. READONLY means that the node is the primary of
// its slots no more.
func IsRedirect(err error) bool {
	for _, prefix := range []string{"MOVED ", "ASK ", "TRYAGAIN", "CLUSTERDOWN", "READONLY"} {
		if redis.HasErrorPrefix(err, prefix) {
			return true
		}
	}
	return false
}

// nodeOf returns the node that holds the first key of a command.
func (c *Client) nodeOf(ctx context.Context, cmd redis.Cmder) (*node, error) {
	var rdb *redis.Client
	switch client := c.UniversalClient.(type) {
	case *redis.Client:
		rdb = client
	case *redis.ClusterClient:
		key, err := firstKey(cmd.Args())
		if err != nil {
			return nil, err
		}
		if rdb, err = client.MasterForKey(ctx, key); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("a client of type %T is not supported", client)
	}
	address := rdb.Options().Addr
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.nodes == nil {
		return nil, redis.ErrClosed
	}
	n := c.nodes[address]
	if n == nil {
		n = &node{client: c}
		c.nodes[address] = n
	}
	n.use(rdb)
	return n, nil
}

// firstKey returns the first key of a command.
func firstKey(args []any) (string, error) {
	at := 1
	if name, _ := args[0].(string); name == "eval" || name == "evalsha" {
		at = 3
	}
	if at < len(args) {
		if key, ok := args[at].(string); ok {
			return key, nil
		}
	}
	return "", fmt.Errorf("command %v has no key", args[0])
}
