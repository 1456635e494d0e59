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
)

// demoFile is what --demo sends scores to: a star-flower page, and lap times, the
// best of each, the lower the better.
const demoFile = `
boards:
  stars:           {period: week, timezone: Asia/Shanghai, kind: star}
  "fans:{star}":   {period: day, timezone: Asia/Shanghai, keep: 30, retain: 90d, kind: user}
  "fans3h:{star}": {window: 3h, kind: user}
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

// defineDemo adds the demo's definitions to those that there are, which go first.
// One that has no room beside them is left out, and with it the scores for it.
func defineDemo(ctx context.Context, store *ranking.Store) error {
	demo, err := ranking.ParseFile([]byte(demoFile))
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
	var missing []ranking.Definitions // one at a time: that one is refused keeps no other back
	for _, d := range demo.Boards {
		if !slices.ContainsFunc(boards, func(b ranking.Definition) bool { return sameNames(b.Board, d.Board) }) {
			missing = append(missing, ranking.Definitions{Boards: []ranking.Definition{d}})
		}
	}
	for _, e := range demo.Events {
		if !slices.ContainsFunc(events, func(other ranking.Event) bool { return other.Name == e.Name }) {
			missing = append(missing, ranking.Definitions{Events: []ranking.Event{e}})
		}
	}
	for _, one := range missing {
		if err := store.Define(ctx, one); err != nil && !errors.Is(err, ranking.ErrConflict) && !errors.Is(err, ranking.ErrInvalid) {
			return err
		}
	}
	return nil
}

// sameNames reports whether the instances of two boards have the same names.
func sameNames(a, b string) bool {
	base := func(board string) string { return strings.SplitN(board, ":", 2)[0] }
	return base(a) == base(b) && strings.Count(a, ":") == strings.Count(b, ":")
}

var demoStars = []string{
	"Aurora Vale", "Ben Okafor", "Camille Roux", "Dae-jung Park", "Elif Aydın", "Farah Nasser", "Gustav Lindqvist",
	"Hana Mori", "Iker Etxea", "Jun Li", "Kavya Rao", "Luca Ferri", "Mei Tanaka", "Noor Haddad", "Otto Brandt",
	"Priya Nair", "Quinn Avery", "Rosa Iglesias", "Sora Kim", "Tomás Vega", "Uma Devi", "Viktor Novak", "Wen Zhao",
	"Ximena Cruz", "Yara Costa", "Zoltán Kiss",
}

var demoUsers = strings.Fields("amber92 bao_bao cloudberry dumpling7 ember_k foxglove gingko88 hoshi ivy.l jasper_77 kumquat " +
	"lanternfish mochi moonrabbit nimbus nori.b oolong_tea papaya peony pixel_pear quokka rivermint sakura.s salt_n_tea " +
	"tanuki tofu_time umbrella7 vesper wisteria xiaolong yuzu zephyr")

// runDemo plays an evening: gifts come in bursts, a few stars take most of them, a
// few users give most, and who is in favour changes.
func runDemo(ctx context.Context, log *slog.Logger, store *ranking.Store) {
	random := rand.New(rand.NewPCG(1, 2))
	popularity := rand.NewZipf(random, 1.3, 4, uint64(len(demoStars)-1))
	generosity := rand.NewZipf(random, 1.2, 6, uint64(len(demoUsers)-1))
	favour := rand.Perm(len(demoStars))
	quote := func(name string) jsontext.Value {
		quoted, _ := jsontext.AppendQuote(nil, name) // of the lists above
		return quoted
	}
	gifts := func(n int) {
		all := make([]ranking.Occurrence, n)
		for i := range all {
			all[i].Fields = map[string]jsontext.Value{
				"star":    quote(demoStars[favour[popularity.Uint64()]]),
				"user":    quote(demoUsers[generosity.Uint64()]),
				"flowers": jsontext.Value(strconv.Itoa(1 + int(rand.ExpFloat64()*8))),
			}
		}
		happened, err := store.Happen(ctx, "gift", all)
		if err == nil {
			err = happened[0].Err // of an event by that name that is another's
		}
		if err != nil && !errors.Is(err, context.Canceled) {
			log.Debug("demo gifts were not taken", "error", err)
		}
	}
	laps := func(n int) {
		all := make([]ranking.Update, n)
		for i := range all {
			all[i] = ranking.Update{Member: fmt.Sprintf("car %02d", 1+rand.IntN(20)), Score: 78_000 + int64(rand.ExpFloat64()*4000)}
		}
		if _, err := store.Apply(ctx, "laps", all); err != nil && !errors.Is(err, context.Canceled) {
			log.Debug("demo laps were not taken", "error", err)
		}
	}
	gifts(120)
	laps(30)
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Duration(150+rand.ExpFloat64()*450) * time.Millisecond):
		}
		gifts(1 + rand.IntN(4))
		if n%3 == 0 {
			laps(1)
		}
		if n%25 == 0 {
			i, j := rand.IntN(len(favour)), rand.IntN(len(favour))
			favour[i], favour[j] = favour[j], favour[i]
		}
	}
}
