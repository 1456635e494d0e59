package ranking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"rankcast/ranking/definition"
	"rankcast/ranking/fair"
	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/internal/rights"
	"rankcast/ranking/internal/script"
)

const (
	// lookAgain is the greatest age of a node's copy of the definitions while the node uses
	// it, if Redis answers in time; the lease is the greatest in any case. So a change is in
	// force on all nodes after this time.
	lookAgain = time.Second
	// lookEarly is the age of the copy at which a caller starts a read of the definitions without waiting
	// for it: a node may take long to read many. So only the first caller after a pause waits.
	lookEarly = lookAgain / 2
	// lookSoon is the greatest age of the copy when a name is not in it. The caller waits
	// as long. So the node finds a definition made a moment ago, and unknown names cost
	// Redis at most fifty reads a second.
	lookSoon = 20 * time.Millisecond
	// lease is how long after a read a node may write by the definitions that it read.
	// Redis enforces the lease by its own clock: apply.lua.
	lease = 3 * time.Second
	// grace is how long after the start of its deletion a board may still get writes. It is
	// the lease, and a second for masters with different clocks.
	grace = lease + time.Second
	// maxDefinitions bounds the boards, and likewise the events. maxDefinitionBytes bounds
	// their JSON, because each node reads all of it after each change: with 10,000 boards a change took 72 ms on a node
	// of two cores.
	maxDefinitions     = 10_000
	maxDefinitionBytes = 4 << 20
)

// The fields of the hash of definitions. 'board:<slot>' and 'event:<name>' hold JSON.
// 'leaving:<slot>' holds since when a board is under deletion and takes no writes.
// 'ids:' and one of these fields holds since when the request ids of that definition count for its time: before, they
// counted for a shorter one, or on fewer boards.
// 'receiver:<board>' holds until when its closed periods wait for a receiver; 'receiver:*'
// holds it for all boards. The times are in µs since 1970.
const (
	boardField   = "board:"
	eventField   = "event:"
	leavingField = "leaving:"
	wantedField  = "receiver:"
	idsField     = "ids:"
	// profilesField and a kind: a member of that kind has, or has had, a profile; with
	// profiles.EveryKind, members of any kind may have one.
	profilesField = "profiles:"
	// forgottenField is a revision of the moderation, see censor.lua.
	forgottenField = "forgotten"
)

// definitions are all boards and events, at one version. They never change.
type definitions struct {
	version  string
	boards   map[string]*definition.Compiled // by slot
	events   map[string]*definition.Event    // by name
	broken   map[string]error                // field to why this node cannot read it: a newer version wrote it
	leaving  map[string]int64                // slot of a board under deletion: since when, µs since 1970
	profiled map[string]bool                 // kinds that have, or have had, profiles
	values   map[string]string               // field to JSON, of boards and events
	idsSince map[string]int64                // field of a definition: since when its ids count for its time, µs since 1970
	idSpans  map[string]time.Duration        // by slot: the span of the boards' request ids, see definition.IDSpanOf
	hidden   *moderation                     // the hidden members
	readAt   int64                           // when the node asked Redis, by Redis's clock, µs since 1970
	at       time.Time                       // the same moment by this process's clock, or a little before
	look     int64                           // number of the read that found them
}

// compiled finds the definition for a name.
func (d *definitions) compiled(n definition.Name) (*definition.Compiled, error) {
	r, err := d.compiledIn(n.Slot())
	if r == nil && err == nil {
		err = d.unknownName(n)
	}
	return r, err
}

// compiledNamed is compiled for a name that is not parsed yet.
func (d *definitions) compiledNamed(instance string) (*definition.Compiled, error) {
	n, err := definition.ParseName(instance)
	if err != nil {
		return nil, err
	}
	return d.compiled(n)
}

// unknownName is the error of a name that has no definition. It shows the definition that has the same
// base and another number of placeholders, where there is one.
func (d *definitions) unknownName(n definition.Name) error {
	for parts, slot := range definition.SlotsOf(n.Base) {
		if other := d.boards[slot]; other != nil && parts != len(n.Parts) {
			return &definition.FieldError{Field: "board", Reason: fmt.Sprintf("there is no board %q", n.Instance()),
				Kind: definition.ErrUnknownBoard, Hint: "want a name like " + other.Board.Name}
		}
	}
	return unknownBoard(n.Instance())
}

// compiledIn finds the definition of a slot. It returns nil for a slot that has none, and
// for a board under deletion.
func (d *definitions) compiledIn(slot string) (*definition.Compiled, error) {
	if _, leaving := d.leaving[slot]; leaving {
		return nil, nil
	}
	if r := d.boards[slot]; r != nil {
		return r, nil
	}
	return nil, d.broken[boardField+slot]
}

