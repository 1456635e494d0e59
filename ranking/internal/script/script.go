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

// Script is one Lua verb. The head of its file in ranking/lua says what it takes and
// returns.
type Script struct {
	Name   string
	Source string
	SHA1   string // Redis's name for it: its SHA-1 in hex
}

// load joins parts of lua/lib, in this order, and the file of a verb.
func load(verb string, parts ...string) Script {
	var src []byte
	for _, part := range parts {
		src = append(src, read("lib/"+part)...)
	}
	src = append(src, read(verb)...)
	sum := sha1.Sum(src)
	return Script{Name: verb, Source: string(src), SHA1: hex.EncodeToString(sum[:])}
}

func read(name string) []byte {
	src, err := lua.Files.ReadFile(name + ".lua")
	if err != nil {
		panic(err) // the files are part of the binary
	}
	return src
}

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

// once is a command that the client must never send a second time by itself:
// without an answer nobody knows whether it was carried out. (MaxRetries: -1
// does not hold on a cluster, whose client has a retry loop of its own.)
type once struct{ *redis.Cmd }

func (once) NoRetry() bool { return true }

// Run calls the script. A server that does not know it yet has not carried it
// out, so it is sent again whole.
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

// Reply takes a script's answer apart, front to back. The first value that is
// not what it should be sets err; what is taken after that is zero.
type Reply struct {
	Rest []any
	Err  error
}

func (r *Reply) next() any {
	if len(r.Rest) == 0 {
		r.Fail("is too short")
		return nil
	}
	v := r.Rest[0]
	r.Rest = r.Rest[1:]
	return v
}

func (r *Reply) Fail(why string) {
	if r.Err == nil {
		r.Err = fmt.Errorf("%w: answer of a script %s", definition.ErrUnavailable, why)
	}
}

func (r *Reply) Text() string {
	s, ok := r.next().(string)
	if !ok {
		r.Fail("has no text where one belongs")
	}
	return s
}

// Optional is a text, or "" where there is none.
func (r *Reply) Optional() string {
	if len(r.Rest) > 0 && r.Rest[0] == nil {
		r.Rest = r.Rest[1:]
		return ""
	}
	return r.Text()
}

func (r *Reply) Number() int64 {
	switch v := r.next().(type) {
	case int64:
		return v
	case string:
		n, err := strconv.ParseInt(v, 10, 64)
		if err == nil {
			return n
		}
		// As scores of sorted sets may be told: 1.7955e+12.
		if f, err := strconv.ParseFloat(v, 64); err == nil && f == math.Trunc(f) && math.Abs(f) <= definition.MaxScore {
			return int64(f)
		}
	}
	r.Fail("has no whole number where one belongs")
	return 0
}

func (r *Reply) Key() sortkey.Key {
	k, err := sortkey.Parse(r.Text())
	if err != nil {
		r.Fail(err.Error())
	}
	return k
}

// OptionalKey is a key, or 0 where there is none.
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

func (r *Reply) List() *Reply {
	v, ok := r.next().([]any)
	if !ok {
		r.Fail("has no list where one belongs")
	}
	return &Reply{Rest: v, Err: r.Err}
}
