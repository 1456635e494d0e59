package feed

import (
	"context"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"rankcast/ranking/internal/pipeline"
)

// masterConn is a connection to one master.
type masterConn struct {
	of       *masters
	address  string
	channels *channels
	stop     context.CancelFunc

	// feed.handling guards it.
	unanswered []channelCommand // commands without an answer, oldest first
}

// channelCommand is an SSUBSCRIBE or an SUNSUBSCRIBE of one channel. Redis answers each by a message that names the
// channel or by an error that does not, in the order of the commands.
type channelCommand struct {
	channel string
	leaves  bool // SUNSUBSCRIBE
}

// run serves the connection until it fails or ctx ends.
func (c *masterConn) run(ctx context.Context, h Handler, master *redis.Client) {
	f, m := c.of.feed, c.of
	ps := master.SSubscribe(ctx)
	s := newSession(ps, c.channels, f.interval)
	s.subscribe = func(ctx context.Context, names ...string) error { return c.send(ctx, ps.SSubscribe, false, names) }
	s.unsubscribe = func(ctx context.Context, names ...string) error { return c.send(ctx, ps.SUnsubscribe, true, names) }
	s.probe = func(ctx context.Context) error { return ps.Ping(ctx) }
	s.handle = func(msg any) error { c.handle(h, msg); return nil }
	s.refused = func(err redis.Error) error { return c.refused(h, err) }
	s.start()
	err := s.run(ctx, func(context.Context) error { return nil })
	if ctx.Err() == nil {
		m.cluster.ReloadState(ctx)
		m.warnings.Do(func() {
			f.log.Warn("the subscription to a master has failed; the node connects again", "master", c.address, "error", err)
		})
	}
	m.giveBack(givenBack{ended: c, asOf: s.asOf()})
}

// send sends one command for each channel: Redis refuses a command for channels of several slots.
func (c *masterConn) send(ctx context.Context, command func(ctx context.Context, channels ...string) error, leaves bool,
	names []string) error {
	for _, name := range names {
		c.of.feed.call(func() { c.unanswered = append(c.unanswered, channelCommand{name, leaves}) })
		if err := command(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// handle handles one message from Redis.
func (c *masterConn) handle(h Handler, msg any) {
	f := c.of.feed
	switch msg := msg.(type) {
	case *redis.Subscription:
		f.call(func() {
			if msg.Kind == "ssubscribe" {
				c.confirm(h, msg.Channel)
			} else {
				c.left(h, msg.Channel)
			}
		})
	case *redis.Message:
		f.deliver(h, msg)
	}
}

// confirm handles the answer to an SSUBSCRIBE. The caller is within feed.call.
func (c *masterConn) confirm(h Handler, name string) {
	m := c.of
	if i := slices.Index(c.unanswered, channelCommand{name, false}); i >= 0 {
		c.dropAnswered(i + 1) // Redis has answered the commands before it, too
	}
	if m.routes[name] == c { // otherwise the connection is leaving the channel
		delete(m.lost, name)
		m.feed.confirm(h, name)
	}
}

// dropAnswered removes the first n commands from unanswered. The caller is within feed.call.
func (c *masterConn) dropAnswered(n int) {
	if c.unanswered = c.unanswered[n:]; len(c.unanswered) == 0 {
		c.unanswered = nil // frees the array
	}
}

// left handles the end of a subscription: Redis has answered an SUNSUBSCRIBE, or is no longer the master of the
// board. The caller is within feed.call.
func (c *masterConn) left(h Handler, name string) {
	i := slices.IndexFunc(c.unanswered, func(command channelCommand) bool { return command.channel == name })
	if i >= 0 && c.unanswered[i].leaves {
		// If Redis has ended the subscription by itself, an error follows as the answer. Then refused takes the next
		// command for the one that is refused, and its board is routed again without need.
		c.unanswered = slices.Delete(c.unanswered, i, i+1)
	} else if c.of.routes[name] == c {
		c.returnChannel(h, name)
	}
}

// refused handles an error that Redis sent. A redirect means that this Redis does not serve a board at the moment, and the
// connection goes on. Any other error ends the connection.
func (c *masterConn) refused(h Handler, err redis.Error) error {
	isRedirect := pipeline.IsRedirect(err)
	if !isRedirect && !redis.HasErrorPrefix(err, "NOSUB") { // Valkey answers this without a subscription to leave
		return err
	}
	c.of.feed.call(func() {
		if len(c.unanswered) == 0 {
			return
		}
		first := c.unanswered[0]
		c.dropAnswered(1)
		if isRedirect && !first.leaves && c.of.routes[first.channel] == c {
			c.returnChannel(h, first.channel)
		}
	})
	return nil
}

// returnChannel gives a channel back that this Redis does not serve. It leaves the channel, in case Redis subscribes
// to it after all. The caller is within feed.call.
func (c *masterConn) returnChannel(h Handler, name string) {
	c.of.lose(h, name, time.Now())
	c.of.unroute(name)
	c.of.cluster.ReloadState(context.Background())
	c.of.giveBack(givenBack{channel: name})
}