// event finds an event by its name.
func (d *definitions) event(name string) (*definition.Event, error) {
	if e := d.events[name]; e != nil {
		return e, nil
	}
	if err := d.broken[eventField+name]; err != nil {
		return nil, err
	}
	return nil, d.unknownEvent(name)
}

// catalog is a node's copy of the definitions, which live in Redis. A call that uses an old
// copy reads it anew. catalog may be used concurrently.
type catalog struct {
	rdb     redis.UniversalClient
	keys    keyspace.Keys
	timeout time.Duration
	rights  *rights.Gate
	clock   redisClock

	latest  atomic.Pointer[definitions] // nil: never read
	looks   atomic.Int64                // number of reads begun
	running sync.WaitGroup              // the read under way

	mu      sync.Mutex   // guards the fields below, and the store to latest
	looking *catalogRead // the read under way; nil: none
	failed  time.Time    // when the last read failed; zero: it did not
}

// catalogRead is one read of the definitions. All its callers share it.
type catalogRead struct {
	number int64
	done   chan struct{}
	found  *definitions // valid after done, like err
	err    error
}

func (l *catalogRead) wait(ctx context.Context) (*definitions, error) {
	select {
	case <-l.done:
		return l.found, l.err
	case <-ctx.Done():
		return nil, fmt.Errorf("read definitions: %w: %w", definition.ErrUnavailable, ctx.Err())
	}
}

// get returns the definitions. It reads an old copy anew, and returns the old copy when
// Redis does not answer. While Redis is away, one caller a second waits for it. A caller does
// not wait while the copy is younger than lookAgain, or is read already and within its lease.
func (c *catalog) get(ctx context.Context) (*definitions, error) {
	d := c.latest.Load()
	if d == nil {
		return c.readNewer(ctx, nil)
	}
	age := time.Since(d.at)
	if age < lookEarly {
		return d, nil
	}
	c.mu.Lock()
	failing := !c.failed.IsZero()
	if failing && time.Since(c.failed) < lookAgain || c.looking != nil && (failing || age < lease) {
		c.mu.Unlock()
		return d, nil // another caller reads them
	}
	l := c.joinRead()
	c.mu.Unlock()
	if age < lookAgain {
		return d, nil // the read goes on in the background
	}
	if newer, err := l.wait(ctx); err == nil {
		return newer, nil
	}
	return d, nil
}

// checkLease returns ErrUnavailable when the caller has waited for a read of the definitions since
// a time, in vain: ctx has ended, or Redis has not answered and the copy is so old that Redis would
// refuse a write by it.
func (c *catalog) checkLease(ctx context.Context, since time.Time) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: read definitions: %w", definition.ErrUnavailable, err)
	}
	d := c.latest.Load()
	c.mu.Lock()
	failed := c.failed
	c.mu.Unlock()
	if failed.After(since) && (d == nil || time.Since(d.at) >= lease) {
		return fmt.Errorf("%w: Redis did not answer a read of the definitions", definition.ErrUnavailable)
	}
	return nil
}

// readNewer returns definitions from a read after that of d; for nil, from any read.
func (c *catalog) readNewer(ctx context.Context, d *definitions) (*definitions, error) {
	if d == nil {
		return c.readAfter(ctx, 0)
	}
	return c.readAfter(ctx, d.look)
}

// readFresh returns the definitions as they are now. It does not use the answer of a read
// under way, which may be older.
func (c *catalog) readFresh(ctx context.Context) (*definitions, error) {
	return c.readAfter(ctx, c.looks.Load())
}

// readSoon is readFresh for a caller that did not find a name in d. It waits until d has
// the age lookSoon, because callers may send any number of unknown names.
func (c *catalog) readSoon(ctx context.Context, d *definitions) (*definitions, error) {
	begun := c.looks.Load()
	fair.Pause(ctx, lookSoon-time.Since(d.at))
	return c.readAfter(ctx, begun)
}

// findDefinition looks for something in the definitions. When in does not find it,
// findDefinition reads the definitions from Redis and calls in again, with anew set. While Redis
// refuses each write, findDefinition returns that error for what it does not find.
// Another node may have defined it a moment ago.
func findDefinition[T any](ctx context.Context, c *catalog, in func(d *definitions, anew bool) (T, error)) (T, error) {
	var none T
	d, err := c.get(ctx)
	if err != nil {
		return none, err
	}
	found, err := in(d, false)
	if errors.Is(err, definition.ErrUnknownBoard) || errors.Is(err, definition.ErrUnknownPeriod) ||
		errors.Is(err, definition.ErrUnknownEvent) {
		if err := c.rights.RefusesAll(); err != nil {
			return none, err // the node could not add its own definitions
		}
		if d, err = c.readSoon(ctx, d); err != nil {
			return none, err
		}
		return in(d, true)
	}
	return found, err
}

