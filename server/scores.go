package server

import (
	"cmp"
	"context"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v5"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/server/internal/request"
	"rankcast/server/internal/respond"
)

// maxUpdates bounds a batch of updates.
const maxUpdates = 1000

// postScores applies one update or a batch of updates.
func (s *Server) postScores(c *echo.Context) error {
	board := request.PathValue(c, "board")
	body, key, err := request.ReadPost(c)
	if err != nil {
		return err
	}
	if list, isBatch := body["updates"]; isBatch {
		if err := body.Only("updates"); err != nil {
			return err
		}
		return s.applyUpdates(c, board, list, key)
	}
	if err := body.OnlyOr("; or updates, a list", updateFields...); err != nil {
		return err
	}
	answer, err := applyUpdate(c.Request().Context(), s.store, board, body, key)
	if err != nil {
		return markNotCounted(err)
	}
	return respond.OK(c, answer)
}

// applyUpdate applies one update, whose fields are those of an update.
func applyUpdate(ctx context.Context, store *ranking.Store, board string, body request.Object, key string) (resultJSON, error) {
	u, err := readUpdate(body, key)
	if err != nil {
		return resultJSON{}, err
	}
	outcomes, err := store.Apply(ctx, board, []definition.Update{u})
	if len(outcomes) > 0 {
		err = cmp.Or(outcomes[0].Err, err)
	}
	if err != nil {
		return resultJSON{}, err
	}
	return newResult(board, u.Member, outcomes[0].Result), nil
}

// applyUpdates applies a batch of updates.
func (s *Server) applyUpdates(c *echo.Context, board string, list jsontext.Value, key string) error {
	results, err := batch("updates", list, maxUpdates, key, s.batchOf(c), readItem,
		func(updates []definition.Update) (func(int) (any, error), error) {
			outcomes, err := s.store.Apply(c.Request().Context(), board, updates)
			return func(i int) (any, error) {
				return newResult(board, updates[i].Member, outcomes[i].Result), outcomes[i].Err
			}, err
		})
	if err != nil {
		return err
	}
	return respond.OK(c, results)
}

// updateFields are the fields of an update.
var updateFields = []string{"member", "score", "id", "op", "if", "data", "at"}

// readItem decodes an update of a batch.
func readItem(o request.Object, key string) (definition.Update, error) {
	if err := o.Only(updateFields...); err != nil {
		return definition.Update{}, err
	}
	return readUpdate(o, key)
}

// readUpdate decodes an update; key is the id that the Idempotency-Key gives it, "" for none. The store checks its values.
func readUpdate(o request.Object, key string) (u definition.Update, err error) {
	if u.Member, err = o.RequiredText("member"); err != nil {
		return u, err
	}
	if u.Score, err = o.Score("score"); err != nil {
		return u, err
	}
	op, err := o.OptionalText("op")
	if err != nil {
		return u, err
	}
	u.Op = definition.Mode(op)
	condition, err := o.OptionalText("if")
	if err != nil {
		return u, err
	}
	u.If = definition.Condition(condition)
	u.Data = string(o["data"])
	if at, there := o["at"]; there {
		if u.At, err = definition.ParseAt(at); err != nil {
			return u, err
		}
	}
	if u.ID, err = o.OptionalText("id"); err != nil {
		return u, err
	}
	if u.ID != "" && key != "" && u.ID != key {
		return u, errConflictingIDs
	}
	u.ID = cmp.Or(u.ID, key)
	return u, nil
}

// putScore sets a member's score, as a moderator's action.
func (s *Server) putScore(c *echo.Context) error {
	body, err := request.ReadObject(c)
	if err != nil {
		return err
	}
	if err := body.Only("score", "reason", "by"); err != nil {
		return err
	}
	score, err := body.Score("score")
	if err != nil {
		return err
	}
	by, err := moderatorOf(c, body)
	if err != nil {
		return err
	}
	board, member := request.PathValue(c, "board"), request.PathValue(c, "member")
	r, err := s.store.SetScore(c.Request().Context(), board, member, score, by)
	if err != nil {
		return err
	}
	return respond.OK(c, newResult(board, member, r))
}
