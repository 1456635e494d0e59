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
	replies := make([]*Reply, len(calls))
	cmds := make([]pipeline.Command, len(calls))
	for i, call := range calls {
		s := call.Script.formFor(c)
		cmds[i] = s.command(ctx, "evalsha", s.SHA1, call.Keys, call.Args)
	}
	c.Send(ctx, sent, cmds...) // each command has its own error
	var unknown []int          // indexes of calls
	var sources []pipeline.Command
	for i, call := range calls {
		if redis.HasErrorPrefix(cmds[i].Err(), "NOSCRIPT") {
			unknown = append(unknown, i)
			sources = append(sources, call.Script.command(ctx, "eval", call.Script.formFor(c).Source, call.Keys, call.Args))
		}
	}
	if len(unknown) > 0 {
		c.Send(ctx, nil, sources...)
		for n, i := range unknown {
			cmds[i] = sources[n]
		}
	}
	for i, call := range calls {
		replies[i] = call.Script.replyTo(cmds[i].(once).Cmd)
	}
	return replies
}

// Pipeline is Send over a connection of the pool, so large pipelines do not delay the calls of Send.
// ctx bounds it.
func Pipeline(ctx context.Context, rdb redis.UniversalClient, calls ...Call) []*Reply {
	replies := make([]*Reply, len(calls))
	all := make([]int, len(calls))
	for i := range calls {
		all[i] = i
	}
	send := func(verb string, which []int) (unknown []int) {
		pipe, cmds := rdb.Pipeline(), make([]once, len(which))
		for n, i := range which {
			s, body := calls[i].Script.formFor(rdb), ""
			if body = s.SHA1; verb == "eval" {
				body = s.Source
			}
			cmds[n] = s.command(ctx, verb, body, calls[i].Keys, calls[i].Args)
			pipe.Process(ctx, cmds[n])
		}
		_, err := pipe.Exec(ctx)
		for n, i := range which {
			if cmds[n].Err() == nil && cmds[n].Val() == nil && err != nil {
				cmds[n].SetErr(err) // a hook, or the client, has sent nothing
			}
			if verb == "evalsha" && redis.HasErrorPrefix(cmds[n].Err(), "NOSCRIPT") {
				unknown = append(unknown, i)
			}
			replies[i] = calls[i].Script.replyTo(cmds[n].Cmd)
		}
		return unknown
	}
	if unknown := send("evalsha", all); len(unknown) > 0 {
		send("eval", unknown)
	}
	return replies
}

// replyTo returns the reply to a command that was sent.
func (s Script) replyTo(cmd *redis.Cmd) *Reply {
	return s.reply(cmd.Slice())
}
