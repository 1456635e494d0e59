// Package script holds the Lua scripts that Redis runs, and calls them.
//
// Each verb is one file in ranking/lua; its head documents KEYS, ARGV, result and cost. A
// [Script] is that file with the shared parts of lua/lib it needs in front of it. Run calls it
// by its SHA-1 and, where Redis does not know it, by its source. A [Reply] takes the answer
// apart with checks, so that an unexpected answer is an error and no wrong value.
//
// Only the store uses this package: it chooses the keys, passes the arguments in the order of
// the head, and gives the values of the reply their meaning. The package knows no boards and
// no key names.
package script

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"

	"github.com/redis/go-redis/v9"

	"rankcast/ranking/definition"
	"rankcast/ranking/lua"
	"rankcast/ranking/sortkey"
)

// Script is one Lua verb. The head of its file in ranking/lua gives its arguments and its
// result. It never changes and may be used concurrently.
type Script struct {
	Name   string // the verb, for errors
	Source string
	SHA1   string // of Source, in hex; Redis knows the script by it
}

// load joins parts of lua/lib, in this order, and the file of a verb. The order and the bytes
// decide the SHA-1.
func load(verb string, parts ...string) Script {
	var src []byte
	for _, part := range parts {
		src = append(src, read("lib/"+part)...)
	}
	src = append(src, read(verb)...)
	sum := sha1.Sum(src)
	return Script{Name: verb, Source: string(src), SHA1: hex.EncodeToString(sum[:])}
}

// read returns a Lua file by its path without the extension.
func read(name string) []byte {
	src, err := lua.Files.ReadFile(name + ".lua")
	if err != nil {
		panic(err) // the files are part of the binary
	}
	return src
}

// The scripts, one for each verb. Apply has a second form for boards with a window.
var (
	Apply       = load("apply", "order", "ids", "board", "sort_key", "plain")
	ApplyWindow = load("apply", "order", "ids", "board", "sort_key", "window")
	Sweep       = load("sweep", "order", "board", "sort_key", "window")
	Events      = load("events", "order", "place")
	Purge       = load("purge", "order", "place")
	Begin       = load("begin", "ids", "amend")
	Publish     = load("publish", "ids", "amend")
	TakeBack    = load("takeback", "ids", "amend")
	Page        = load("page", "order", "place")
	Info        = load("info")
	Places      = load("places")
	Catalog     = load("catalog")
	Define      = load("define")
	List        = load("list")
	Claim       = load("claim")
	Plan        = load("plan")
	Settle      = load("settle")
	Done        = load("done")
	Censor      = load("censor")
	Raise       = load("raise")
	Rehide      = load("rehide")
	Moderate    = load("moderate", "order", "board")
	Erase       = load("erase", "order", "board")
	Erasing     = load("erasing")
	Erased      = load("erased")
	Clear       = load("clear", "order", "board")
	Drop        = load("drop")
	Forget      = load("forget", "ids")
	Unlist      = load("unlist")
	Hold        = load("hold", "lock")
	Keep        = load("keep", "lock")
	Release     = load("release", "lock")
	Scan        = load("scan")
	Differs     = load("differs", "lock")
	Gather      = load("gather", "lock", "sort_key")
	Swap        = load("swap", "lock")
	Profile     = load("profile")
	Mark        = load("mark")
)

// once is a command that the Redis client must never send a second time by itself: without an
// answer it is not known whether Redis carried the command out. (MaxRetries: -1 does not hold
// on a cluster, whose client has a retry loop of its own.)
type once struct{ *redis.Cmd }

func (once) NoRetry() bool { return true }

// Run calls the script and returns its reply. When Redis does not know the script yet, it has
// not carried it out, so Run sends the source. The error wraps definition.ErrUnavailable; after
// it the script may or may not have run.
func (s Script) Run(ctx context.Context, rdb redis.UniversalClient, keys []string, args []any) (*Reply, error) {
	answer, err := s.eval(ctx, rdb, "evalsha", s.SHA1, keys, args)
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		answer, err = s.eval(ctx, rdb, "eval", s.Source, keys, args)
	}
	if err != nil {
		err = fmt.Errorf("%w: script %s: %w", definition.ErrUnavailable, s.Name, err)
	}
	return &Reply{Rest: answer}, err
}

// eval sends one EVALSHA or EVAL.
func (s Script) eval(ctx context.Context, rdb redis.UniversalClient, verb, body string, keys []string, args []any) ([]any, error) {
	all := make([]any, 0, 3+len(keys)+len(args))
	all = append(all, verb, body, len(keys))
	for _, k := range keys {
		all = append(all, k)
	}
	all = append(all, args...)
	cmd := redis.NewCmd(ctx, all...)
	cmd.SetFirstKeyPos(3)
	if err := rdb.Process(ctx, once{cmd}); err != nil {
		return nil, err
	}
	return cmd.Slice()
}

// Reply takes the answer of a script apart, from front to back. The first value of an
// unexpected type sets Err, and its method returns zero or "". One goroutine may use a Reply.
type Reply struct {
	Rest []any // the values not taken yet
	Err  error // the first error; it wraps definition.ErrUnavailable
}

// next takes the next value.
func (r *Reply) next() any {
	if len(r.Rest) == 0 {
		r.Fail("is too short")
		return nil
	}
	v := r.Rest[0]
	r.Rest = r.Rest[1:]
	return v
}

// Fail sets Err unless it is set. why follows the words "the answer of a script".
func (r *Reply) Fail(why string) {
	if r.Err == nil {
		r.Err = fmt.Errorf("%w: the answer of a script %s", definition.ErrUnavailable, why)
	}
}

// Text takes a text.
func (r *Reply) Text() string {
	s, ok := r.next().(string)
	if !ok {
		r.Fail("has another value in place of a text")
	}
	return s
}

// Optional takes a text, or returns "" for nil.
func (r *Reply) Optional() string {
	if len(r.Rest) > 0 && r.Rest[0] == nil {
		r.Rest = r.Rest[1:]
		return ""
	}
	return r.Text()
}

// Number takes a whole number, as an integer, as text, or as Redis prints the score of a sorted
// set.
func (r *Reply) Number() int64 {
	switch v := r.next().(type) {
	case int64:
		return v
	case string:
		n, err := strconv.ParseInt(v, 10, 64)
		if err == nil {
			return n
		}
		// Redis may print the score of a sorted set as 1.7955e+12.
		if f, err := strconv.ParseFloat(v, 64); err == nil && f == math.Trunc(f) && math.Abs(f) <= definition.MaxScore {
			return int64(f)
		}
	}
	r.Fail("has another value in place of a whole number")
	return 0
}

// Key takes a sort key.
func (r *Reply) Key() sortkey.Key {
	k, err := sortkey.Parse(r.Text())
	if err != nil {
		r.Fail(err.Error())
	}
	return k
}

// OptionalKey takes a sort key, or returns 0 for "".
func (r *Reply) OptionalKey() float64 {
	text := r.Text()
	if text == "" {
		return 0
	}
	k, err := sortkey.Parse(text)
	if err != nil {
		r.Fail(err.Error())
	}
	return float64(k)
}

// List takes a list and returns a Reply of its values. That Reply starts with the Err of r.
func (r *Reply) List() *Reply {
	v, ok := r.next().([]any)
	if !ok {
		r.Fail("has another value in place of a list")
	}
	return &Reply{Rest: v, Err: r.Err}
}
