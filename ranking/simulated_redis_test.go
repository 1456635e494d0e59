package ranking

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

// clockKey holds the time, in µs since 1970, that scripts go by on a real Redis whose
// clock is simulated.
const clockKey = "clock"

// clockHook has the scripts that a client calls take the time from there.
type clockHook struct {
	mu     sync.Mutex
	called map[string]string // SHA-1 of what is called instead, by that of the script
}

var simulatedTime = strings.NewReplacer(
	"redis.call('TIME')", "(function() local t = redis.call('GET', '"+clockKey+"') return {t:sub(1, -7), t:sub(-6)} end)()",
	"call('TIME')", "(function() local t = redis.call('GET', '"+clockKey+"') return {t:sub(1, -7), t:sub(-6)} end)()",
)

func (h *clockHook) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h *clockHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		for _, cmd := range cmds {
			h.replace(cmd.Args())
		}
		return next(ctx, cmds)
	}
}

func (h *clockHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		h.replace(cmd.Args())
		return next(ctx, cmd)
	}
}

// replace makes the call of a script one of the script with the simulated clock.
func (h *clockHook) replace(args []any) {
	sha := func(src string) string {
		sum := sha1.Sum([]byte(src))
		return hex.EncodeToString(sum[:])
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch args[0] {
	case "evalsha": // which Redis does not know at first
		if other, known := h.called[args[1].(string)]; known {
			args[1] = other
		}
	case "eval":
		src := simulatedTime.Replace(args[1].(string))
		h.called[sha(args[1].(string))], args[1] = sha(src), src
	}
}

// simulatedWorlds runs a test in a world whose clock stands still until it is moved: the
// embedded store's, and one that the scripts of a real Redis go by.
func simulatedWorlds(t *testing.T, stores int, cfg Config, boards []definition.Board, test func(t *testing.T, w *world)) {
	redistest.Both(t, func(t *testing.T) { test(t, simulated(t, stores, cfg, boards...)) },
		func(t *testing.T) { test(t, simulatedRedis(t, stores, cfg, boards...)) })
}

func simulatedRedis(t testing.TB, stores int, cfg Config, boards ...definition.Board) *world {
	r := redistest.Start(t)
	plain := redistest.Dial(t, r.URL())
	w := &world{t: t, url: r.URL(), now: friday, clock: &clockHook{called: make(map[string]string)}}
	w.set = func(now time.Time) {
		require.NoError(t, plain.Set(context.Background(), clockKey, strconv.FormatInt(now.UnixMicro(), 10), 0).Err())
	}
	w.set(friday)
	w.open(stores, cfg, boards)
	return w
}
