package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"rankcast/cmd/rankcast/internal/demo"
	"rankcast/ranking"
	"rankcast/ranking/definition"
)

// definePause is the time between two attempts to define boards while Redis does not answer, or
// refuses what the node needs.
const definePause = 250 * time.Millisecond

// definitions reads the boards file; without one there are no definitions.
func (s *serve) definitions() (all definition.Set, err error) {
	if s.Boards != "" {
		file, err := os.ReadFile(s.Boards)
		if err != nil {
			return all, fmt.Errorf("read the boards file: %w", err)
		}
		if all, err = definition.ParseFile(file); err != nil {
			return all, fmt.Errorf("%s: %w", s.Boards, err)
		}
	}
	return all, nil
}

// define adds definitions to those in Redis, and those of the demo. Where Redis has no board
// and all has none, it defines the board stars.
func (s *serve) define(ctx context.Context, store *ranking.Store, all definition.Set) error {
	if s.Demo {
		if err := store.Define(ctx, all); err != nil {
			return err
		}
		return demo.Define(ctx, store)
	}
	if len(all.Boards) == 0 {
		boards, err := store.Boards(ctx)
		if err != nil {
			return err
		}
		if len(boards) == 0 {
			all.Boards = []definition.Board{{Name: "stars"}}
		}
	}
	return store.Define(ctx, all)
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
		if _, err := store.Definition(ctx, board); errors.Is(err, ranking.ErrUnknownBoard) {
			log.Warn("--webhook-boards names a board that is not defined", "board", board)
		}
	}
}

// keepDefining calls define until Redis has answered and allowed it, or ctx ends.
func (s *serve) keepDefining(ctx context.Context, store *ranking.Store, all definition.Set) error {
	for {
		err := s.define(ctx, store, all)
		if !errors.Is(err, ranking.ErrUnavailable) || isLayout(err) {
			return err
		}
		select {
		case <-time.After(definePause):
		case <-ctx.Done():
			return nil
		}
	}
}

// isLayout reports whether an error says that Redis holds data of another layout.
func isLayout(err error) bool { return errors.As(err, new(*ranking.LayoutError)) }

// awaitLayout waits until Redis has answered, or ctx ends. It returns an error where Redis holds data of another
// layout.
func awaitLayout(ctx context.Context, store *ranking.Store) error {
	for {
		err := store.CheckLayout(ctx)
		if !errors.Is(err, ranking.ErrUnavailable) || isLayout(err) {
			return err
		}
		select {
		case <-time.After(definePause):
		case <-ctx.Done():
			return nil
		}
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
