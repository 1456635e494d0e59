package rights

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/internal/pipeline"
	"rankcast/ranking/internal/redisconn"
	"rankcast/ranking/internal/script"
)

// maxTrialIDs bounds the search for a name in a slot of a master. A master with one slot of 16,384 is missed once in 80
// million checks. The search takes 0.2 s at most.
const maxTrialIDs = 300_000

// refusal is one refusal of Redis.
type refusal struct {
	text   string // of the error
	what   string // command, and the pattern of the channels or keys where the command has some
	master string // address of the master of a cluster that refuses; "" without a cluster
}

// trialKey marks the context of a trial. The Gate does not observe such a command, because the trial itself handles each
// refusal.
type trialKey struct{}

// try tries each command on each master. It returns the refusals of Redis, or definition.ErrUnavailable.
func (g *Gate) try(ctx context.Context) ([]refusal, error) {
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, trialKey{}, true), g.timeout)
	defer cancel()
	var mu sync.Mutex
	var all []refusal
	err := redisconn.EachMaster(ctx, g.rdb, func(ctx context.Context, address string, master redisconn.Master) error {
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

// missing returns the error for refusals. Its reason has the words of Redis behind what Redis refuses.
func (g *Gate) missing(all []refusal) *definition.MissingRightsError {
	e := new(definition.MissingRightsError)
	whats := make(map[string][]string)
	for _, r := range all {
		whats[r.text] = append(whats[r.text], r.what)
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

func (t *trial) note(text, what string) { t.refused = append(t.refused, refusal{text, what, t.master}) }

// run tries each command on the master. Redis also checks the rights of the user for each command within a script. So one
// call of try.lua tries all commands of all scripts.
func (t *trial) run(ctx context.Context, master redisconn.Master) error {
	keys, rdb := t.gate.keys, t.gate.rdb
	id, shared, err := t.place(ctx)
	if err != nil {
		return err
	}
	board, channels := keys.TrialBoardChannel(id), keys.TrialChannels(id)
	sharded := t.master != ""
	if !sharded {
		channels = append(channels, board)
	}
	patterns := map[string]string{"": "", keys.Profiles(): " " + keys.Profiles(), board.Names[0]: " " + board.Pattern}
	args := []any{keys.Profiles(), ""}
	for _, c := range channels {
		patterns[c.Names[0]] = " " + c.Pattern
		args = append(args, c.Names[0])
	}
	trials := []keyspace.Trial{keys.TrialKeys(id), keys.TrialKeys(id)} // by EVAL, and by EVALSHA
	if shared {
		trials[1] = keys.TrialSharedKeys(id)
	}
	for i, of := range trials {
		run, command := script.Try.Run, "EVALSHA"
		args[1] = ""
		if i == 0 {
			run, command = script.Try.RunSource, "EVAL"
			if sharded {
				args[1] = board.Names[0]
			}
		}
		r := run(ctx, rdb, of.Names, args)
		if text := script.Refusal(r.Err); text != "" {
			t.note(text, command+" "+of.Pattern)
			continue
		}
		for r.More() {
			command, channel, text := r.Text(), r.Text(), r.Text()
			if script.Refuses(text) { // the embedded store gives its errors no code
				t.note(text, command+patterns[channel])
			}
		}
		if r.Err != nil {
			return r.Err
		}
	}
	ps := master.Subscribe(ctx)
	defer ps.Close()
	channels = append(channels, keyspace.Trial{Pattern: keys.Profiles(), Names: []string{keys.Profiles()}})
	if err := t.subscribe(ctx, ps, "SUBSCRIBE", ps.Subscribe, "UNSUBSCRIBE", ps.Unsubscribe, channels); err != nil || !sharded {
		return err
	}
	shard := master.SSubscribe(ctx)
	defer shard.Close()
	return t.subscribe(ctx, shard, "SSUBSCRIBE", shard.SSubscribe, "SUNSUBSCRIBE", shard.SUnsubscribe, []keyspace.Trial{board})
}

// place finds an id whose TrialKeys are keys of the master. shared reports that TrialSharedKeys are, too. The ids are the
// same in each trial, so that Redis words its refusals in the same way.
func (t *trial) place(ctx context.Context) (id string, shared bool, err error) {
	keys, cluster := t.gate.keys, pipeline.ClusterOf(t.gate.rdb)
	if cluster == nil {
		return "0", true, nil
	}
	holds := func(key string) (bool, error) {
		master, err := cluster.MasterForKey(ctx, key)
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return false, fmt.Errorf("find the master of a key: %w", err)
		}
		return master.Options().Addr == t.master, nil
	}
	if shared, err = holds(keys.TrialSharedKeys("").Names[0]); err != nil {
		return "", false, err
	}
	for i := range maxTrialIDs {
		id = strconv.Itoa(i)
		if found, err := holds(keys.TrialBoardChannel(id).Names[0]); found || err != nil {
			return id, shared, err
		}
	}
	return "", false, fmt.Errorf("the slots of %s are moving", t.master)
}

// subscribing is a method of a PubSub that sends a command for some channels.
type subscribing func(ctx context.Context, channels ...string) error

// subscribe subscribes to each channel on a connection, and leaves the last one, by commands of these names.
func (t *trial) subscribe(ctx context.Context, ps *redis.PubSub, command string, subscribe subscribing, end string,
	leave subscribing, channels []keyspace.Trial) error {
	var whats []string
	for _, c := range channels {
		whats = append(whats, command+" "+c.Pattern)
		if err := subscribe(ctx, c.Names[0]); err != nil {
			return fmt.Errorf("subscribe: %w", err)
		}
	}
	whats = append(whats, end)
	if err := leave(ctx, channels[len(channels)-1].Names[0]); err != nil {
		return fmt.Errorf("unsubscribe: %w", err)
	}
	for len(whats) > 0 {
		answer, err := ps.ReceiveTimeout(ctx, t.gate.timeout)
		text := script.Refusal(err)
		switch {
		case text != "":
			t.note(text, whats[0])
		case err != nil && !redis.HasErrorPrefix(err, "NOSUB"): // Valkey answers this without a subscription to leave
			return fmt.Errorf("subscribe: %w", err)
		}
		if _, message := answer.(*redis.Message); !message {
			whats = whats[1:]
		}
	}
	return nil
}
