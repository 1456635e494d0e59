package ranking

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/internal/pipeline"
	"rankcast/ranking/internal/script"
)

// sentCommands are the commands that the Store and the feed send outside of scripts, and need; SSUBSCRIBE and
// SUNSUBSCRIBE only on a cluster. (The Store does not need MEMORY: without that command it estimates the size
// of a board.)
var sentCommands = []string{
	"EVAL", "EVALSHA", "EXISTS", "GET", "GETDEL", "HGET", "HGETALL", "HLEN", "HMGET", "HSCAN", "PING", "PUBLISH", "SCAN", "SET", "SSUBSCRIBE", "SUBSCRIBE", "SUNSUBSCRIBE", "UNSUBSCRIBE",
	"XREVRANGE", "ZCARD", "ZCOUNT", "ZLEXCOUNT", "ZMSCORE", "ZRANGE", "ZSCORE",
}

// maxTrialIDs bounds the ids that a check tries. A master with one slot of 16,384 misses them all once in 80 million
// checks. They take 0.2 s.
const maxTrialIDs = 300_000

// missingRight is one refusal of Redis.
type missingRight struct {
	refusal script.Refusal
	command string
	pattern string // of keys or channels, where the refusal is of those; else ""
	master  string // address of the master of a cluster that refuses; "" without a cluster
}

// trialServer is one Redis on which a check tries each command. Each master of a cluster has users of its own.
type trialServer struct {
	master string // address of a master of a cluster; "" without a cluster
	id     string // keyspace.Keys.TrialKeys(id) are keys of this Redis
	shared bool   // keyspace.Keys.TrialSharedKeys are keys of this Redis
	rdb    interface {
		Subscribe(ctx context.Context, channels ...string) *redis.PubSub
		SSubscribe(ctx context.Context, channels ...string) *redis.PubSub
	}
}

// tryRights tries each command on each Redis. It returns the refusals of Redis, or ErrUnavailable.
func (s *Store) tryRights(ctx context.Context) ([]missingRight, error) {
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, trialKey{}, true), s.cfg.CallTimeout)
	defer cancel()
	servers, err := s.trialServers(ctx)
	if err != nil {
		return nil, err
	}
	missing, errs := make([][]missingRight, len(servers)), make([]error, len(servers))
	var trials sync.WaitGroup
	for i, server := range servers {
		trials.Go(func() { missing[i], errs[i] = s.tryServer(ctx, server) })
	}
	trials.Wait()
	all := slices.Concat(missing...)
	if len(all) == 0 {
		return nil, cmp.Or(errs...)
	}
	for i, m := range all {
		refuses := func(of []missingRight) bool {
			return slices.ContainsFunc(of, func(other missingRight) bool { other.master = m.master; return other == m })
		}
		if !slices.ContainsFunc(missing, func(of []missingRight) bool { return !refuses(of) }) {
			all[i].master = "" // all masters refuse it, so the operator needs no names
		}
	}
	return all, nil
}

// trialServers finds the masters of a cluster, with a slot of each. Without a cluster it returns the one Redis.
func (s *Store) trialServers(ctx context.Context) ([]*trialServer, error) {
	cluster := pipeline.ClusterOf(s.rdb)
	if cluster == nil {
		return []*trialServer{{id: rand.Text(), shared: true, rdb: s.rdb}}, nil
	}
	var mu sync.Mutex
	byAddress := make(map[string]*trialServer)
	err := cluster.ForEachMaster(ctx, func(_ context.Context, node *redis.Client) error {
		mu.Lock()
		defer mu.Unlock()
		byAddress[node.Options().Addr] = &trialServer{master: node.Options().Addr, rdb: node}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%w: find the masters: %w", ErrUnavailable, err)
	}
	masterOf := func(key string) (*trialServer, error) {
		node, err := cluster.MasterForKey(ctx, key)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("%w: find the master of a key: %w", ErrUnavailable, err)
		}
		return byAddress[node.Options().Addr], nil // nil: a master since a moment ago
	}
	shared, err := masterOf(s.keys.TrialSharedKeys("").Names[0])
	if err != nil {
		return nil, err
	}
	if shared != nil {
		shared.shared = true
	}
	start, left := rand.Text(), len(byAddress)
	for i := 0; left > 0 && i < maxTrialIDs; i++ {
		id := start + strconv.Itoa(i)
		server, err := masterOf(s.keys.TrialBoardChannel(id).Names[0])
		if err != nil {
			return nil, err
		}
		if server != nil && server.id == "" {
			server.id = id
			left--
		}
	}
	if left > 0 || shared == nil {
		return nil, fmt.Errorf("%w: the slots of the cluster are moving", ErrUnavailable)
	}
	return slices.Collect(maps.Values(byAddress)), nil
}

