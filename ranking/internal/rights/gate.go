package rights

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"rankcast/ranking/definition"
	"rankcast/ranking/fair"
	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/internal/pipeline"
	"rankcast/ranking/internal/script"
)

const (
	// pauseFirst and pauseMost bound the pause between two checks. Each check that fails doubles the pause.
	pauseFirst = 100 * time.Millisecond
	pauseMost  = 2 * time.Second
)

// Gate stops the writes of a Store while Redis refuses what the node needs. All methods may be called concurrently.
type Gate struct {
	rdb      *pipeline.Client
	keys     keyspace.Keys
	timeout  time.Duration // of a trial and of a probe
	interval time.Duration // between two probes

	closed  atomic.Pointer[closedGate] // nil: the last check has succeeded
	checked atomic.Bool                // a check has succeeded
	refused chan struct{}              // holds one signal: check again
}

// closedGate is the result of a check that failed.
type closedGate struct {
	err       error // of each write that the Gate stops
	allWrites bool  // Redis itself refuses all writes, so the Gate stops none
	full      bool  // Redis refuses the writes that may take memory, and nothing else
}

// New returns an open Gate, and adds it to the hooks of rdb.
func New(rdb *pipeline.Client, keys keyspace.Keys, timeout, interval time.Duration) *Gate {
	g := &Gate{rdb: rdb, keys: keys, timeout: timeout, interval: interval, refused: make(chan struct{}, 1)}
	rdb.AddHook(g)
	return g
}

// Check asks Redis about each command, and opens or closes the Gate. See Store.CheckRights.
func (g *Gate) Check(ctx context.Context) error {
	all, err := g.try(ctx)
	switch {
	case err != nil:
		err = fmt.Errorf("check what Redis allows: %w", err)
		if !g.checked.Load() {
			g.closed.CompareAndSwap(nil, &closedGate{err: err})
		}
		return err
	case len(all) > 0:
		full, writes := true, true
		for _, r := range all {
			refuses, memory := script.RefusesWrites(r.text)
			full, writes = full && memory, writes && refuses
		}
		err := g.missing(all)
		g.closed.Store(&closedGate{err, writes, full})
		return err
	}
	g.checked.Store(true)
	g.closed.Store(nil)
	return nil
}

// Missing returns the definition.MissingRightsError of the last check, or nil.
func (g *Gate) Missing() error {
	if missing, ok := errors.AsType[*definition.MissingRightsError](g.err()); ok {
		return missing
	}
	return nil
}

// Probe sends a write that changes nothing. See Store.ProbeWrite.
func (g *Gate) Probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, g.timeout)
	defer cancel()
	err := g.rdb.SetArgs(ctx, g.keys.WriteProbe(), "", redis.SetArgs{Mode: "XX"}).Err() // a write that may take memory
	if err == nil || errors.Is(err, redis.Nil) {                                        // there is no such key
		return nil
	}
	if known, ok := errors.AsType[*definition.MissingRightsError](err); ok {
		return known
	}
	if text := script.Refusal(err); text != "" {
		return g.missing([]refusal{{text: text, what: "SET"}})
	}
	return fmt.Errorf("%w: probe: %w", definition.ErrUnavailable, err)
}

// Recheck makes Run check again soon.
func (g *Gate) Recheck() {
	select {
	case g.refused <- struct{}{}:
	default:
	}
}

// Run checks again until ctx ends, and returns its error. See Store.RunRightsChecks.
func (g *Gate) Run(ctx context.Context, log *slog.Logger) error {
	logged := ""
	note := func(err error) {
		missing, refused := errors.AsType[*definition.MissingRightsError](err)
		switch {
		case refused && missing.Reason != logged:
			logged = missing.Reason
			attributes := []any{"reason", logged}
			if len(missing.Masters) > 0 {
				attributes = append(attributes, "masters", missing.Masters)
			}
			log.Warn("Redis refuses what this node needs; the node accepts no writes until Redis allows it", attributes...)
		case err == nil && logged != "":
			logged = ""
			log.Info("Redis allows what this node needs")
		}
	}
	note(g.Missing())
	pause := pauseFirst
	probe := time.NewTicker(g.interval)
	defer probe.Stop()
	for {
		// The pause also limits the rate of the checks when Redis refuses a command that no check tries.
		if err := fair.Pause(ctx, pause); err != nil {
			return err
		}
		if g.err() == nil && pause == pauseFirst {
			select {
			case <-g.refused:
			case <-probe.C:
				g.Probe(ctx) // a refusal signals g.refused
				continue
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		err := g.Check(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		note(err)
		if pause = min(2*pause, pauseMost); err == nil {
			pause = pauseFirst
		}
	}
}

// writes reports whether a command is a script that changes keys. The other writes of a node are single commands, for
// tickets: Redis carries each out as a whole, or refuses it.
func writes(cmd redis.Cmder) bool {
	call, ok := cmd.(interface{ Writes() bool })
	return ok && call.Writes()
}

// err returns the error of the last check, or nil.
func (g *Gate) err() error {
	if gate := g.closed.Load(); gate != nil {
		return gate.err
	}
	return nil
}

// RefusesAll returns the error of the last check if each write would fail by it, or nil.
func (g *Gate) RefusesAll() error {
	if gate := g.closed.Load(); gate != nil && !gate.full {
		return gate.err
	}
	return nil
}

// stops returns the error of each write while the Gate is closed to writes, or nil.
func (g *Gate) stops() error {
	if gate := g.closed.Load(); gate != nil && !gate.allWrites {
		return gate.err
	}
	return nil
}

// unneeded are commands that a node does without. It then estimates the memory of a board. The Redis client sends CLIENT
// on each new connection, to give its name and version; Redis 7.0 does not know that.
var unneeded = []string{"memory", "client"}

// observe asks for a check when Redis has refused a command. After a check that failed, the error of the check says more
// than that of the command, so observe gives that error to the command.
func (g *Gate) observe(ctx context.Context, cmd redis.Cmder, err error) error {
	text := script.Refusal(err)
	if text == "" || ctx.Value(trialKey{}) != nil || slices.Contains(unneeded, cmd.Name()) {
		return err
	}
	err = g.noteRefusal(text, err)
	cmd.SetErr(err)
	return err
}

// ObserveReply is observe for the reply of a script that another script called.
func (g *Gate) ObserveReply(r *script.Reply) {
	if text := script.Refusal(r.Err); text != "" {
		r.Err = g.noteRefusal(text, r.Err)
	}
}

// noteRefusal asks for a check. It returns the error of the last check, or err after a check that succeeded. ERR may come
// from the middle of a script, so it keeps its own error while the Gate lets writes through.
func (g *Gate) noteRefusal(text string, err error) error {
	g.Recheck()
	if strings.HasPrefix(text, "ERR ") && g.stops() == nil {
		return err
	}
	return cmp.Or(g.err(), err)
}

// DialHook is part of redis.Hook.
func (g *Gate) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook is part of redis.Hook.
func (g *Gate) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if err := g.stops(); err != nil && writes(cmd) {
			cmd.SetErr(err)
			return err
		}
		return g.observe(ctx, cmd, next(ctx, cmd))
	}
}

// ProcessPipelineHook is part of redis.Hook.
func (g *Gate) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if err := g.stops(); err != nil && slices.ContainsFunc(cmds, writes) {
			for _, cmd := range cmds {
				cmd.SetErr(err)
			}
			return err
		}
		err := next(ctx, cmds)
		if err != nil {
			for _, cmd := range cmds {
				g.observe(ctx, cmd, cmd.Err())
			}
		}
		return err
	}
}
