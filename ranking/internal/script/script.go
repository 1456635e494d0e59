// Package script holds the Lua scripts that Redis runs, and calls them.
//
// Each verb is one file in ranking/lua; its head documents KEYS, ARGV, result and cost. A
// [Script] is that file with the shared parts of lua/lib it needs in front of it. Run calls it
// by its SHA-1 and, where Redis does not know it, by its source. [Send] does the same for calls
// that share a trip over the connection of package pipeline. A [Reply] takes the answer apart
// with checks, so that an unexpected answer is an error and no wrong value. On a cluster, the scripts of boards
// publish by SPUBLISH.
//
// Only the store uses this package: it chooses the keys, passes the arguments in the order of
// the head, and gives the values of the reply their meaning. The package knows no boards and
// no key names.
package script

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"fmt"

	"github.com/redis/go-redis/v9"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/pipeline"
	"rankcast/ranking/lua"
)

// Script is one Lua verb. The head of its file in ranking/lua gives its arguments and its
// result. It never changes and may be used concurrently.
type Script struct {
	Name   string // the verb, for errors
	Source string
	SHA1   string // of Source, in hex; Redis knows the script by it
	Writes bool   // the script may change a key

	sharded *Script // the form for a cluster; nil: the same
}

// reading returns the script of a verb that changes no key: parts of lua/lib, in this order, and the file of the verb.
// The order and the bytes decide the SHA-1.
func reading(verb string, parts ...string) Script {
	return load(verb, join(verb, parts, false), false)
}

// writing is reading for a verb that changes keys.
func writing(verb string, parts ...string) Script {
	return load(verb, join(verb, parts, false), true)
}

// publishing is writing for a verb that publishes changes of a board. On a cluster it publishes by SPUBLISH: only the
// board's master and its replicas get the message, and not all nodes. The script finds the command in the local PUBLISH.
func publishing(verb string, parts ...string) Script {
	return bothForms(verb, join(verb, parts, false))
}

// bothForms is publishing for a source.
func bothForms(verb string, src []byte) Script {
	s := load(verb, append([]byte("local PUBLISH = 'PUBLISH'\n"), src...), true)
	sharded := load(verb, append([]byte("local PUBLISH = 'SPUBLISH'\n"), src...), true)
	s.sharded = &sharded
	return s
}

// join returns parts of lua/lib, followed by the file of a verb.
func join(verb string, parts []string, whole bool) (src []byte) {
	for _, part := range parts {
		src = append(src, expand("lib/"+part, whole)...)
	}
	return append(src, expand(verb, whole)...)
}

// expand returns a file of ranking/lua by its path without the extension. The head of apply.lua has the form of the
// lines that begin with "--+"; whole says which of them to keep.
func expand(name string, whole bool) (src []byte) {
	text, err := lua.Files.ReadFile(name + ".lua")
	if err != nil {
		panic(err) // the files are part of the binary
	}
	skips := false
	for line := range bytes.Lines(text) {
		directive, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("--+ "))
		file, isFile := bytes.CutPrefix(directive, []byte("file "))
		switch {
		case !ok:
			if !skips {
				src = append(src, line...)
			}
		case isFile:
			if !skips {
				src = append(src, expand("lib/"+string(file), whole)...)
			}
		case string(directive) == "if whole":
			skips = !whole
		case string(directive) == "else":
			skips = whole
		case string(directive) == "end":
			skips = false
		default:
			panic(fmt.Sprintf("%s.lua has the unknown line %q", name, line))
		}
	}
	return src
}

// formFor returns the form of the script for a Redis.
func (s Script) formFor(rdb redis.UniversalClient) Script {
	if s.sharded != nil && pipeline.ClusterOf(rdb) != nil {
		return *s.sharded
	}
	return s
}

// New returns a script that changes keys and is not in ranking/lua: a node does not need its commands.
func New(verb string, src []byte) Script { return newScript(verb, src, true) }

// newScript returns the script with a source.
func newScript(verb string, src []byte, writes bool) Script {
	sum := sha1.Sum(src)
	return Script{Name: verb, Source: string(src), SHA1: hex.EncodeToString(sum[:]), Writes: writes}
}

// loaded has each form of each script of ranking/lua once the variables of this package are made. Only tests read it.
var loaded []Script

// load is newScript for a script of ranking/lua.
func load(verb string, src []byte, writes bool) Script {
	s := newScript(verb, src, writes)
	loaded = append(loaded, s)
	return s
}

// sentOnce is a command that the Redis client must never send a second time by itself: without an
// answer it is not known whether Redis carried the command out. (MaxRetries: -1 does not hold
// on a cluster, whose client has a retry loop of its own.)
type sentOnce struct {
	*redis.Cmd
	script string // its name
	writes bool
}

func (sentOnce) NoRetry() bool { return true }

// Writes reports whether the script of this call may change a key.
func (c sentOnce) Writes() bool { return c.writes }

// Script returns the name of the script, for hooks of the Redis client.
func (c sentOnce) Script() string { return c.script }

// Run calls the script and returns its reply. When Redis does not know the script yet, it has
// not carried it out, so Run sends the source. If the call fails, Run sets Err of the Reply, and
// the Reply has no values. A caller may therefore take all values first, and then look at Err. Err
// wraps definition.ErrUnavailable; after it the script may or may not have run. After a
// definition.MissingRightsError it has changed nothing.
func (s Script) Run(ctx context.Context, rdb redis.UniversalClient, keys []string, args []any) *Reply {
	s = s.formFor(rdb)
	answer, err := s.eval(ctx, rdb, "evalsha", s.SHA1, keys, args)
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		return s.RunSource(ctx, rdb, keys, args)
	}
	return s.reply(answer, err)
}

// RunSource is Run, but sends the source at once.
func (s Script) RunSource(ctx context.Context, rdb redis.UniversalClient, keys []string, args []any) *Reply {
	s = s.formFor(rdb)
	return s.reply(s.eval(ctx, rdb, "eval", s.Source, keys, args))
}

// reply returns the Reply to a call that ended with an answer or an error.
func (s Script) reply(answer []any, err error) *Reply {
	switch reason := refusedBefore(err); {
	case reason != "":
		err = fmt.Errorf("script %s: %w: %w", s.Name, &definition.MissingRightsError{Reason: reason}, err)
	case err != nil:
		err = fmt.Errorf("%w: script %s: %w", definition.ErrUnavailable, s.Name, err)
	}
	return &Reply{Rest: answer, Err: err}
}

// eval sends one EVALSHA or EVAL.
func (s Script) eval(ctx context.Context, rdb redis.UniversalClient, verb, body string, keys []string, args []any) ([]any, error) {
	cmd := s.command(ctx, verb, body, keys, args)
	if err := rdb.Process(ctx, cmd); err != nil {
		return nil, err
	}
	return cmd.Slice()
}

// command is one EVALSHA or EVAL.
func (s Script) command(ctx context.Context, verb, body string, keys []string, args []any) sentOnce {
	all := make([]any, 0, 3+len(keys)+len(args))
	all = append(all, verb, body, len(keys))
	for _, k := range keys {
		all = append(all, k)
	}
	all = append(all, args...)
	cmd := redis.NewCmd(ctx, all...)
	cmd.SetFirstKeyPos(3)
	return sentOnce{cmd, s.Name, s.Writes}
}
