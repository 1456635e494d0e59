package ranking

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/redis/go-redis/v9"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
)

// callHook is a hook of the Redis client. It ends each call after the timeout, and measures how long scripts take.
type callHook struct {
	timeout time.Duration // see Config.CallTimeout
	metrics *metrics
}

// bound returns a context that ends when ctx ends, and after the timeout at the latest.
func (h callHook) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	if ends, ok := ctx.Deadline(); ok && time.Until(ends) <= h.timeout {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, h.timeout)
}

// DialHook is part of redis.Hook.
func (h callHook) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook is part of redis.Hook.
func (h callHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		ctx, cancel := h.bound(ctx)
		defer cancel()
		began := time.Now()
		err := next(ctx, cmd)
		h.metrics.observeScript(cmd, time.Since(began))
		return err
	}
}

// ProcessPipelineHook is part of redis.Hook.
func (h callHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		ctx, cancel := h.bound(ctx)
		defer cancel()
		began := time.Now()
		err := next(ctx, cmds)
		took := time.Since(began)
		for _, cmd := range cmds {
			h.metrics.observeScript(cmd, took)
		}
		return err
	}
}

// appendTexts appends texts to the arguments of a command or of a script.
func appendTexts(args []any, texts []string) []any {
	for _, text := range texts {
		args = append(args, text)
	}
	return args
}

// readFields reads fields of a hash. The reply has nil for a field that is missing.
func (s *Store) readFields(ctx context.Context, hash string, fields ...string) *script.Reply {
	return replyOf(s.rdb.HMGet(ctx, hash, fields...))
}

// replyOf returns the answer to a command as a Reply.
func replyOf(cmd *redis.SliceCmd) *script.Reply {
	values, err := cmd.Result()
	if err != nil {
		err = fmt.Errorf("%w: %w", definition.ErrUnavailable, err)
	}
	return &script.Reply{Rest: values, Err: err}
}

// pipelined sends a command for each item in one pipeline, and returns the commands in the order of the items.
func pipelined[T any, C redis.Cmder](ctx context.Context, rdb redis.UniversalClient, items []T,
	command func(redis.Pipeliner, T) C) ([]C, error) {
	pipe := rdb.Pipeline()
	commands := make([]C, len(items))
	for i, item := range items {
		commands[i] = command(pipe, item)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, fmt.Errorf("%w: %w", definition.ErrUnavailable, err)
	}
	return commands, nil
}

// parseStored decodes JSON that Redis holds.
func parseStored[T any](text, what string) (*T, error) {
	stored := new(T)
	if err := json.Unmarshal([]byte(text), stored); err != nil {
		return stored, fmt.Errorf("%w: the stored %s is not valid JSON", definition.ErrUnavailable, what)
	}
	return stored, nil
}

// takeShape takes the order and the ties with which a board-period was frozen. Where it was
// never written to, they are those of the definition.
func takeShape(r *script.Reply, d definition.Board) (definition.Order, definition.Ties) {
	words := strings.Split(r.Text(), " ")
	switch {
	case words[0] == "":
		return d.Order, d.Ties
	case len(words) > 2:
		return definition.Order(words[0]), definition.Ties(words[2])
	case d.Ties.Tied(): // the data come from an earlier definition of the board
		return definition.Order(words[0]), definition.First
	default:
		return definition.Order(words[0]), d.Ties
	}
}

// takeEntries takes (member, key) pairs, and their data; data has no values on a board without data. The first entry
// is at the given 0-based position and has the given rank.
func takeEntries(rows, data *script.Reply, position, rank int64, o definition.Order, t definition.Ties) ([]Entry, error) {
	hasData := len(data.Rest) > 0
	entries := make([]Entry, 0, len(rows.Rest)/2)
	for rows.More() {
		member, key := rows.Text(), rows.Key()
		position++
		e := Entry{Member: member, Score: key.Score(o), Key: key}
		if n := len(entries); n > 0 || !t.Tied() {
			rank = t.RankAfter(rank, position, n > 0 && entries[n-1].Score == e.Score)
		}
		e.Rank = rank
		if hasData {
			e.Data = data.Optional()
		}
		entries = append(entries, e)
	}
	return entries, cmp.Or(rows.Err, data.Err)
}

// scanPosition is how far a scan of a hash or a sorted set has come. The zero value is the beginning, and also the end.
type scanPosition struct {
	Server string `json:"server,omitzero"` // run_id of the Redis to which the cursor means something; "" on the embedded store
	Cursor string `json:"cursor,omitzero"` // of HSCAN or ZSCAN
}

// The types of keys that a scan reads, see scan.lua.
const scansHash, scansSet = "hash", "set"

// scanTexts is scan of one key, whose pairs it returns.
func (s *Store) scanTexts(ctx context.Context, kind, key string, count int, at *scanPosition) (pairs [][2]string, err error) {
	r, err := s.scan(ctx, kind, []string{key}, count, at)
	if err != nil {
		return nil, err
	}
	list := r.List()
	for list.More() {
		pairs = append(pairs, [2]string{list.Text(), list.Text()})
	}
	return pairs, list.Err
}

// scan reads about count fields of a hash or members of a sorted set from a position on. Unless it fails, it moves the
// position behind them. Where another Redis answers than the one before, the scan begins again, so it may return a field
// twice, and misses none. keys are those of scan.lua. The caller takes the list of pairs from the reply, and then the shape.
func (s *Store) scan(ctx context.Context, kind string, keys []string, count int, at *scanPosition) (*script.Reply, error) {
	r := script.Scan.Run(ctx, s.rdb, keys, []any{kind, at.Server, cmp.Or(at.Cursor, "0"), count})
	next := scanPosition{Server: r.Text(), Cursor: r.Text()}
	if next.Cursor == "0" {
		next = scanPosition{}
	}
	if r.Err == nil {
		*at = next
	}
	return r, r.Err
}
