package rights

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/internal/redisconn"
	"rankcast/ranking/internal/script"
)

// refusal is one refusal of Redis.
type refusal struct {
	text   string // of the error
	what   string // command, and the pattern of the channels or keys where the command has some
	master string // address of the master of a cluster that refuses; "" without a cluster
}

// trialKey marks the context of a trial. The Gate does not observe such a command, because the trial itself handles each
// refusal.
type trialKey struct{}

// try asks each master about each command. It returns the refusals of Redis, or definition.ErrUnavailable.
func (g *Gate) try(ctx context.Context) ([]refusal, error) {
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, trialKey{}, true), g.timeout)
	defer cancel()
	var mu sync.Mutex
	var all []refusal
	err := redisconn.EachMaster(ctx, g.rdb, func(ctx context.Context, address string, master redis.UniversalClient) error {
		t := trial{gate: g, master: address}
		err := t.run(ctx, master)
		mu.Lock()
		defer mu.Unlock()
		all = append(all, t.refused...)
		return err
	})
	if len(all) == 0 && err != nil {
		return nil, fmt.Errorf("%w: %w", definition.ErrUnavailable, err)
	}
	return all, nil
}

// namedCommand is how Redis names a command that it refuses, in most versions. The reason has the name before Redis's words.
var namedCommand = regexp.MustCompile(`the '[^']+' command`)

// missing returns the error for refusals. Its reason has the words of Redis behind what Redis refuses.
func (g *Gate) missing(all []refusal) *definition.MissingRightsError {
	e := new(definition.MissingRightsError)
	whats := make(map[string][]string)
	for _, r := range all {
		text := namedCommand.ReplaceAllString(r.text, "this command")
		whats[text] = append(whats[text], r.what)
		if r.master != "" {
			e.Masters = append(e.Masters, r.master)
		}
	}
	slices.Sort(e.Masters)
	e.Masters = slices.Compact(e.Masters)
	var reasons []string
	for _, text := range slices.Sorted(maps.Keys(whats)) {
		reason := text
		if writes, _ := script.RefusesWrites(text); !writes { // else each write is refused, of any user
			slices.Sort(whats[text])
			reason = fmt.Sprintf("redis user %q: %s: %s", redisconn.User(g.rdb), strings.Join(slices.Compact(whats[text]), ", "), text)
		}
		reasons = append(reasons, reason)
	}
	e.Reason = strings.Join(reasons, "; ")
	return e
}

// trial is the trial on one master.
type trial struct {
	gate    *Gate
	master  string // address of a master of a cluster, or ""
	refused []refusal
}

// allowed are the codes of answers that Redis gives once it has checked the user: the key or channel is of another master,
// Redis does not know the script, or (Valkey) there is no subscription to leave.
var allowed = []string{"MOVED ", "ASK ", "TRYAGAIN ", "NOSCRIPT ", "NOSUB "}

// note notes a refusal. It returns any other error that leaves open whether Redis refuses.
func (t *trial) note(what string, err error) error {
	if text := script.Refusal(err); text != "" {
		t.refused = append(t.refused, refusal{text, what, t.master})
		return nil
	}
	if slices.ContainsFunc(allowed, func(code string) bool { return redis.HasErrorPrefix(err, code) }) {
		return nil
	}
	return err
}

// run tries EVAL, EVALSHA, a write and subscriptions on the master. One call of try.lua asks about all other commands.
func (t *trial) run(ctx context.Context, master redis.UniversalClient) error {
	const unknownSHA = "0000000000000000000000000000000000000000"
	pipe := master.Pipeline()
	keys, channels := t.gate.keys.TrialKeys(), t.gate.keys.TrialChannels()
	for _, key := range keys {
		pipe.Eval(ctx, "return 1", []string{key.Name})
		pipe.EvalSha(ctx, unknownSHA, []string{key.Name})
	}
	cmds := pipe.Cmds()
	redisconn.ExecEach(ctx, pipe) // each command has its own error
	for i, cmd := range cmds {
		if err := t.note(strings.ToUpper(cmd.Name())+" "+keys[i/2].Pattern, cmd.Err()); err != nil {
			return err
		}
	}
	if len(t.refused) == 0 { // else Redis may refuse try.lua, and each of its commands for the same reason
		if err := t.ask(ctx, master, keys, channels); err != nil {
			return err
		}
	}
	ps := master.Subscribe(ctx)
	defer ps.Close()
	if t.master == "" {
		return t.subscribe(ctx, ps, "", ps.Subscribe, ps.Unsubscribe, channels)
	}
	if err := t.subscribe(ctx, ps, "", ps.Subscribe, ps.Unsubscribe, channels[1:]); err != nil {
		return err
	}
	shard := master.SSubscribe(ctx)
	defer shard.Close()
	return t.subscribe(ctx, shard, "S", shard.SSubscribe, shard.SUnsubscribe, channels[:1])
}

// ask calls try.lua.
func (t *trial) ask(ctx context.Context, master redis.UniversalClient, keys, channels []keyspace.Trial) error {
	args, patterns := []any{t.master != "", len(keys)}, map[string]string{"": ""}
	for _, of := range slices.Concat(keys, channels) {
		args = append(args, of.Name)
		patterns[of.Name] = " " + of.Pattern
	}
	r := script.Try.RunSource(ctx, master, nil, args)
	if write := r.Text(); r.Err == nil {
		if refused, _ := script.RefusesWrites(write); refused { // else the key is of another master
			t.refused = append(t.refused, refusal{write, "SET", t.master})
		}
	}
	for r.More() {
		command, channel, text := r.Text(), r.Text(), r.Text()
		t.refused = append(t.refused, refusal{text, command + patterns[channel], t.master})
	}
	return t.note("EVAL", r.Err)
}

// subscribing is a method of a PubSub that sends a command for some channels.
type subscribing func(ctx context.Context, channels ...string) error

// subscribe subscribes to each channel on a connection, and leaves the last one. sharded is "S" for channels of a shard.
func (t *trial) subscribe(ctx context.Context, ps *redis.PubSub, sharded string, subscribe, leave subscribing,
	channels []keyspace.Trial) error {
	var whats []string
	for _, c := range channels {
		whats = append(whats, sharded+"SUBSCRIBE "+c.Pattern)
		if err := subscribe(ctx, c.Name); err != nil {
			return fmt.Errorf("subscribe: %w", err)
		}
	}
	whats = append(whats, sharded+"UNSUBSCRIBE")
	if err := leave(ctx, channels[len(channels)-1].Name); err != nil {
		return fmt.Errorf("unsubscribe: %w", err)
	}
	for len(whats) > 0 {
		answer, err := ps.ReceiveTimeout(ctx, t.gate.timeout)
		if err := t.note(whats[0], err); err != nil {
			return fmt.Errorf("subscribe: %w", err)
		}
		if _, message := answer.(*redis.Message); !message {
			whats = whats[1:]
		}
	}
	return nil
}
