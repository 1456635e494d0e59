package ranking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/redis/go-redis/v9"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/internal/script"
)

const (
	// lookAgain is how old a node lets its copy of the definitions get while it is
	// in use: a change is in force on all nodes after so long.
	lookAgain = time.Second
	// lookSoon is how old it may be when it does not know what a caller speaks of, who
	// waits for as long: what was defined a moment ago is found, and names that there
	// are not cost Redis fifty looks a second at most.
	lookSoon = 20 * time.Millisecond
	// lease is for how long after a look a node may write by what it saw. Redis
	// itself holds it to that, by its own clock: apply.lua.
	lease = 3 * time.Second
	// grace is how long after a board was to leave nobody writes to it any
	// more, with a second for masters whose clocks differ.
	grace = lease + time.Second
	// maxDefinitions bounds the boards, and the events, that are defined, and
	// maxDefinitionBytes their JSON, all of which each node reads when some of it changes.
	maxDefinitions     = 1000
	maxDefinitionBytes = 2 << 20
)

// The fields of the hash that definitions are kept in: 'board:<slot>' and
// 'event:<name>' hold JSON, 'leaving:<slot>' since when a board takes nothing any more,
// 'receiver:<board>' until when somebody wants its closed periods delivered, of all
// boards under ”; in µs since 1970.
const (
	boardField   = "board:"
	eventField   = "event:"
	leavingField = "leaving:"
	wantedField  = "receiver:"
	// profilesField and a kind say that there are, or have been, profiles of that kind.
	profilesField = "profiles:"
)

// definitions are all that is defined, at one version. They never change.
type definitions struct {
	version  string
	boards   map[string]*definition.Compiled // by slot
	events   map[string]*definition.Event    // by name
	broken   map[string]error                // field to why it is not understood: a newer version wrote it
	leaving  map[string]int64                // slot of a board that goes: since when, µs since 1970
	profiled map[string]bool                 // kinds that have, or have had, profiles
	values   map[string]string               // field to JSON, of boards and events
	hidden   *moderation                     // who is hidden where
	readAt   int64                           // when Redis was asked, by its own clock, µs since 1970
	at       time.Time                       // and by this process's, or a little before
	look     int64                           // the number of the look that found them
}

// compiled finds the definition that a name is of.
func (d *definitions) compiled(n definition.Name) (*definition.Compiled, error) {
	r, err := d.compiledIn(n.Slot())
	if r == nil && err == nil {
		err = unknownBoard(n.Instance())
	}
	return r, err
}

// compiledIn finds the definition of a slot; nil where there is none, or not any more.
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
	return nil, unknownEvent(name)
}

// catalog is a node's copy of the definitions, which live in Redis. It is looked up
// again when it is used and has grown old. It may be used concurrently.
type catalog struct {
	rdb     redis.UniversalClient
	keys    keyspace.Keys
	timeout time.Duration
	clock   redisClock

	latest  atomic.Pointer[definitions] // nil: never read
	looks   atomic.Int64                // how many have begun
	running sync.WaitGroup              // the look under way

	mu      sync.Mutex   // guards what follows, and storing latest
	looking *catalogRead // under way; nil: none
	failed  time.Time    // when the last look failed; zero: it did not
}

// catalogRead is one reading of the definitions. All who want it wait for it together.
type catalogRead struct {
	number int64
	done   chan struct{}
	found  *definitions // read after done, as is err
	err    error
}

func (l *catalogRead) wait(ctx context.Context) (*definitions, error) {
	select {
	case <-l.done:
		return l.found, l.err
	case <-ctx.Done():
		return nil, fmt.Errorf("read definitions: %w: %w", ErrUnavailable, ctx.Err())
	}
}

// get gives the definitions, from Redis where the copy is old; the copy where Redis
// does not answer. While it does not, one caller in a second waits for it.
func (c *catalog) get(ctx context.Context) (*definitions, error) {
	d := c.latest.Load()
	if d == nil {
		return c.readNewer(ctx, nil)
	}
	age := time.Since(d.at)
	if age < lookAgain {
		return d, nil
	}
	c.mu.Lock()
	failing := !c.failed.IsZero()
	if failing && time.Since(c.failed) < lookAgain || c.looking != nil && (failing || age < lease) {
		c.mu.Unlock()
		return d, nil // another looks meanwhile
	}
	l := c.joinRead()
	c.mu.Unlock()
	if newer, err := l.wait(ctx); err == nil {
		return newer, nil
	}
	return d, nil
}

// readNewer gives definitions that were looked up after d, nil for any.
func (c *catalog) readNewer(ctx context.Context, d *definitions) (*definitions, error) {
	if d == nil {
		return c.readAfter(ctx, 0)
	}
	return c.readAfter(ctx, d.look)
}

// readFresh gives the definitions as they are now: what an answer under way says may be
// older.
func (c *catalog) readFresh(ctx context.Context) (*definitions, error) {
	return c.readAfter(ctx, c.looks.Load())
}

// readSoon is fresh for a caller who did not find something in d, which may be names that
// there are not, in any number.
func (c *catalog) readSoon(ctx context.Context, d *definitions) (*definitions, error) {
	begun := c.looks.Load()
	pause := time.NewTimer(lookSoon - time.Since(d.at))
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-ctx.Done():
	}
	return c.readAfter(ctx, begun)
}

// findDefinition looks something up in the definitions. What is not known there is looked for once
// more by what Redis has, anew, for another node may have defined it a moment ago.
func findDefinition[T any](ctx context.Context, c *catalog, in func(d *definitions, anew bool) (T, error)) (T, error) {
	var none T
	d, err := c.get(ctx)
	if err != nil {
		return none, err
	}
	found, err := in(d, false)
	if errors.Is(err, ErrUnknownBoard) || errors.Is(err, ErrUnknownPeriod) || errors.Is(err, ErrUnknownEvent) {
		if d, err = c.readSoon(ctx, d); err != nil {
			return none, err
		}
		return in(d, true)
	}
	return found, err
}

