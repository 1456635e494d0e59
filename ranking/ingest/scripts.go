package ingest

import (
	"context"
	"embed"
	"fmt"
	"slices"
	"time"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
)

// files holds the scripts. They are not in ranking/lua, because a node needs none of their commands.
//
//go:embed lua/*.lua
var files embed.FS

var (
	takeScript     = load("take")
	concludeScript = load("conclude")
	releaseScript  = load("release")
	replayScript   = load("replay")
)

// load returns the script of a verb.
func load(verb string) script.Script {
	src, err := files.ReadFile("lua/" + verb + ".lua")
	if err != nil {
		panic(err) // the files are part of the binary
	}
	return script.New("ingest_"+verb, src)
}

// entry is an entry of a stream that was delivered to this consumer or to an earlier one.
type entry struct {
	id     string
	again  bool          // the entry was delivered before, and may have counted
	age    time.Duration // since then
	size   int64         // bytes of the names and values
	fields []string      // names and values in turn; empty: the entry is too large, or was deleted from the stream
}

// taken is the result of take.lua.
type taken struct {
	busy    bool // another consumer holds the lease
	now     time.Time
	length  int64  // of the stream
	oldest  string // id of the first entry of the stream; "" for none
	dead    int64  // length of the stream of dead letters
	entries []entry
}

// lag returns the age of the oldest entry of the stream; 0 for none.
func (t taken) lag() time.Duration {
	at, ok := timeOf(t.oldest)
	if !ok {
		return 0
	}
	return max(0, t.now.Sub(at))
}

// take calls take.lua.
func (c *consumer) take(ctx context.Context, count int) (t taken, err error) {
	r := takeScript.Run(ctx, c.rdb, c.keyNames(), []any{c.token, c.cfg.Lease.Milliseconds(), group, count, maxBatchBytes})
	switch state := r.Text(); state {
	case "ok":
	case "busy":
		t.busy = true
	default:
		r.Fail(fmt.Sprintf("has the unknown state %q", definition.Clip(state)))
	}
	t.now, t.length, t.oldest, t.dead = time.UnixMilli(r.Number()).UTC(), r.Number(), r.Text(), r.Number()
	for r.More() {
		e := entry{id: r.Text(), again: r.Number() == 1, age: time.Duration(r.Number()) * time.Millisecond, size: r.Number(), fields: r.Texts()}
		if len(e.fields)%2 != 0 {
			r.Fail("has an entry of another form")
		}
		t.entries = append(t.entries, e)
	}
	return t, r.Err
}

// conclude calls conclude.lua for the messages that have a result, and for those that have counted nowhere so far. held
// is false where another consumer holds the lease.
func (c *consumer) conclude(ctx context.Context, now time.Time, all []*message) (held bool, err error) {
	var applied, stay, letters []any
	for _, m := range all {
		switch {
		case m.result == resultApplied || m.result == resultDuplicate:
			applied = append(applied, m.id)
		case m.result != "":
			letters = append(letters, m.id, m.origin, m.problem.Code, m.problem.Field, m.problem.Detail)
		case !m.mayCount:
			stay = append(stay, m.id, 0)
		case m.isAbsent:
			stay = append(stay, m.id, 1)
		}
	}
	if len(applied)+len(letters)+len(stay) == 0 {
		return true, nil
	}
	return c.callConclude(ctx, now.Format(definition.TimeForm), applied, stay, letters)
}

// renew renews the lease. held is false where another consumer holds it.
func (c *consumer) renew(ctx context.Context) (held bool, err error) {
	return c.callConclude(ctx, "", nil, nil, nil)
}

func (c *consumer) callConclude(ctx context.Context, now string, applied, stay, letters []any) (held bool, err error) {
	args := []any{c.token, c.cfg.Lease.Milliseconds(), group, now, len(applied), len(stay) / 2}
	args = slices.Concat(args, applied, stay, letters)
	r := concludeScript.Run(ctx, c.rdb, c.keyNames(), args)
	return r.Text() == "ok", r.Err
}

// release calls release.lua.
func (c *consumer) release(ctx context.Context) error {
	return releaseScript.Run(ctx, c.rdb, c.keyNames()[2:], []any{c.token}).Err
}

// keyNames returns the KEYS of take.lua and conclude.lua.
func (c *consumer) keyNames() []string {
	return []string{c.stream, c.keys.DeadLetters(c.stream), c.keys.IngestLease(c.stream)}
}
