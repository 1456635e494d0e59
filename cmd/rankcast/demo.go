package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"

	"rankcast/ranking"
)

// demoBoards are what --demo sends scores to: flowers for stars, a sum in which
// the higher ranks higher, and lap times, the best of each, the lower the better.
var demoBoards = []ranking.Definition{
	{Board: "stars"},
	{Board: "laps", Mode: ranking.Best, Order: ranking.Asc},
}

// addDemoBoards adds the demo's boards to those of a file, which go first.
func addDemoBoards(boards []ranking.Definition) []ranking.Definition {
	for _, d := range demoBoards {
		if !slices.ContainsFunc(boards, func(b ranking.Definition) bool { return b.Board == d.Board }) {
			boards = append(boards, d)
		}
	}
	return boards
}

var demoStars = []string{
	"Aurora Vale", "Ben Okafor", "Camille Roux", "Dae-jung Park", "Elif Aydın", "Farah Nasser", "Gustav Lindqvist",
	"Hana Mori", "Iker Etxea", "Jun Li", "Kavya Rao", "Luca Ferri", "Mei Tanaka", "Noor Haddad", "Otto Brandt",
	"Priya Nair", "Quinn Avery", "Rosa Iglesias", "Sora Kim", "Tomás Vega", "Uma Devi", "Viktor Novak", "Wen Zhao",
	"Ximena Cruz", "Yara Costa", "Zoltán Kiss",
}

// runDemo plays an evening: gifts come in bursts, a few stars take most of them,
// and who is in favour changes.
func runDemo(ctx context.Context, log *slog.Logger, store *ranking.Store) {
	popularity := rand.NewZipf(rand.New(rand.NewPCG(1, 2)), 1.3, 4, uint64(len(demoStars)-1))
	favour := rand.Perm(len(demoStars))
	send := func(board string, updates []ranking.Update) {
		if _, err := store.Apply(ctx, board, updates); err != nil && !errors.Is(err, context.Canceled) {
			log.Debug("demo scores were not taken", "error", err)
		}
	}
	gift := func() ranking.Update {
		return ranking.Update{Member: demoStars[favour[popularity.Uint64()]], Score: 1 + int64(rand.ExpFloat64()*8)}
	}
	lap := func() ranking.Update {
		return ranking.Update{Member: fmt.Sprintf("car %02d", 1+rand.IntN(20)), Score: 78_000 + int64(rand.ExpFloat64()*4000)}
	}
	var opening, laps []ranking.Update
	for range 120 {
		opening = append(opening, gift())
	}
	for range 30 {
		laps = append(laps, lap())
	}
	send("stars", opening)
	send("laps", laps)
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Duration(150+rand.ExpFloat64()*450) * time.Millisecond):
		}
		burst := make([]ranking.Update, 1+rand.IntN(4))
		for i := range burst {
			burst[i] = gift()
		}
		send("stars", burst)
		if n%3 == 0 {
			send("laps", []ranking.Update{lap()})
		}
		if n%25 == 0 {
			i, j := rand.IntN(len(favour)), rand.IntN(len(favour))
			favour[i], favour[j] = favour[j], favour[i]
		}
	}
}
