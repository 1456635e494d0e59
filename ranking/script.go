package ranking

import (
	"context"
	"crypto/sha1"
	_ "embed"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"

	"github.com/redis/go-redis/v9"
)

// script is one Lua verb of the lua folder. Its first lines say what it takes
// and gives.
type script struct {
	name string
	src  string
	sha  string // Redis's name for it: its SHA-1 in hex
}

func newScript(name, src string) script {
	sum := sha1.Sum([]byte(src))
	return script{name: name, src: src, sha: hex.EncodeToString(sum[:])}
}

//go:embed lua/apply.lua
var applySrc string

//go:embed lua/page.lua
var pageSrc string

//go:embed lua/places.lua
var placesSrc string

var (
	applyScript  = newScript("apply", applySrc)
	pageScript   = newScript("page", pageSrc)
	placesScript = newScript("places", placesSrc)
)

// once is a command that the client must never send a second time by itself:
// without an answer nobody knows whether it was carried out. (MaxRetries: -1
// does not hold on a cluster, whose client has a retry loop of its own.)
type once struct{ *redis.Cmd }

func (once) NoRetry() bool { return true }

// run calls the script. A server that does not know it yet has not carried it
// out, so it is sent again whole.
func (s script) run(ctx context.Context, rdb redis.UniversalClient, keys []string, args []any) ([]any, error) {
	reply, err := s.eval(ctx, rdb, "evalsha", s.sha, keys, args)
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		reply, err = s.eval(ctx, rdb, "eval", s.src, keys, args)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: script %s: %w", ErrUnavailable, s.name, err)
	}
	return reply, nil
}

func (s script) eval(ctx context.Context, rdb redis.UniversalClient, verb, body string, keys []string, args []any) ([]any, error) {
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

// reply takes a script's answer apart, front to back. The first value that is
// not what it should be sets err; what is taken after that is zero.
type reply struct {
	rest []any
	err  error
}

func (r *reply) next() any {
	if len(r.rest) == 0 {
		r.fail("is too short")
		return nil
	}
	v := r.rest[0]
	r.rest = r.rest[1:]
	return v
}

func (r *reply) fail(why string) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: answer of a script %s", ErrUnavailable, why)
	}
}

func (r *reply) text() string {
	s, ok := r.next().(string)
	if !ok {
		r.fail("has no text where one belongs")
	}
	return s
}

func (r *reply) number() int64 {
	switch v := r.next().(type) {
	case int64:
		return v
	case string:
		n, err := strconv.ParseInt(v, 10, 64)
		if err == nil {
			return n
		}
	}
	r.fail("has no whole number where one belongs")
	return 0
}

func (r *reply) key() Key {
	k, err := parseKey(r.text())
	if err != nil {
		r.fail(err.Error())
	}
	return k
}

func (r *reply) list() *reply {
	v, ok := r.next().([]any)
	if !ok {
		r.fail("has no list where one belongs")
	}
	return &reply{rest: v, err: r.err}
}

// entries takes (member, key) pairs; the first of them has the 0-based rank start.
func (r *reply) entries(start int64, o Order) []Entry {
	entries := make([]Entry, 0, len(r.rest)/2)
	for len(r.rest) > 0 && r.err == nil {
		member, key := r.text(), r.key()
		start++
		entries = append(entries, Entry{Rank: start, Member: member, Score: key.Score(o), Key: key})
	}
	return entries
}

// parseKey reads a key as Redis prints it.
func parseKey(s string) (Key, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) || math.Abs(f) > MaxScore+1 {
		return 0, fmt.Errorf("has the key %q, which is none", s)
	}
	return Key(f), nil
}
