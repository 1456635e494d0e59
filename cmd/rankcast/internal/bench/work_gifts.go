package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
)

// Gifts is rankcast bench gifts: events with an id, each of which counts on five boards.
type Gifts struct {
	Loop    loopFlags    `embed:""`
	Users   int          `default:"100000" placeholder:"N" help:"Users who give (default ${default})."`
	Stars   int          `default:"200" placeholder:"N" help:"Stars who get the gifts (default ${default})."`
	Program programFlags `embed:""`
}

// Validate checks the flags.
func (g *Gifts) Validate() error {
	if err := within("users", g.Users, 1, 1_000_000); err != nil {
		return err
	}
	return within("stars", g.Stars, 1, min(10_000, g.Users))
}

// Run measures.
func (g *Gifts) Run(ctx context.Context) error { return g.Program.run(ctx, "gifts", g) }

func (g *Gifts) about() string { return "one event with an id, which counts on five boards" }

func (g *Gifts) settings() string {
	return count(g.Users, "user") + ", " + count(g.Stars, "star") + ", " + g.Loop.settings()
}

func (g *Gifts) unit() string { return "gift" }

func (g *Gifts) bareAbout() string {
	return "five ZINCRBY, one after the other, on sets of the same sizes"
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

func (g *Gifts) prepare(ctx context.Context, t *target, s *status) (rounds, error) {
	event, err := t.defineGift(ctx)
	if err != nil {
		return nil, err
	}
	// Each user has given one star once.
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
	if err := s.fill(ctx, t, boards); err != nil {
		return nil, err
	}
	return &giftRounds{g, t, event}, nil
}

type giftRounds struct {
	*Gifts
	t     *target
	event string
}

func (g *giftRounds) measure(ctx context.Context, s *status) (*figures, error) {
	return g.Loop.closedRound(ctx, g.t, s, g.Loop.Duration, func(caller int) (call, error) {
		id := callerID(caller)
		return g.t.newCall(ctx, "POST", "/v1/events/"+g.event, 1, func(to []byte, n int) []byte {
			return appendGift(to, id, n, rand.IntN(g.Stars), rand.IntN(g.Users), 1+rand.IntN(maxFlowers))
		}), nil
	})
}

// appendGift appends gift n of a caller.
func appendGift(to []byte, caller string, n, star, user, flowers int) []byte {
	return fmt.Appendf(to, `{"id":"%s-%d","star":"%s","user":"%s","flowers":%d}`, caller, n, starName(star), userName(user), flowers)
}

// bareKeys are the sets of the bare work, by board.
const bareKey = "bare:"

func (g *giftRounds) bare(ctx context.Context, s *status) (*figures, error) {
	return g.Loop.bareRound(ctx, g.t, s, func() [][]any {
		star, user, flowers := starName(rand.IntN(g.Stars)), userName(rand.IntN(g.Users)), 1+rand.Uint64N(maxFlowers)
		commands := [][]any{{"ZINCRBY", bareKey + "stars", flowers, star}}
		for _, key := range []string{"fans:" + star, "fans3h:" + star, "givers-week", "givers-month"} {
			commands = append(commands, []any{"ZINCRBY", bareKey + key, flowers, user})
		}
		return commands
	})
}

// callerID begins the request ids of a caller: no two callers or rounds have the same.
func callerID(caller int) string { return fmt.Sprintf("%08x%04x", rand.Uint32(), caller) }
