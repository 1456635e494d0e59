package server

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"

	"github.com/labstack/echo/v5"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/server/access"
	"rankcast/server/internal/boardinfo"
	"rankcast/server/internal/entry"
	"rankcast/server/internal/gate"
	"rankcast/server/internal/readable"
	"rankcast/server/internal/request"
	"rankcast/server/internal/respond"
	"rankcast/server/overview"
)

// listBoards answers the definitions of the boards and families that the caller may read: all, or those that an event updates.
func (s *Server) listBoards(c *echo.Context) error {
	q := request.ReadQuery(c, "event")
	event, given := q.Get("event")
	if q.Err != nil {
		return q.Err
	}
	if given {
		boards, err := s.targets(c.Request().Context(), gate.Caller(c), event)
		return respond.Answer(c, struct {
			Boards []definition.Board `json:"boards"`
		}{boards}, err)
	}
	return s.okDefinitions(c, s.boardList, "boards", func(ctx context.Context, to *readable.List) error {
		boards, err := s.store.Boards(ctx)
		for _, d := range boards {
			err = cmp.Or(err, to.Add(access.Board(d.Name), d))
		}
		return err
	})
}

// anyEvent stands for all events that the caller may read.
const anyEvent = "*"

// targets returns the definitions that a caller may read of those that an event updates, by name.
func (s *Server) targets(ctx context.Context, caller *access.Caller, event string) ([]definition.Board, error) {
	var events []definition.Event
	var err error
	if event == anyEvent {
		events, err = s.store.Events(ctx)
	} else if err = caller.Check(access.ScopeRead, access.Event(event)); err == nil {
		events = make([]definition.Event, 1)
		events[0], err = s.store.Event(ctx, event)
	}
	if err != nil {
		return nil, err
	}
	updated := make(map[string]bool) // by slot
	for _, e := range events {
		if !caller.May(access.ScopeRead, access.Event(e.Name)) {
			continue
		}
		for _, u := range e.Updates {
			updated[u.Slot()] = true
		}
	}
	boards, err := s.store.Boards(ctx)
	return slices.DeleteFunc(boards, func(b definition.Board) bool {
		return !updated[b.Slot()] || !caller.May(access.ScopeRead, access.Board(b.Name))
	}), err
}

// getBoard answers a board's definition and state; for a family, named as it was defined, its
// definition and its number of instances.
func (s *Server) getBoard(c *echo.Context) error {
	board, path := request.PathValue(c, "board"), c.Request().URL.EscapedPath()
	if overview.IsFamily(board) {
		return s.okRead(c, path, func(ctx context.Context) (any, error) { return s.family(ctx, board) })
	}
	named := s.mayNameParts(c, board)
	return s.okRead(c, path+"?"+strconv.FormatBool(named), func(ctx context.Context) (any, error) {
		return s.info(ranking.WithNames(ctx, func(string) bool { return named }), board)
	})
}

// mayNameParts reports whether the caller may read the kinds of all members that the name of an instance stands for.
func (s *Server) mayNameParts(c *echo.Context, board string) bool {
	b, err := s.store.Board(c.Request().Context(), board)
	if err != nil {
		return false
	}
	for kind := range b.Definition.Parts(b.Instance) {
		if !gate.Caller(c).MayReadKind(kind) {
			return false
		}
	}
	return true
}

type infoJSON struct {
	entry.Head
	Total         int64            `json:"total"`
	Epoch         string           `json:"epoch"`
	Seq           int64            `json:"seq"`
	LastChange    *string          `json:"last_change"`
	Memory        int64            `json:"memory"`
	TieResolution *int64           `json:"tie_resolution_us"`
	Info          boardinfo.Info   `json:"info"`
	Definition    definition.Board `json:"definition"`
}

// info reads the definition and the state of a board.
func (s *Server) info(ctx context.Context, board string) (any, error) {
	info, err := s.store.Info(ctx, board)
	if err != nil {
		return nil, err
	}
	answer := infoJSON{
		Head: entry.NewHead(board, info.Period, info.Bounds), Total: info.Total, Epoch: info.Epoch, Seq: info.Seq,
		LastChange: definition.FormatTime(info.LastChange), Memory: info.Memory, Info: boardinfo.New(info.About),
		Definition: info.About.Definition,
	}
	if us := info.TieResolution.Microseconds(); us > 0 {
		answer.TieResolution = &us
	}
	return &answer, nil
}

// family reads the definition of a family and its number of instances.
func (s *Server) family(ctx context.Context, family string) (any, error) {
	d, err := s.store.Definition(ctx, family)
	if err != nil {
		return nil, err
	}
	instances, err := s.store.Instances(ctx, family, "", 1)
	if err != nil {
		return nil, err
	}
	return &struct {
		Board      string           `json:"board"`
		Instances  int64            `json:"instances"`
		Info       boardinfo.Info   `json:"info"`
		Definition definition.Board `json:"definition"`
	}{family, instances.Total, boardinfo.OfFamily(d), d}, nil
}

// putBoard defines a board or family, or changes its definition.
func (s *Server) putBoard(c *echo.Context) error {
	d, dryRun, err := readDefinition(c, "board", definition.ParseBoard, definition.ParseBoardYAML)
	if err != nil {
		return err
	}
	if dryRun {
		was, err := s.store.CheckBoard(c.Request().Context(), d)
		return answerPreview(c, was, d, err)
	}
	_, err = s.store.Definition(c.Request().Context(), d.Name)
	status := definitionStatus(err, definition.ErrUnknownBoard)
	if err := s.store.DefineBoard(c.Request().Context(), d, author(c)); err != nil {
		return err
	}
	return respond.JSON(c, status, echo.MIMEApplicationJSON, d)
}

// definitionStatus is the status for a definition that was written: 201 if reading it before failed
// with the error unknown, else 200.
func definitionStatus(err, unknown error) int {
	if errors.Is(err, unknown) {
		return http.StatusCreated
	}
	return http.StatusOK
}

// deleteBoard deletes a board or family with all its data, or one instance's data.
func (s *Server) deleteBoard(c *echo.Context) error {
	return respond.Nothing(c, s.store.Delete(c.Request().Context(), request.PathValue(c, "board"), author(c)))
}