// readAfter returns the definitions of a read with a higher number.
func (c *catalog) readAfter(ctx context.Context, number int64) (*definitions, error) {
	for {
		c.mu.Lock()
		if d := c.latest.Load(); d != nil && d.look > number {
			c.mu.Unlock()
			return d, nil
		}
		l := c.joinRead()
		c.mu.Unlock()
		d, err := l.wait(ctx)
		if l.number > number || ctx.Err() != nil {
			return d, err
		}
	}
}

// joinRead returns the read under way, or begins one. A caller that gives up does not end
// the read for the others. The caller holds mu.
func (c *catalog) joinRead() *catalogRead {
	if c.looking != nil {
		return c.looking
	}
	l := &catalogRead{number: c.looks.Add(1), done: make(chan struct{})}
	c.looking = l
	c.running.Go(func() {
		defer close(l.done)
		ctx, cancel := context.WithTimeout(context.Background(), c.timeout)
		defer cancel()
		found, err := c.read(ctx, c.latest.Load())
		c.mu.Lock()
		defer c.mu.Unlock()
		c.looking, c.failed = nil, time.Time{}
		if err != nil {
			l.err, c.failed = fmt.Errorf("read definitions: %w", err), time.Now()
			if isLayout(err) {
				c.latest.Store(nil) // what the node knows is of other data, which it must not touch
			}
			return
		}
		found.look = l.number
		l.found = found
		c.latest.Store(found)
	})
	return l
}

// read asks Redis for the definitions. It reuses the content of d when the version is the
// same.
func (c *catalog) read(ctx context.Context, d *definitions) (*definitions, error) {
	known := ""
	if d != nil {
		known = d.version
	}
	at := time.Now()
	r := script.Catalog.Run(ctx, c.rdb, []string{c.keys.Definitions()}, []any{known})
	latest := &definitions{readAt: r.Number(), at: at}
	layout := r.Text()
	latest.version = r.Text()
	revision := r.Number()
	fields := r.List()
	if fields.Err != nil {
		return nil, fields.Err
	}
	if err := c.checkLayout(layout, latest.version); err != nil {
		return nil, err
	}
	c.clock.observe(latest.readAt)
	was := &moderation{}
	if d != nil {
		was = d.hidden
	}
	var err error
	if latest.hidden, err = c.readModeration(ctx, was, revision, latest.readAt); err != nil {
		return nil, err
	}
	if latest.version == known {
		latest.boards, latest.events, latest.broken = d.boards, d.events, d.broken
		latest.leaving, latest.values, latest.profiled, latest.idSpans = d.leaving, d.values, d.profiled, d.idSpans
		latest.idsSince = d.idsSince
		return latest, nil
	}
	if latest.version == noVersion && d != nil {
		// Redis has lost everything. The node restores the definitions that it knows.
		if kept := d.stored(); len(kept) > 0 {
			if err := c.change(ctx, latest, catalogChange{fields: kept}); err != nil && !errors.Is(err, errDefinitionsChanged) {
				return nil, err
			}
			return c.read(ctx, nil)
		}
	}
	return latest, latest.decode(fields, d)
}

// noVersion is the version before the first definition.
const noVersion = "0"

var errDefinitionsChanged = errors.New("the definitions have changed since they were read")

// change writes do if the definitions are still those of d; else it returns
// errDefinitionsChanged.
func (c *catalog) change(ctx context.Context, d *definitions, do catalogChange) error {
	empty := slices.Sorted(maps.Keys(do.mustBeEmpty))
	keys := []string{c.keys.Definitions(), c.keys.Agenda(), c.keys.Audit()}
	for _, slot := range empty {
		keys = append(keys, c.keys.Instances(slot), c.keys.PendingInstances(slot))
	}
	args := []any{d.version, newEpoch(), do.deadline, grace.Microseconds(), auditKept, Layout, len(do.acts), len(do.reschedule)}
	for _, act := range do.acts {
		line, err := act.line()
		if err != nil {
			return err
		}
		args = append(args, line)
	}
	args = appendTexts(args, do.reschedule)
	for _, field := range slices.Sorted(maps.Keys(do.fields)) {
		args = append(args, field, do.fields[field])
	}
	r := script.Define.Run(ctx, c.rdb, keys, args)
	switch r.Text() {
	case "ok":
		return nil
	case "changed":
		return errDefinitionsChanged
	case "late":
		if now := r.Number(); r.Err == nil {
			c.clock.set(now)
		}
		return cmp.Or(r.Err, errDefinitionsChanged) // the caller plans again, by that clock
	case "busy":
		const each = 2 // sets
		i := r.Number() / each
		if r.Err == nil && 0 <= i && i < int64(len(empty)) {
			return do.mustBeEmpty[empty[i]]
		}
	}
	r.Fail("has an unknown state of a definition")
	return r.Err
}
