package redistest

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// Hook is a redis.Hook that is one function: each command and each pipeline of a client passes through it. A lone
// command is a pipeline of one. send passes on commands to Redis, all or some of them.
type Hook func(ctx context.Context, cmds []redis.Cmder, send redis.ProcessPipelineHook) error

// DialHook leaves connections alone.
func (h Hook) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook calls h for a lone command.
func (h Hook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		return h(ctx, []redis.Cmder{cmd}, func(ctx context.Context, cmds []redis.Cmder) error { return next(ctx, cmds[0]) })
	}
}

// ProcessPipelineHook calls h for a pipeline.
func (h Hook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error { return h(ctx, cmds, next) }
}
