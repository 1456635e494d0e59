package main

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

// demoFile is what --demo sends scores to: a star-flower page, and lap times, the
// best of each, the lower the better.
const demoFile = `
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

// demoPage is the page of these boards.
const demoPage = "stars"

// The past is played by the same zone and window as the boards count by.
const (
	demoZone   = "Asia/Shanghai"
	demoWindow = 3 * time.Hour
)

// defineDemo adds the demo's definitions to those that there are, which go first, and the
// profiles of those who take part. A definition that has no room beside them is left out,
// and with it the scores for it.
func defineDemo(ctx context.Context, store *ranking.Store) error {
	demo, err := definition.ParseFile([]byte(demoFile))
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
	var missing []definition.Set // one at a time: that one is refused keeps no other back
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
	return setDemoProfiles(ctx, store)
}

// sameNames reports whether the instances of two boards have the same names.
func sameNames(a, b string) bool {
	base := func(board string) string { return strings.SplitN(board, ":", 2)[0] }
	return base(a) == base(b) && strings.Count(a, ":") == strings.Count(b, ":")
}

// runDemo sends gifts as they come, and a lap now and then.
func runDemo(ctx context.Context, log *slog.Logger, store *ranking.Store) {
	note := func(what string, err error) {
		if err != nil && ctx.Err() == nil {
			log.Debug("demo "+what+" were not taken", "error", err)
		}
	}
	traffic := newTraffic(rand.Uint64()) // nodes that run it side by side do not repeat each other
	note("laps", sendLaps(ctx, store, 30))
	for n := 0; ; n++ {
		g, gap := traffic.next()
		select {
		case <-ctx.Done():
			return
		case <-time.After(gap):
		}
		note("gifts", sendGifts(ctx, store, []demoGift{g}))
		if n%4 == 0 {
			note("laps", sendLaps(ctx, store, 1))
		}
	}
}

// sendGifts tells of gifts, all in one go.
func sendGifts(ctx context.Context, store *ranking.Store, gifts []demoGift) error {
	quote := func(name string) jsontext.Value {
		quoted, _ := jsontext.AppendQuote(nil, name) // of the demo's own
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
	return happened[0].Err // of an event by that name that is another's
}

// sendLaps has cars come in.
func sendLaps(ctx context.Context, store *ranking.Store, n int) error {
	all := make([]definition.Update, n)
	for i := range all {
		all[i] = definition.Update{Member: fmt.Sprintf("car %02d", 1+rand.IntN(20)), Score: 78_000 + int64(rand.ExpFloat64()*4000)}
	}
	_, err := store.Apply(ctx, "laps", all)
	return err
}
