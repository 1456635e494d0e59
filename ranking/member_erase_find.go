package ranking

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"rankcast/ranking/definition"
)

const (
	// findAtOnce is the number of members that one command reads or looks up. A command of this size holds
	// Redis for less than 0.1 ms.
	findAtOnce = 256
	// findCommands is the number of commands in one pipeline.
	findCommands = 64
)

// instanceMembers are the members to be erased that were found in an instance.
type instanceMembers struct {
	instance string
	periods  []periodMembers
	left     int64 // periods whose data have another shape than the definition
}

type periodMembers struct {
	name  string
	found []int32 // indices of members
}

// wantedMembers are the members that a walk removes.
type wantedMembers struct {
	ids   []string
	index map[string]int32 // of ids
}

func newWantedMembers(ids []string) wantedMembers {
	w := wantedMembers{ids: ids, index: make(map[string]int32, len(ids))}
	for i, member := range ids {
		w.index[member] = int32(i)
	}
	return w
}

// findMembers looks for members in all periods of some instances. It returns the members for which
// erase.lua removes something. It reads a small set whole, so a board costs little, whatever the number
// of wanted members.
func (s *Store) findMembers(ctx context.Context, r *definition.Compiled, instances []string,
	wanted wantedMembers) ([]instanceMembers, error) {
	f := finder{s: s, r: r, wanted: wanted}
	found := make([]instanceMembers, len(instances))
	for i, instance := range instances {
		found[i].instance = instance
		f.add(func() (redis.Cmder, func()) { return f.periods(ctx, &found[i]) })
	}
	if err := f.run(ctx); err != nil {
		return nil, fmt.Errorf("look for members: %w", err)
	}
	// After the boards, see record.lua: a node may be about to record a member that was there.
	for _, of := range found {
		for i := range of.periods {
			key := s.keys.Board(of.instance, of.periods[i].name).History().Numbers
			f.add(func() (redis.Cmder, func()) { return f.size(ctx, &of.periods[i], key, hash) })
		}
	}
	if err := f.run(ctx); err != nil {
		return nil, fmt.Errorf("look for members of histories: %w", err)
	}
	for _, of := range found {
		for i := range of.periods {
			p := &of.periods[i]
			slices.Sort(p.found)
			p.found = slices.Compact(p.found)
		}
	}
	return found, nil
}

// finder sends commands in pipelines, and what follows from their answers in later pipelines.
type finder struct {
	s      *Store
	r      *definition.Compiled
	wanted wantedMembers
	next   []find // a stack, so that few wait
}

// find makes a command, and what to do after its answer. It makes the command late, because its arguments
// take memory.
type find func() (cmd redis.Cmder, then func())

func (f *finder) add(next find) { f.next = append(f.next, next) }

// run sends the commands, and leaves Redis to other callers after each pipeline.
func (f *finder) run(ctx context.Context) error {
	for len(f.next) > 0 {
		rest := max(0, len(f.next)-findCommands)
		now := slices.Clone(f.next[rest:])
		f.next = f.next[:rest]
		began := time.Now()
		then, err := f.send(ctx, now)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
		for _, do := range then {
			do()
		}
		if err := restAfter(ctx, began); err != nil {
			return err
		}
	}
	return nil
}

func (f *finder) send(ctx context.Context, finds []find) (then []func(), err error) {
	pipe := f.s.rdb.Pipeline()
	for _, make := range finds {
		cmd, do := make()
		if err := pipe.Process(ctx, cmd); err != nil {
			return nil, err
		}
		then = append(then, do)
	}
	_, err = pipe.Exec(ctx)
	return then, err
}

// periods lists the periods of an instance.
func (f *finder) periods(ctx context.Context, of *instanceMembers) (redis.Cmder, func()) {
	cmd := redis.NewMapStringStringCmd(ctx, "hgetall", f.s.keys.Board(of.instance, "").Periods)
	return cmd, func() {
		for name := range cmd.Val() {
			if name != lastSettledField {
				of.periods = append(of.periods, periodMembers{name: name})
			}
		}
		for i := range of.periods {
			f.add(func() (redis.Cmder, func()) { return f.shape(ctx, of, &of.periods[i]) })
		}
	}
}

// shape finds out whether a board-period has data, of the shape of the definition.
func (f *finder) shape(ctx context.Context, of *instanceMembers, p *periodMembers) (redis.Cmder, func()) {
	k := f.s.keys.Board(of.instance, p.name)
	cmd := redis.NewSliceCmd(ctx, "hmget", k.Meta, "shape")
	return cmd, func() {
		shape := cmd.Val()[0]
		if shape == nil {
			return
		}
		if shape != f.r.Shape {
			of.left++
			return
		}
		look := func(key string, in container) {
			f.add(func() (redis.Cmder, func()) { return f.size(ctx, p, key, in) })
		}
		look(k.Members, sortedSet)
		look(k.Hidden, sortedSet)
		if f.r.IsWindowed() {
			look(k.Window[1], hash)
			look(k.Window[2], sortedSet)
		}
	}
}

// container is a type of keys that hold members.
type container struct{ length, lookUp string } // commands

var (
	sortedSet = container{"zcard", "zmscore"}
	hash      = container{"hlen", "hmget"}
)

// size decides by the size of a key how to look for members in it.
func (f *finder) size(ctx context.Context, p *periodMembers, key string, in container) (redis.Cmder, func()) {
	cmd := redis.NewIntCmd(ctx, in.length, key)
	return cmd, func() {
		switch n := cmd.Val(); {
		case n == 0:
		case n <= int64(min(findAtOnce, len(f.wanted.ids))):
			f.add(func() (redis.Cmder, func()) { return f.whole(ctx, p, key, in) })
		default:
			for from := 0; from < len(f.wanted.ids); from += findAtOnce {
				f.add(func() (redis.Cmder, func()) { return f.lookUp(ctx, p, key, in, from) })
			}
		}
	}
}

// whole reads all members of a key.
func (f *finder) whole(ctx context.Context, p *periodMembers, key string, in container) (redis.Cmder, func()) {
	note := func(member string) {
		if i, wanted := f.wanted.index[member]; wanted {
			p.found = append(p.found, i)
		}
	}
	if in == hash {
		cmd := redis.NewMapStringStringCmd(ctx, "hgetall", key)
		return cmd, func() {
			for member := range cmd.Val() {
				note(member)
			}
		}
	}
	cmd := redis.NewStringSliceCmd(ctx, "zrange", key, 0, -1)
	return cmd, func() {
		for _, member := range cmd.Val() {
			note(member)
		}
	}
}

// lookUp looks for some of the wanted members, from an index on.
func (f *finder) lookUp(ctx context.Context, p *periodMembers, key string, in container, from int) (redis.Cmder, func()) {
	some := f.wanted.ids[from:min(from+findAtOnce, len(f.wanted.ids))]
	cmd := redis.NewSliceCmd(ctx, appendTexts([]any{in.lookUp, key}, some)...)
	return cmd, func() {
		for i, there := range cmd.Val() {
			if there != nil {
				p.found = append(p.found, int32(from+i))
			}
		}
	}
}
