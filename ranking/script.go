package ranking

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"

	"github.com/redis/go-redis/v9"

	"rankcast/ranking/lua"
)

// script is one Lua verb. The head of its file in ranking/lua says what it takes and
// returns.
type script struct {
	name string
	src  string
	sha  string // Redis's name for it: its SHA-1 in hex
}

// newScript joins parts of lua/lib, in this order, and the file of a verb.
func newScript(verb string, parts ...string) script {
	var src []byte
	for _, part := range parts {
		src = append(src, read("lib/"+part)...)
	}
	src = append(src, read(verb)...)
	sum := sha1.Sum(src)
	return script{name: verb, src: string(src), sha: hex.EncodeToString(sum[:])}
}

func read(name string) []byte {
	src, err := lua.Files.ReadFile(name + ".lua")
	if err != nil {
		panic(err) // the files are part of the binary
	}
	return src
}

var (
	applyScript    = newScript("apply", "order", "ids", "board", "sort_key", "plain")
	windowScript   = newScript("apply", "order", "ids", "board", "sort_key", "window")
	sweepScript    = newScript("sweep", "order", "board", "sort_key", "window")
	eventsScript   = newScript("events", "order", "place")
	purgeScript    = newScript("purge", "order", "place")
	beginScript    = newScript("begin", "ids", "amend")
	publishScript  = newScript("publish", "ids", "amend")
	takeBackScript = newScript("takeback", "ids", "amend")
	pageScript     = newScript("page", "order", "place")
	infoScript     = newScript("info")
	placesScript   = newScript("places")
	catalogScript  = newScript("catalog")
	defineScript   = newScript("define")
	listScript     = newScript("list")
	claimScript    = newScript("claim")
	planScript     = newScript("plan")
	settleScript   = newScript("settle")
	doneScript     = newScript("done")
	censorScript   = newScript("censor")
	raiseScript    = newScript("raise")
	rehideScript   = newScript("rehide")
	moderateScript = newScript("moderate", "order", "board")
	eraseScript    = newScript("erase", "order", "board")
	erasingScript  = newScript("erasing")
	erasedScript   = newScript("erased")
	clearScript    = newScript("clear", "order", "board")
	dropScript     = newScript("drop")
	forgetScript   = newScript("forget", "ids")
	unlistScript   = newScript("unlist")
	holdScript     = newScript("hold", "lock")
	keepScript     = newScript("keep", "lock")
	releaseScript  = newScript("release", "lock")
	scanScript     = newScript("scan")
	differsScript  = newScript("differs", "lock")
	gatherScript   = newScript("gather", "lock", "sort_key")
	swapScript     = newScript("swap", "lock")
	profileScript  = newScript("profile")
	markScript     = newScript("mark")
)

// once is a command that the client must never send a second time by itself:
// without an answer nobody knows whether it was carried out. (MaxRetries: -1
// does not hold on a cluster, whose client has a retry loop of its own.)
type once struct{ *redis.Cmd }

func (once) NoRetry() bool { return true }

// run calls the script. A server that does not know it yet has not carried it
// out, so it is sent again whole.
func (s script) run(ctx context.Context, rdb redis.UniversalClient, keys []string, args []any) (*reply, error) {
	answer, err := s.eval(ctx, rdb, "evalsha", s.sha, keys, args)
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		answer, err = s.eval(ctx, rdb, "eval", s.src, keys, args)
	}
	if err != nil {
		err = fmt.Errorf("%w: script %s: %w", ErrUnavailable, s.name, err)
	}
	return &reply{rest: answer}, err
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

// optional is a text, or "" where there is none.
func (r *reply) optional() string {
	if len(r.rest) > 0 && r.rest[0] == nil {
		r.rest = r.rest[1:]
		return ""
	}
	return r.text()
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
		// As scores of sorted sets may be told: 1.7955e+12.
		if f, err := strconv.ParseFloat(v, 64); err == nil && f == math.Trunc(f) && math.Abs(f) <= MaxScore {
			return int64(f)
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

// optionalKey is a key, or 0 where there is none.
func (r *reply) optionalKey() float64 {
	text := r.text()
	if text == "" {
		return 0
	}
	k, err := parseKey(text)
	if err != nil {
		r.fail(err.Error())
	}
	return float64(k)
}

func (r *reply) list() *reply {
	v, ok := r.next().([]any)
	if !ok {
		r.fail("has no list where one belongs")
	}
	return &reply{rest: v, err: r.err}
}
