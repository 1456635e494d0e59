package ranking

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

// replyMeter measures what Redis returns at once: to a command, or to all commands of a pipeline.
type replyMeter struct {
	mu            sync.Mutex
	values, bytes int // the most so far
}

func (m *replyMeter) pass(ctx context.Context, cmds []redis.Cmder, send redis.ProcessPipelineHook) error {
	err := send(ctx, cmds)
	m.note(cmds...)
	return err
}

func (m *replyMeter) note(cmds ...redis.Cmder) {
	values, bytes := 0, 0
	var add func(v any)
	add = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, v := range v {
				add(v)
			}
			return
		case []string:
			for _, v := range v {
				add(v)
			}
			return
		case []redis.Z:
			for _, z := range v {
				add(z.Member)
				add(z.Score)
			}
			return
		case string:
			bytes += len(v)
		default: // a number or nothing
			bytes += 8
		}
		values++
	}
	for _, cmd := range cmds {
		switch cmd := cmd.(type) {
		case *redis.StringSliceCmd:
			add(cmd.Val())
		case *redis.SliceCmd:
			add(cmd.Val())
		case *redis.ZSliceCmd:
			add(cmd.Val())
		case *redis.StringCmd:
			add(cmd.Val())
		case *redis.Cmd:
			add(cmd.Val())
		default:
			add(nil)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.values, m.bytes = max(m.values, values), max(m.bytes, bytes)
}

// longNames are names whose texts in the index are long and many. Texts that are equal are there once, so no part repeats.
var longNames = func() (names []string) {
	run := func(begin string, first, last rune, end string) {
		name := begin
		for r := first; r <= last && len(name)+len(string(r)+end) <= maxNameBytes; r++ {
			name += string(r) + end
		}
		names = append(names, name)
	}
	run("国", '一', '龥', "")  // each character begins a text
	run("国", '㌀', '㍗', "")  // up to six characters fold from one
	run("国", 'ﷲ', 'ﷻ', "国") // likewise, 18 of them
	run("", 'a', 'z', " 国")
	run("国", 'a', 'z', "'b-")
	return names
}()

// However long names and ids are, and however many match, one command of a search returns at most 1,000 values and 128 KiB.
func TestCommandsOfASearchReturnLittle(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		const members = 1000 // as many as a small board has
		s, ctx := newNode(t, url), t.Context()
		define(t, s, definition.Board{Name: "b", Kind: "user"})
		updates := make([]definition.Update, members)
		for i := range updates {
			updates[i] = definition.Update{Member: fmt.Sprintf("%0*d", definition.MaxIDBytes, i), Score: int64(i)}
			must(s.SetProfile(ctx, "user", updates[i].Member, Profile{Name: longNames[i%len(longNames)]}))(t)
		}
		must(s.Apply(ctx, "b", updates))(t)
		var most replyMeter
		s.rdb.AddHook(redistest.Hook(most.pass))
		for _, small := range []int64{members, 0} {
			s.searches.small = small
			for _, text := range []string{"国", "国 国", "国 一", "国 丁 七", "0", longNames[0]} {
				require.Len(t, must(s.Search(ctx, "b", text, MaxFound))(t).List, MaxFound, text)
			}
		}
		t.Log(most.values, most.bytes)
		require.LessOrEqual(t, most.values, 1000)
		require.LessOrEqual(t, most.bytes, 128<<10)
	})
}

// While another caller has the turn, a search on a board of more than PacedEntries members waits. One on a smaller
// board does not.
func TestSearchWaitsForItsTurn(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		s, ctx := newNode(t, url), t.Context()
		define(t, s, definition.Board{Name: "few", Kind: "user"}, definition.Board{Name: "many", Kind: "user"})
		must(s.SetProfile(ctx, "user", benchMember(0), Profile{Name: "Ana"}))(t)
		var updates []definition.Update
		for i := range PacedEntries + 1 {
			updates = append(updates, definition.Update{Member: benchMember(i), Score: 1})
		}
		for board, n := range map[string]int{"few": PacedEntries, "many": PacedEntries + 1} {
			must(s.Apply(ctx, board, updates[:n]))(t)
		}
		find := func(ctx context.Context, board string) error {
			found, err := s.Search(ctx, board, "ana", 10)
			require.True(t, err != nil || len(found.List) == 1)
			return err
		}
		for _, small := range []int64{1000, 0} {
			s.searches.small = small
			waitsForTurn(t, s, func(ctx context.Context) error { return find(ctx, "many") })
			require.NoError(t, s.inTurn(ctx, func() error { return find(ctx, "few") }))
		}
	})
}
