package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"rankcast/cmd/rankcast/internal/define"
	"rankcast/cmd/rankcast/internal/demo"
	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/fair"
)

// retryPause is the time between two attempts while Redis does not answer, or refuses what the process needs.
const retryPause = 250 * time.Millisecond

// definitions reads the boards file; without one there are no definitions.
func (s *serve) definitions() (definition.Set, error) {
	if s.Boards == "" {
		return definition.Set{}, nil
	}
	return define.ReadFile(s.Boards)
}

// define adds definitions to those in Redis, and those of the demo, and logs which of those in Redis it has changed.
// Where Redis has no board and all has none, it defines the board stars. The audit says of each change what made it.
func (s *serve) define(ctx context.Context, store *ranking.Store, log *slog.Logger, all definition.Set) error {
	var before definition.Set
	var err error
	if before.Boards, err = store.Boards(ctx); err != nil {
		return err
	}
	if before.Events, err = store.Events(ctx); err != nil {
		return err
	}
	why := ranking.Moderator{Reason: "boards file of a node that started"}
	if len(all.Boards) == 0 && len(before.Boards) == 0 && !s.Demo {
		all.Boards = []definition.Board{{Name: "stars"}}
		why.Reason = "default board of a node that started"
	}
	if err := store.DefineAudited(ctx, all, why); err != nil {
		return err
	}
	logChanged(log, before, all)
	if s.Demo {
		return demo.Define(ctx, store)
	}
	return nil
}

// maxChangedLines bounds the lines about definitions that a start has changed.
const maxChangedLines = 20

// logChanged logs each definition that a start has changed, with its fields. They may hold what a request defined after
// an earlier start, and the boards file undoes that.
func logChanged(log *slog.Logger, before, now definition.Set) {
	was, is := byName(before), byName(now)
	changed := 0
	for _, named := range slices.Sorted(maps.Keys(is)) { // the order that ParseFile gives them
		old, there := was[named]
		if !there {
			continue
		}
		var names []string
		for _, change := range definition.Changes(old, is[named]) {
			names = append(names, change.Field)
		}
		if len(names) == 0 {
			continue
		}
		if changed++; changed <= maxChangedLines {
			kind, name, _ := strings.Cut(named, " ")
			log.Warn("the boards file has changed a definition in Redis", kind, name, "fields", strings.Join(names, " "))
		}
	}
	if more := changed - maxChangedLines; more > 0 {
		log.Warn("the boards file has changed more definitions in Redis", "more", more)
	}
}

// byName maps the definitions of a set by kind and name: "board stars".
func byName(set definition.Set) map[string]any {
	all := make(map[string]any)
	for _, b := range set.Boards {
		all["board "+b.Name] = b
	}
	for _, e := range set.Events {
		all["event "+e.Name] = e
	}
	return all
}

// ofFile names the boards file in an error.
func (s *serve) ofFile() string {
	if s.Boards == "" {
		return ""
	}
	return " of " + s.Boards
}

// checkWebhookBoards warns of each board of --webhook-boards without a definition: a mistake,
// or a board that is defined later.
func (s *serve) checkWebhookBoards(ctx context.Context, store *ranking.Store, log *slog.Logger) {
	for _, board := range s.WebhookBoards {
		if _, err := store.Definition(ctx, board); errors.Is(err, definition.ErrUnknownBoard) {
			log.Warn("--webhook-boards names a board that is not defined", "board", board)
		}
	}
}

// isLayout reports whether an error says that Redis holds data of another layout.
func isLayout(err error) bool { return errors.As(err, new(*ranking.LayoutError)) }

// untilAnswered calls ask until Redis has answered and allowed it, or ctx ends. Data of another layout are an answer.
func untilAnswered(ctx context.Context, ask func() error) (err error) {
	retry(ctx, func() (answered bool) {
		err = ask()
		return !errors.Is(err, definition.ErrUnavailable) || isLayout(err)
	})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// retry calls try until it returns true, or ctx ends.
func retry(ctx context.Context, try func() bool) {
	for !try() && fair.Pause(ctx, retryPause) == nil {
	}
}

// definedBoards are the defined boards; nil while Redis does not answer.
func definedBoards(ctx context.Context, store *ranking.Store) []definition.Board {
	boards, err := store.Boards(ctx)
	if err != nil {
		return nil
	}
	return boards
}

// maxBoardNames bounds the boards that the log names.
const maxBoardNames = 10

// boardNames lists boards, for the log.
func boardNames(boards []definition.Board) string {
	if boards == nil {
		return "not known yet"
	}
	var names []string
	for _, d := range boards[:min(len(boards), maxBoardNames)] {
		names = append(names, d.Name)
	}
	list := strings.Join(names, " ")
	if more := len(boards) - len(names); more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}
