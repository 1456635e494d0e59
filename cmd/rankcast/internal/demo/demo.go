package demo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"rankcast/cmd/rankcast/internal/example"
	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/fair"
)

// Page is the path of the page that shows these boards.
const Page = "stars"

// The time zone and the window of the boards of the example. The history uses the same.
const (
	zoneName = "Asia/Shanghai"
	window   = 3 * time.Hour
)

// history is the step at which the boards of the demo record their history, but for windows.
const history = 10 * time.Second

// Definitions are the demo's boards and event: those of the example's boards file, with a history.
func Definitions() (definition.Set, error) {
	demo, err := definition.ParseFile(example.Boards)
	if err != nil {
		return demo, fmt.Errorf("the example's boards file: %w", err)
	}
	for i := range demo.Boards {
		if demo.Boards[i].Window == 0 {
			demo.Boards[i].History = history
		}
	}
	return demo, nil
}

// Define adds the definitions of the example's boards file to the store's own, which take
// precedence, and sets the profiles of stars, viewers and players. It leaves out a definition
// that the store refuses beside its own; Run then sends no scores for it. The error is the
// store's where Redis does not answer.
func Define(ctx context.Context, store *ranking.Store) error {
	demo, err := Definitions()
	if err != nil {
		return err
	}
	boards, err := store.Boards(ctx)
	if err != nil {
		return err
	}
	events, err := store.Events(ctx)
	if err != nil {
		return err
	}
	var missing []definition.Set // one at a time, so that a refusal stops none of the others
	for _, d := range demo.Boards {
		if !slices.ContainsFunc(boards, func(b definition.Board) bool { return b.Slot() == d.Slot() }) {
			missing = append(missing, definition.Set{Boards: []definition.Board{d}})
		}
	}
	for _, e := range demo.Events {
		if !slices.ContainsFunc(events, func(other definition.Event) bool { return other.Name == e.Name }) {
			missing = append(missing, definition.Set{Events: []definition.Event{e}})
		}
	}
	why := ranking.Moderator{Reason: "demo of a node that started"}
	for _, one := range missing {
		err := store.DefineAudited(ctx, one, why)
		if err != nil && !errors.Is(err, definition.ErrConflict) && !errors.Is(err, definition.ErrInvalid) {
			return err
		}
	}
	return setProfiles(ctx, store)
}

// Run sends gifts, points and laps until ctx ends. It logs a refusal at level debug. Several
// nodes may run it at the same time; each has random numbers of its own.
func Run(ctx context.Context, log *slog.Logger, store *ranking.Store) {
	report := func(what string, err error) {
		if err != nil && ctx.Err() == nil {
			log.Debug("demo "+what+" were refused", "error", err)
		}
	}
	traffic := newTraffic(rand.Uint64()) // so that two nodes do not send the same gifts
	report("points", sendPoints(ctx, store, 60))
	report("laps", sendLaps(ctx, store, 30))
	for n := 0; ; n++ {
		g, gap := traffic.next()
		if fair.Pause(ctx, gap) != nil {
			return
		}
		report("gifts", sendGifts(ctx, store, []gift{g}))
		switch n % 4 {
		case 0:
			report("laps", sendLaps(ctx, store, 1))
		case 2:
			report("points", sendPoints(ctx, store, 1))
		}
	}
}

// sendGifts sends gifts as events, in one call.
func sendGifts(ctx context.Context, store *ranking.Store, gifts []gift) error {
	quote := func(name string) jsontext.Value {
		quoted, _ := jsontext.AppendQuote(nil, name) // the names are valid UTF-8
		return quoted
	}
	all := make([]ranking.EventCall, len(gifts))
	for i, g := range gifts {
		all[i].Fields = map[string]jsontext.Value{
			"star":    quote(g.star),
			"user":    quote(g.user),
			"flowers": jsontext.Value(strconv.Itoa(g.flowers)),
		}
	}
	happened, err := store.ApplyEvents(ctx, "gift", all)
	if err != nil {
		return err
	}
	return happened[0].Err // the event may be one of the store's own
}

// sendPoints sends n wins of random players, of 5 to 50 points each.
func sendPoints(ctx context.Context, store *ranking.Store, n int) error {
	return sendScores(ctx, store, "points", n, func() int64 { return int64(5 * (1 + rand.IntN(10))) })
}

// sendLaps sends n lap times of random players, in milliseconds.
func sendLaps(ctx context.Context, store *ranking.Store, n int) error {
	return sendScores(ctx, store, "laps", n, func() int64 { return 78_000 + int64(rand.ExpFloat64()*4000) })
}

// sendScores sends n scores of random players to a board, in one call.
func sendScores(ctx context.Context, store *ranking.Store, board string, n int, score func() int64) error {
	all := make([]definition.Update, n)
	for i := range all {
		all[i] = definition.Update{Member: players[rand.IntN(len(players))].id, Score: score()}
	}
	_, err := store.Apply(ctx, board, all)
	return err
}
