package demo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"rankcast/ranking"
	"rankcast/ranking/definition"
)

// definitions are the demo's boards and event: a star-flower page, and lap times of which the
// lowest counts.
const definitions = `
boards:
  stars:           {period: week, timezone: Asia/Shanghai, kind: star}
  "fans:{star}":   {period: day, timezone: Asia/Shanghai, keep: 30, retain: 90d, kind: user}
  "fans3h:{star}": {window: 3h, refresh: live, kind: user}
  givers-week:     {period: week, timezone: Asia/Shanghai, kind: user}
  givers-month:    {period: month, timezone: Asia/Shanghai, keep: 12, kind: user}
  laps:            {mode: best, order: asc, display: {format: time_ms}}
events:
  gift:
    - {board: stars,           member: "{star}", score: "{flowers}"}
    - {board: "fans:{star}",   member: "{user}", score: "{flowers}"}
    - {board: "fans3h:{star}", member: "{user}", score: "{flowers}"}
    - {board: givers-week,     member: "{user}", score: "{flowers}"}
    - {board: givers-month,    member: "{user}", score: "{flowers}"}
`

// Page is the path of the page that shows these boards.
const Page = "stars"

// The time zone and the window of the boards above. The history uses the same.
const (
	zoneName = "Asia/Shanghai"
	window   = 3 * time.Hour
)

// Define adds the demo's definitions to the store's own, which take precedence, and sets the
// profiles of stars and viewers. It leaves out a definition that the store refuses beside its
// own; Run then sends no scores for it. The error is the store's where Redis does not answer.
func Define(ctx context.Context, store *ranking.Store) error {
	demo, err := definition.ParseFile([]byte(definitions))
	if err != nil {
		return fmt.Errorf("the demo's definitions: %w", err)
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
		if !slices.ContainsFunc(boards, func(b definition.Board) bool { return sameNames(b.Name, d.Name) }) {
			missing = append(missing, definition.Set{Boards: []definition.Board{d}})
		}
	}
	for _, e := range demo.Events {
		if !slices.ContainsFunc(events, func(other definition.Event) bool { return other.Name == e.Name }) {
			missing = append(missing, definition.Set{Events: []definition.Event{e}})
		}
	}
	for _, one := range missing {
		if err := store.Define(ctx, one); err != nil && !errors.Is(err, ranking.ErrConflict) && !errors.Is(err, ranking.ErrInvalid) {
			return err
		}
	}
	return setProfiles(ctx, store)
}

// sameNames reports whether the instances of two boards have the same names.
func sameNames(a, b string) bool {
	base := func(board string) string { return strings.SplitN(board, ":", 2)[0] }
	return base(a) == base(b) && strings.Count(a, ":") == strings.Count(b, ":")
}

// Run sends gifts and laps until ctx ends. It logs a refusal at level debug. Several nodes may
// run it at the same time; each has random numbers of its own.
func Run(ctx context.Context, log *slog.Logger, store *ranking.Store) {
	report := func(what string, err error) {
		if err != nil && ctx.Err() == nil {
			log.Debug("demo "+what+" were refused", "error", err)
		}
	}
	traffic := newTraffic(rand.Uint64()) // so that two nodes do not send the same gifts
	report("laps", sendLaps(ctx, store, 30))
	for n := 0; ; n++ {
		g, gap := traffic.next()
		select {
		case <-ctx.Done():
			return
		case <-time.After(gap):
		}
		report("gifts", sendGifts(ctx, store, []gift{g}))
		if n%4 == 0 {
			report("laps", sendLaps(ctx, store, 1))
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

// sendLaps sends n lap times of random cars.
func sendLaps(ctx context.Context, store *ranking.Store, n int) error {
	all := make([]definition.Update, n)
	for i := range all {
		all[i] = definition.Update{Member: fmt.Sprintf("car %02d", 1+rand.IntN(20)), Score: 78_000 + int64(rand.ExpFloat64()*4000)}
	}
	_, err := store.Apply(ctx, "laps", all)
	return err
}
