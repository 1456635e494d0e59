package bench

import (
	"context"
	"fmt"
	"math/rand/v2"

	"rankcast/cmd/rankcast/internal/flags"
	"rankcast/cmd/rankcast/internal/term"
)

// Gifts is rankcast bench gifts: events with an id, each of which counts on five boards.
type Gifts struct {
	Loop  loopFlags `embed:""`
	Users int       `default:"100000" range:"1..1000000" placeholder:"N" help:"Users who give (default ${default})."`
	Stars int       `default:"200" placeholder:"N" help:"Stars who get the gifts (default ${default})."`
}

// Validate checks the flags.
func (g *Gifts) Validate() error { return flags.CheckRange("stars", g.Stars, 1, min(10_000, g.Users)) }

func (g *Gifts) about() about {
	return about{
		Name: "gifts", What: "one event with an id, which counts on five boards", Unit: "gift",
		Settings: term.Counted(g.Users, "user") + ", " + term.Counted(g.Stars, "star") + ", " + g.Loop.settings(),
		Bare:     "five ZINCRBY, one after the other, on sets of the same sizes",
	}
}

// The widths in digits of what a gift names.
const (
	memberDigits = 7
	starDigits   = 5
)

func userName(n int) string { return fmt.Sprintf("u%0*d", memberDigits, n) }

func starName(n int) string { return fmt.Sprintf("s%0*d", starDigits, n) }

// maxFlowers is the most flowers of a gift: a digit.
const maxFlowers = 9

func (g *Gifts) prepare(ctx context.Context, t *target) (rounds, error) {
	event, err := g.fill(ctx, t)
	return g.Loop.rounds(t, func(ctx context.Context, caller int) call {
		id := callerID(caller)
		return t.newCall(ctx, "POST", "/v1/events/"+event, 1, func(to []byte, n int) []byte {
			return appendGift(to, id, n, rand.IntN(g.Stars), rand.IntN(g.Users), 1+rand.IntN(maxFlowers))
		})
	}, func() [][]any {
		star, user, flowers := starName(rand.IntN(g.Stars)), userName(rand.IntN(g.Users)), 1+rand.Uint64N(maxFlowers)
		commands := [][]any{{"ZINCRBY", bareKey + "stars", flowers, star}}
		for _, key := range []string{"fans:" + star, "fans3h:" + star, "givers-week", "givers-month"} {
			commands = append(commands, []any{"ZINCRBY", bareKey + key, flowers, user})
		}
		return commands
	}), err
}

// fill defines the event of the gifts and its boards, and fills these: each user has given one star once.
func (g *Gifts) fill(ctx context.Context, t *target) (event string, err error) {
	if event, err = t.defineGift(ctx); err != nil {
		return "", err
	}
	boards := make(map[string][]row)
	for u := range g.Users {
		star, r := starName(u%g.Stars), row{userName(u), 1 + rand.Int64N(maxFlowers)}
		for _, board := range []string{"givers-week", "givers-month", "fans:" + star, "fans3h:" + star} {
			boards[board] = append(boards[board], r)
		}
	}
	for n := range g.Stars {
		boards["stars"] = append(boards["stars"], row{starName(n), int64(g.Users / g.Stars * (1 + maxFlowers) / 2)})
	}
	return event, t.fill(ctx, boards)
}

// appendGift appends gift n of a caller.
func appendGift(to []byte, caller string, n, star, user, flowers int) []byte {
	return fmt.Appendf(to, `{"id":"%s-%d","star":"%s","user":"%s","flowers":%d}`, caller, n, starName(star), userName(user), flowers)
}

// bareKeys are the sets of the bare work, by board.
const bareKey = "bare:"

// callerID begins the request ids of a caller: no two callers or rounds have the same.
func callerID(caller int) string { return fmt.Sprintf("%08x%04x", rand.Uint32(), caller) }
