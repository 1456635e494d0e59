package ranking

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/internal/pipeline"
	"rankcast/ranking/internal/script"
)

// sentCommands are the commands that the Store and the feed send outside of scripts, and need; SSUBSCRIBE and
// SUNSUBSCRIBE only on a cluster. (The Store does not need MEMORY: without that command it estimates the size
// of a board.)
var sentCommands = []string{
	"EVAL", "EVALSHA", "EXISTS", "GET", "GETDEL", "HGET", "HGETALL", "HLEN", "HMGET", "HSET", "PING", "PUBLISH", "SET", "SSUBSCRIBE", "SUBSCRIBE", "SUNSUBSCRIBE", "UNSUBSCRIBE",
	"XREVRANGE", "ZADD", "ZCARD", "ZCOUNT", "ZMSCORE", "ZRANGE", "ZSCAN",
}

// missingRight is one refusal of Redis.
type missingRight struct {
	refusal script.Refusal
	command string
	pattern string // of keys or channels, where the refusal is of those
}

// tryRights tries each command. It returns the refusals of Redis, or ErrUnavailable.
//
// Redis also checks the rights of the user for each command within a script. So one call of try.lua
// tries all commands of all scripts. Where Redis refuses all writes, each that writes fails. tryRights
// ignores other failures, such as that of RENAME without a key.
func (s *Store) tryRights(ctx context.Context) ([]missingRight, error) {
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, trialKey{}, true), s.cfg.CallTimeout)
	defer cancel()
	id := rand.Text()
	board, channels := s.keys.TrialBoardChannel(id), s.keys.TrialChannels(id)
	sharded := pipeline.ClusterOf(s.rdb) != nil
	if !sharded {
		channels = append(channels, board)
	}
	patterns := map[string]string{s.keys.Profiles(): s.keys.Profiles(), board.Names[0]: board.Pattern}
	for _, c := range channels {
		patterns[c.Names[0]] = c.Pattern
	}
	var missing []missingRight
	for i, keys := range s.keys.TrialKeys(id) {
		args := []any{s.keys.Profiles(), ""}
		if sharded && i == 0 {
			args[1] = board.Names[0]
		}
		for _, c := range channels {
			args = append(args, c.Names[0])
		}
		run := script.Try.Run // by EVALSHA
		if i == 0 {
			run = script.Try.RunSource // by EVAL
		}
		r, err := run(ctx, s.rdb, keys.Names, args)
		if refusal := script.RefusalIn(err); refusal != 0 {
			command := "EVAL"
			if strings.Contains(strings.ToLower(err.Error()), "'evalsha'") {
				command = "EVALSHA"
			}
			missing = append(missing, missingRight{refusal, command, keys.Pattern})
			continue
		}
		if err != nil {
			return nil, err
		}
		for len(r.Rest) > 0 && r.Err == nil {
			command, channel, text := r.Text(), r.Text(), r.Text()
			pattern := keys.Pattern
			if channel != "" {
				pattern = patterns[channel]
			}
			if refusal := script.RefusalOf(text); refusal != 0 {
				missing = append(missing, missingRight{refusal, command, pattern})
			}
		}
		if r.Err != nil {
			return nil, r.Err
		}
	}
	// A user who may not run the command needs that right first; the channels tell the operator nothing.
	for _, publish := range []string{"PUBLISH", "SPUBLISH"} {
		refused := func(m missingRight) bool { return m.command == publish && m.refusal == script.RefusedCommand }
		if slices.ContainsFunc(missing, refused) {
			missing = slices.DeleteFunc(missing, func(m missingRight) bool { return m.command == publish && m.refusal == script.RefusedChannel })
		}
	}
	ps := s.rdb.Subscribe(ctx)
	defer ps.Close()
	channels = append(channels, keyspace.Trial{Pattern: s.keys.Profiles(), Names: []string{s.keys.Profiles()}})
	refused, err := s.trySubscribe(ctx, ps, [2]string{"SUBSCRIBE", "UNSUBSCRIBE"}, ps.Subscribe, ps.Unsubscribe, channels)
	if err != nil || !sharded {
		return append(missing, refused...), err
	}
	missing = append(missing, refused...)
	shard := s.rdb.SSubscribe(ctx)
	defer shard.Close()
	refused, err = s.trySubscribe(ctx, shard, [2]string{"SSUBSCRIBE", "SUNSUBSCRIBE"}, shard.SSubscribe, shard.SUnsubscribe, []keyspace.Trial{board})
	return append(missing, refused...), err
}

