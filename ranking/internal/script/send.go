package script

import (
	"context"

	"github.com/redis/go-redis/v9"

	"rankcast/ranking/internal/pipeline"
)

// Call is one call of a script.
type Call struct {
	Script Script
	Keys   []string
	Args   []any
}

// Send sends the calls together over the shared connection of c and returns the reply of each. See
// pipeline.Client.Send for sent, for the deadline that ctx needs, and for the order.
//
// Where Redis does not know a script yet, it has not carried out the call, so Send sends the source,
// after the replies to all calls. Err of a Reply is set when its call failed, as by Run. It wraps
// pipeline.ErrNotSent when Redis has not received the call.
func Send(ctx context.Context, c *pipeline.Client, sent func(), calls ...Call) []*Reply {
	return sendKnown(ctx, c, calls, func(cmds []pipeline.Command) {
		c.Send(ctx, sent, cmds...) // each command has its own error
		sent = nil                 // it has been called, also where sources follow
	})
}

// Pipeline is Send over a connection of the pool, so large pipelines do not delay the calls of Send.
// ctx bounds it.
func Pipeline(ctx context.Context, rdb redis.UniversalClient, calls ...Call) []*Reply {
	return sendKnown(ctx, rdb, calls, func(cmds []pipeline.Command) {
		pipe := rdb.Pipeline()
		for _, cmd := range cmds {
			pipe.Process(ctx, cmd)
		}
		if _, err := pipe.Exec(ctx); err != nil {
			for _, cmd := range cmds {
				if cmd.Err() == nil && cmd.(sentOnce).Val() == nil {
					cmd.SetErr(err) // a hook, or the client, has sent nothing
				}
			}
		}
	})
}

// sendKnown sends calls by the SHA-1 of their scripts, and then those whose scripts Redis does not know by
// their source. send sends some commands, and sets the reply or the error of each.
func sendKnown(ctx context.Context, rdb redis.UniversalClient, calls []Call, send func([]pipeline.Command)) []*Reply {
	replies := make([]*Reply, len(calls))
	cmds := make([]pipeline.Command, len(calls))
	for i, call := range calls {
		s := call.Script.formFor(rdb)
		cmds[i] = s.command(ctx, "evalsha", s.SHA1, call.Keys, call.Args)
	}
	send(cmds)
	var unknown []int // indexes of calls
	var sources []pipeline.Command
	for i, call := range calls {
		if redis.HasErrorPrefix(cmds[i].Err(), "NOSCRIPT") {
			unknown = append(unknown, i)
			sources = append(sources, call.Script.command(ctx, "eval", call.Script.formFor(rdb).Source, call.Keys, call.Args))
		}
	}
	if len(unknown) > 0 {
		send(sources)
		for n, i := range unknown {
			cmds[i] = sources[n]
		}
	}
	for i, call := range calls {
		replies[i] = call.Script.replyTo(cmds[i].(sentOnce).Cmd)
	}
	return replies
}

// replyTo returns the reply to a command that was sent.
func (s Script) replyTo(cmd *redis.Cmd) *Reply {
	return s.reply(cmd.Slice())
}
