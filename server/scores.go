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
	post, err := request.ReadPost(c)
	if err != nil {
		return err
	}
	if list, isBatch := post.Body["updates"]; isBatch {
		if err := post.Body.Only("updates"); err != nil {
			return err
		}
		return s.applyUpdates(c, board, list, post)
	}
	answer, err := applyUpdate(c.Request().Context(), s.store, board, post.Body.FieldsOr("; or updates, a list", updateFields...), post.Key)
	if err == nil && post.Ranked {
		s.store.CountRanks(c.Request().Context(), board, []string{answer.member}, []*ranking.Result{&answer.result})
	}
	return respond.Answer(c, answer, markNotCounted(err))
}

// applyUpdate applies one update.
func applyUpdate(ctx context.Context, store *ranking.Store, board string, f *request.Fields, key string) (resultJSON, error) {
	u, err := readUpdate(f, key)
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
func (s *Server) applyUpdates(c *echo.Context, board string, list jsontext.Value, post request.Post) error {
	results, err := batch("updates", list, maxUpdates, post.Key, s.batchOf(c), readItem,
		func(updates []definition.Update) (func(int) (any, error), error) {
			outcomes, err := s.store.Apply(c.Request().Context(), board, updates)
			if err == nil && post.Ranked {
				members, results := make([]string, len(updates)), make([]*ranking.Result, len(updates))
				for i, u := range updates {
					members[i], results[i] = u.Member, &outcomes[i].Result
				}
				s.store.CountRanks(c.Request().Context(), board, members, results)
			}
			return func(i int) (any, error) {
				return newResult(board, updates[i].Member, outcomes[i].Result), outcomes[i].Err
			}, err
		})
	return respond.Answer(c, results, err)
}

// updateFields are the fields of an update.
var updateFields = []string{"member", "score", "columns", "id", "op", "if", "data", "at"}

// readItem decodes an update of a batch.
func readItem(o request.Object, key string) (definition.Update, error) {
	return readUpdate(o.Fields(updateFields...), key)
}

// readUpdate decodes an update; key is the id that the Idempotency-Key gives it, "" for none. The store checks its values.
func readUpdate(f *request.Fields, key string) (u definition.Update, err error) {
	u.Member = f.RequiredText("member")
	u.Score, u.Columns = readScore(f)
	u.Op, u.If = definition.Mode(f.OptionalText("op")), definition.Condition(f.OptionalText("if"))
	u.Data = string(f.Value("data"))
	if f.Has("at") {
		u.At, err = definition.ParseAt(f.Value("at"))
		f.Check(err)
	}
	u.ID = readID(f, key)
	return u, f.Err
}

// missingScore is what an error says about a score that is not there: only the store knows whether the board has columns.
const missingScore = "is missing; on a board with columns want columns"

// readScore decodes the score of an update, or its columns. The store refuses that which the board does not take.
func readScore(f *request.Fields) (score int64, columns map[string]int64) {
	switch columns = f.Columns("columns"); {
	case !f.Has("columns") && !f.Has("score"):
		f.Check(definition.Invalid("score", missingScore))
	case !f.Has("columns"):
		score = f.Score("score")
	case f.Has("score"):
		f.Check(definition.ErrTwoScores)
	}
	return score, columns
}

// readID returns the id of an item: its field, or else key; "" for neither. It refuses a field that differs from key.
func readID(f *request.Fields, key string) string {
	id := f.OptionalText("id")
	if id != "" && key != "" && id != key {
		f.Check(errConflictingIDs)
	}
	return cmp.Or(id, key)
}

// putScore sets a member's score, as a moderator's action.
func (s *Server) putScore(c *echo.Context) error {
	f := request.ReadFields(c, "score", "columns", "reason", "by")
	score, columns := readScore(f)
	by, err := moderatorOf(c, f)
	if err != nil {
		return err
	}
	board, member := request.PathValue(c, "board"), request.PathValue(c, "member")
	var r ranking.Result
	if columns != nil {
		r, err = s.store.SetColumns(c.Request().Context(), board, member, columns, by)
	} else {
		r, err = s.store.SetScore(c.Request().Context(), board, member, score, by)
	}
	return respond.Answer(c, newResult(board, member, r), err)
}