// subscribing is a method of a PubSub that sends a command for some channels.
type subscribing func(ctx context.Context, channels ...string) error

// trySubscribe subscribes to each channel on a connection, and leaves the last one, by commands of these names.
func (s *Store) trySubscribe(ctx context.Context, ps *redis.PubSub, names [2]string, subscribe, leave subscribing, channels []keyspace.Trial) (missing []missingRight, err error) {
	for _, c := range channels {
		if err := subscribe(ctx, c.Names[0]); err != nil {
			return nil, fmt.Errorf("%w: subscribe: %w", ErrUnavailable, err)
		}
	}
	last := channels[len(channels)-1]
	if err := leave(ctx, last.Names[0]); err != nil {
		return nil, fmt.Errorf("%w: unsubscribe: %w", ErrUnavailable, err)
	}
	for i := 0; i <= len(channels); {
		answer, err := ps.ReceiveTimeout(ctx, s.cfg.CallTimeout)
		right := missingRight{script.RefusalIn(err), names[1], last.Pattern}
		if i < len(channels) {
			right.command, right.pattern = names[0], channels[i].Pattern
		}
		switch {
		case right.refusal != 0:
			missing = append(missing, right)
		case redis.HasErrorPrefix(err, "NOSUB"): // Valkey answers this without a subscription to leave
		case err != nil:
			return nil, fmt.Errorf("%w: subscribe: %w", ErrUnavailable, err)
		}
		if _, ok := answer.(*redis.Message); !ok {
			i++
		}
	}
	return missing, nil
}

// rightsFault is one reason for which Redis refuses what the node needs.
type rightsFault struct {
	refusal script.Refusal
	found   string
	fix     string // for the operator
	command string // that carries out fix, for redis-cli; "" for none
}

// explainRights names the missing rights, and how the operator grants them.
func explainRights(missing []missingRight, user, prefix string) string {
	var reasons []string
	for _, fault := range rightsFaults(missing, user, prefix) {
		reasons = append(reasons, fault.found+": "+fault.fix)
	}
	return strings.Join(reasons, "; ")
}

// rightsFaults joins the missing rights to one fault for each kind of refusal.
func rightsFaults(missing []missingRight, user, prefix string) (faults []rightsFault) {
	// pick returns the different values of those with a refusal, sorted.
	pick := func(refusal script.Refusal, value func(missingRight) string) string {
		var all []string
		for _, m := range missing {
			if m.refusal == refusal {
				all = append(all, value(m))
			}
		}
		slices.Sort(all)
		return strings.Join(slices.Compact(all), ", ")
	}
	command := func(m missingRight) string { return m.command }
	pattern := func(m missingRight) string { return m.pattern }
	grant := func(refusal script.Refusal, found, rules, quoted string) {
		faults = append(faults, rightsFault{refusal, found, "add " + rules + " to its ACL rules", fmt.Sprintf("ACL SETUSER %s %s", user, quoted)})
	}
	for _, refusal := range []script.Refusal{script.ReadOnly, script.NotStored, script.NoReplicas, script.NoMemory} {
		if reason, _ := refusal.AllWrites(); pick(refusal, command) != "" {
			found, fix, _ := strings.Cut(reason, ": ")
			faults = append(faults, rightsFault{refusal: refusal, found: found, fix: fix})
		}
	}
	if names := pick(script.NoCommand, command); names != "" {
		faults = append(faults, rightsFault{refusal: script.NoCommand, found: "this Redis has no " + names, fix: "its configuration renames or disables it"})
	}
	if names := pick(script.RefusedCommand, command); names != "" {
		rules := "+" + strings.ReplaceAll(strings.ToLower(names), ", ", " +")
		grant(script.RefusedCommand, fmt.Sprintf("redis user %q may not run %s", user, names), rules, rules)
	}
	if patterns := pick(script.RefusedKeys, pattern); patterns != "" {
		rule := "~" + prefix + ":*"
		grant(script.RefusedKeys, fmt.Sprintf("redis user %q may not use the keys %s", user, patterns), rule, "'"+rule+"'")
	}
	if patterns := pick(script.RefusedChannel, pattern); patterns != "" {
		rule := "&" + prefix + ":*"
		found := fmt.Sprintf("redis user %q may not %s to the channels %s", user, strings.ReplaceAll(pick(script.RefusedChannel, command), ", ", " or "), patterns)
		grant(script.RefusedChannel, found, rule, "'"+rule+"'")
	}
	return faults
}