// tryServer tries each command on one Redis. It returns the refusals of that Redis, or ErrUnavailable.
//
// Redis also checks the rights of the user for each command within a script. So one call of try.lua
// tries all commands of all scripts. Where Redis refuses all writes, each that writes fails. tryServer
// ignores other failures, such as that of RENAME without a key.
func (s *Store) tryServer(ctx context.Context, server *trialServer) (missing []missingRight, err error) {
	board, channels := s.keys.TrialBoardChannel(server.id), s.keys.TrialChannels(server.id)
	sharded := server.master != ""
	if !sharded {
		channels = append(channels, board)
	}
	patterns := map[string]string{s.keys.Profiles(): s.keys.Profiles(), board.Names[0]: board.Pattern}
	for _, c := range channels {
		patterns[c.Names[0]] = c.Pattern
	}
	note := func(refusal script.Refusal, command, pattern string) {
		if refusal != script.RefusedKeys && refusal != script.RefusedChannel {
			pattern = ""
		}
		missing = append(missing, missingRight{refusal, command, pattern, server.master})
	}
	trials := s.keys.TrialKeys(server.id)
	if server.shared {
		trials = append(trials, s.keys.TrialSharedKeys(server.id))
	}
	for i, keys := range trials {
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
			note(refusal, command, keys.Pattern)
			continue
		}
		if err != nil {
			return nil, err
		}
		for r.More() {
			command, channel, text := r.Text(), r.Text(), r.Text()
			pattern := keys.Pattern
			if channel != "" {
				pattern = patterns[channel]
			}
			if refusal := script.RefusalOf(text); refusal != 0 {
				note(refusal, command, pattern)
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
	ps := server.rdb.Subscribe(ctx)
	defer ps.Close()
	channels = append(channels, keyspace.Trial{Pattern: s.keys.Profiles(), Names: []string{s.keys.Profiles()}})
	if err := s.trySubscribe(ctx, ps, [2]string{"SUBSCRIBE", "UNSUBSCRIBE"}, ps.Subscribe, ps.Unsubscribe, channels, note); err != nil || !sharded {
		return missing, err
	}
	shard := server.rdb.SSubscribe(ctx)
	defer shard.Close()
	err = s.trySubscribe(ctx, shard, [2]string{"SSUBSCRIBE", "SUNSUBSCRIBE"}, shard.SSubscribe, shard.SUnsubscribe, []keyspace.Trial{board}, note)
	return missing, err
}

// subscribing is a method of a PubSub that sends a command for some channels.
type subscribing func(ctx context.Context, channels ...string) error

// trySubscribe subscribes to each channel on a connection, and leaves the last one, by commands of these names. It calls
// note for each refusal.
func (s *Store) trySubscribe(ctx context.Context, ps *redis.PubSub, names [2]string, subscribe, leave subscribing, channels []keyspace.Trial, note func(script.Refusal, string, string)) error {
	for _, c := range channels {
		if err := subscribe(ctx, c.Names[0]); err != nil {
			return fmt.Errorf("%w: subscribe: %w", ErrUnavailable, err)
		}
	}
	last := channels[len(channels)-1]
	if err := leave(ctx, last.Names[0]); err != nil {
		return fmt.Errorf("%w: unsubscribe: %w", ErrUnavailable, err)
	}
	for i := 0; i <= len(channels); {
		answer, err := ps.ReceiveTimeout(ctx, s.cfg.CallTimeout)
		command, pattern := names[1], last.Pattern
		if i < len(channels) {
			command, pattern = names[0], channels[i].Pattern
		}
		refusal := script.RefusalIn(err)
		switch {
		case refusal != 0:
			note(refusal, command, pattern)
		case redis.HasErrorPrefix(err, "NOSUB"): // Valkey answers this without a subscription to leave
		case err != nil:
			return fmt.Errorf("%w: subscribe: %w", ErrUnavailable, err)
		}
		if _, ok := answer.(*redis.Message); !ok {
			i++
		}
	}
	return nil
}