// readAfter gives what a look has found that came after that of a number.
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

// joinRead gives the look under way, or begins one, which no caller that gives up ends
// for the others. The caller holds mu.
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
			return
		}
		found.look = l.number
		l.found = found
		c.latest.Store(found)
	})
	return l
}

// read asks Redis. What d has is not made anew where it is the same.
func (c *catalog) read(ctx context.Context, d *definitions) (*definitions, error) {
	known := ""
	if d != nil {
		known = d.version
	}
	at := time.Now()
	r, err := script.Catalog.Run(ctx, c.rdb, []string{c.keys.Definitions()}, []any{known})
	if err != nil {
		return nil, err
	}
	latest := &definitions{readAt: r.Number(), at: at}
	revision := r.Number()
	latest.version = r.Text()
	fields := r.List()
	if fields.Err != nil {
		return nil, fields.Err
	}
	c.clock.observe(latest.readAt)
	was := &moderation{}
	if d != nil {
		was = d.hidden
	}
	if latest.hidden, err = c.readModeration(ctx, was, revision, latest.readAt); err != nil {
		return nil, err
	}
	if latest.version == known {
		latest.boards, latest.events, latest.broken = d.boards, d.events, d.broken
		latest.leaving, latest.values, latest.profiled = d.leaving, d.values, d.profiled
		return latest, nil
	}
	if latest.version == noVersion && d != nil {
		// Redis has lost all it had. What boards there are need not be lost with it.
		if kept := d.stored(); len(kept) > 0 {
			if err := c.change(ctx, latest, catalogChange{fields: kept}); err != nil && !errors.Is(err, errDefinitionsChanged) {
				return nil, err
			}
			return c.read(ctx, nil)
		}
	}
	return latest, latest.decode(fields)
}

// stored are the fields of what was not being deleted, and of kinds that have profiles:
// whoever knows of them sets profiles without noting it again.
func (d *definitions) stored() map[string]string {
	kept := maps.Clone(d.values)
	for slot := range d.leaving {
		delete(kept, boardField+slot)
	}
	for kind := range d.profiled {
		kept[profilesField+kind] = "1"
	}
	return kept
}

// decode reads the fields of the hash.
func (d *definitions) decode(fields *script.Reply) error {
	d.boards, d.events, d.broken = make(map[string]*definition.Compiled), make(map[string]*definition.Event), make(map[string]error)
	d.leaving, d.values, d.profiled = make(map[string]int64), make(map[string]string), make(map[string]bool)
	for len(fields.Rest) > 0 && fields.Err == nil {
		field := fields.Text()
		if slot, ok := strings.CutPrefix(field, leavingField); ok {
			d.leaving[slot] = fields.Number()
			continue
		}
		value, err := fields.Text(), error(nil)
		if kind, ok := strings.CutPrefix(field, profilesField); ok {
			d.profiled[kind] = true
			continue
		}
		if slot, ok := strings.CutPrefix(field, boardField); ok {
			var r *definition.Compiled
			if r, err = compile(slot, value); err == nil {
				d.boards[slot] = r
			}
		} else if name, ok := strings.CutPrefix(field, eventField); ok {
			e := new(definition.Event)
			if err = json.Unmarshal([]byte(value), e); err == nil {
				d.events[name] = e
			}
		} else {
			continue
		}
		d.values[field] = value
		if err != nil {
			// Not the error's own kind: nothing is wrong with what a caller sent.
			d.broken[field] = fmt.Errorf("%w: the definition of %q is not understood: %v", ErrUnavailable, field, err)
		}
	}
	return fields.Err
}

func compile(slot, value string) (*definition.Compiled, error) {
	var d definition.Board
	if err := json.Unmarshal([]byte(value), &d); err != nil {
		return nil, err
	}
	if d.Slot() != slot {
		return nil, fmt.Errorf("it is of %q", d.Name)
	}
	return definition.Compile(d)
}

// noVersion is the version where nothing was ever defined.
const noVersion = "0"

var errDefinitionsChanged = errors.New("definitions have changed meanwhile")

// change carries out c if the definitions are still d.
func (c *catalog) change(ctx context.Context, d *definitions, do catalogChange) error {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	empty := slices.Sorted(maps.Keys(do.mustBeEmpty))
	keys := []string{c.keys.Definitions(), c.keys.Agenda()}
	for _, slot := range empty {
		keys = append(keys, c.keys.Instances(slot))
	}
	args := []any{d.version, newEpoch(), do.deadline, grace.Microseconds(), len(do.reschedule)}
	for _, slot := range do.reschedule {
		args = append(args, slot)
	}
	for _, field := range slices.Sorted(maps.Keys(do.fields)) {
		args = append(args, field, do.fields[field])
	}
	r, err := script.Define.Run(ctx, c.rdb, keys, args)
	if err != nil {
		return err
	}
	switch state := r.Text(); state {
	case "ok":
		return nil
	case "changed":
		return errDefinitionsChanged
	case "late":
		if now := r.Number(); r.Err == nil {
			c.clock.set(now)
		}
		return cmp.Or(r.Err, errDefinitionsChanged) // it is planned again, by that clock
	case "busy":
		i := r.Number()
		if r.Err == nil && 0 <= i && i < int64(len(empty)) {
			return do.mustBeEmpty[empty[i]]
		}
	}
	r.Fail("is none of a definition")
	return r.Err
}
