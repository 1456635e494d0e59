package server

import (
	"cmp"
	"context"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"

	"rankcast/ranking"
	"rankcast/ranking/definition"
)

// maxUpdates bounds a batch.
const maxUpdates = 1000

type resultJSON struct {
	Board     string        `json:"board"`
	Period    string        `json:"period"`
	Member    string        `json:"member"`
	Score     *int64        `json:"score"`
	Rank      *int64        `json:"rank"`
	Previous  *standingJSON `json:"previous"`
	Duplicate bool          `json:"duplicate"`
	TakenBack bool          `json:"taken_back,omitzero"`
}

type standingJSON struct {
	Score int64  `json:"score"`
	Rank  *int64 `json:"rank"`
}

type refusedJSON struct {
	Error errorJSON `json:"error"`
}

type errorJSON struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Field   string `json:"field,omitempty"`
}

func newResult(board, member string, r ranking.Result) resultJSON {
	j := resultJSON{Board: board, Period: r.Period, Member: member, Duplicate: r.Duplicate, TakenBack: r.TakenBack}
	if r.Current != nil {
		j.Score, j.Rank = &r.Current.Score, rankJSON(*r.Current)
	}
	if r.Previous != nil {
		j.Previous = &standingJSON{r.Previous.Score, rankJSON(*r.Previous)}
	}
	return j
}

// rankJSON is the rank of a standing; null for a member that is hidden.
func rankJSON(s ranking.Standing) *int64 {
	if s.Rank == 0 {
		return nil
	}
	return &s.Rank
}

// postScores applies one update or a batch of them.
func (s *Server) postScores(c echo.Context) error {
	board := param(c, "board")
	body, key, err := readPosted(c)
	if err != nil {
		return err
	}
	if list, isBatch := body["updates"]; isBatch {
		if err := body.only("updates"); err != nil {
			return err
		}
		return s.applyBatch(c, board, list, key)
	}
	answer, err := s.update(c.Request().Context(), board, body, key)
	if err != nil {
		return err
	}
	return ok(c, answer)
}

// update applies one update.
func (s *Server) update(ctx context.Context, board string, body object, key string) (resultJSON, error) {
	u, err := readUpdate(body, key)
	if err != nil {
		return resultJSON{}, err
	}
	outcomes, err := s.store.Apply(ctx, board, []definition.Update{u})
	if err == nil {
		err = outcomes[0].Err
	}
	if err != nil {
		return resultJSON{}, err
	}
	return newResult(board, u.Member, outcomes[0].Result), nil
}

// applyBatch applies a batch of updates.
func (s *Server) applyBatch(c echo.Context, board string, list jsontext.Value, key string) error {
	results, err := batch("updates", list, maxUpdates, key, readUpdate, func(updates []definition.Update) (func(int) (any, error), error) {
		outcomes, err := s.store.Apply(c.Request().Context(), board, updates)
		return func(i int) (any, error) {
			return newResult(board, updates[i].Member, outcomes[i].Result), outcomes[i].Err
		}, err
	})
	if err != nil {
		return err
	}
	return ok(c, results)
}

func refused(err error) refusedJSON {
	p := describe(err)
	return refusedJSON{errorJSON{Code: p.code, Message: p.message, Field: p.field}}
}

// readUpdate reads an update; key is the id that its request gives it.
func readUpdate(o object, key string) (u definition.Update, err error) {
	if err = o.only("member", "score", "op", "id", "if", "data", "at"); err != nil {
		return u, err
	}
	if u.Member, err = o.required("member"); err != nil {
		return u, err
	}
	if u.Score, err = o.integer("score"); err != nil {
		return u, err
	}
	op, err := o.optional("op")
	if err != nil {
		return u, err
	}
	u.Op = definition.Mode(op)
	condition, err := o.optional("if")
	if err != nil {
		return u, err
	}
	u.If = definition.Condition(condition)
	if data, there := o["data"]; there {
		if u.Data, err = definition.CompactData(data); err != nil {
			return u, err
		}
	}
	if at, there := o["at"]; there {
		if u.At, err = definition.ParseAt(at); err != nil {
			return u, err
		}
	}
	if u.ID, err = o.optional("id"); err != nil {
		return u, err
	}
	if u.ID != "" && key != "" && u.ID != key {
		return u, errTwoIDs
	}
	u.ID = cmp.Or(u.ID, key)
	return u, u.Check()
}

// deleteMember takes a member off a board.
func (s *Server) deleteMember(c echo.Context) error {
	board, member := param(c, "board"), param(c, "member")
	if err := readQuery(c).err; err != nil {
		return err
	}
	r, err := s.store.Remove(c.Request().Context(), board, member)
	if err != nil {
		return err
	}
	return ok(c, newResult(board, member, r))
}
