package server

import (
	"cmp"
	"context"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v5"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/server/access"
	"rankcast/server/internal/gate"
	"rankcast/server/internal/readable"
	"rankcast/server/internal/request"
	"rankcast/server/internal/respond"
)

// maxEvents bounds a batch of events.
const maxEvents = 1000

// listEvents answers the definitions of the events that the caller may read.
func (s *Server) listEvents(c *echo.Context) error {
	return s.okDefinitions(c, s.eventList, "events", func(ctx context.Context, to *readable.List) error {
		events, err := s.store.Events(ctx)
		for _, e := range events {
			err = cmp.Or(err, to.Add(access.Event(e.Name), e))
		}
		return err
	})
}

// putEvent defines an event, or changes its definition.
func (s *Server) putEvent(c *echo.Context) error {
	e, dryRun, err := readDefinition(c, "event", definition.ParseEvent, definition.ParseEventYAML)
	if err != nil {
		return err
	}
	if dryRun {
		was, err := s.store.CheckEvent(c.Request().Context(), e)
		return answerPreview(c, was, e, err)
	}
	_, err = s.store.Event(c.Request().Context(), e.Name)
	status := definitionStatus(err, definition.ErrUnknownEvent)
	if err := s.store.DefineEvent(c.Request().Context(), e, author(c)); err != nil {
		return err
	}
	return respond.JSON(c, status, echo.MIMEApplicationJSON, e)
}

// getEvent answers the definition of an event.
func (s *Server) getEvent(c *echo.Context) error {
	e, err := s.store.Event(c.Request().Context(), request.PathValue(c, "event"))
	return respond.Answer(c, e, err)
}

// deleteEvent deletes the definition of an event. Scores that the event gave stay.
func (s *Server) deleteEvent(c *echo.Context) error {
	return respond.Nothing(c, s.store.DeleteEvent(c.Request().Context(), request.PathValue(c, "event"), author(c)))
}

// postEvents applies one event or a batch of events.
func (s *Server) postEvents(c *echo.Context) error {
	event := request.PathValue(c, "event")
	post, err := request.ReadPost(c)
	if err != nil {
		return err
	}
	// An event may have a field of that name too; only a batch has a list there.
	if list, there := post.Body["events"]; there && list.Kind() == '[' {
		if err := post.Body.Only("events"); err != nil {
			return err
		}
		return s.applyEvents(c, event, list, post)
	}
	answer, err := applyEvent(c.Request().Context(), s.store, gate.Caller(c), event, post)
	return respond.Answer(c, answer, markNotCounted(err))
}

// applyEvent applies one event.
func applyEvent(ctx context.Context, store *ranking.Store, caller *access.Caller, event string, post request.Post) (resultsJSON, error) {
	o, err := readEvent(post.Body, post.Key)
	if err != nil {
		return resultsJSON{}, err
	}
	o.Sender = senderOf(caller)
	happened, err := store.ApplyEvents(ctx, event, []ranking.EventCall{o})
	if err == nil {
		err = happened[0].Err
	}
	if err != nil {
		return resultsJSON{}, err
	}
	if post.Ranked {
		countRanks(ctx, store, happened)
	}
	return newEventResult(caller, happened[0]), nil
}

// countRanks counts the ranks of the members that events have updated, see ranking.Store.CountRanks. It ends at the first board that it
// cannot read, so that an answer waits for one such board only.
func countRanks(ctx context.Context, store *ranking.Store, happened []ranking.EventResult) {
	members, results := make(map[string][]string), make(map[string][]*ranking.Result) // by board
	for _, h := range happened {
		for i, u := range h.Updates {
			if i < len(h.Outcomes) {
				members[u.Board] = append(members[u.Board], u.Update.Member)
				results[u.Board] = append(results[u.Board], &h.Outcomes[i].Result)
			}
		}
	}
	for board := range members {
		if !store.CountRanks(ctx, board, members[board], results[board]) {
			return
		}
	}
}

// applyEvents applies a batch of events.
func (s *Server) applyEvents(c *echo.Context, event string, list jsontext.Value, post request.Post) error {
	results, err := batch("events", list, maxEvents, post.Key, s.batchOf(c), readEvent,
		func(all []ranking.EventCall) (func(int) (any, error), error) {
			for i := range all {
				all[i].Sender = senderOf(gate.Caller(c))
			}
			happened, err := s.store.ApplyEvents(c.Request().Context(), event, all)
			if err == nil && post.Ranked {
				countRanks(c.Request().Context(), s.store, happened)
			}
			return func(i int) (any, error) {
				if err := happened[i].Err; err != nil {
					return nil, err
				}
				return newEventResult(gate.Caller(c), happened[i]), nil
			}, err
		})
	return respond.Answer(c, results, err)
}

// senderOf is the sender of a caller's events; nil for a caller whom the definitions of events do not bind.
func senderOf(c *access.Caller) *ranking.Sender {
	if !c.IsBounded() {
		return nil
	}
	return &ranking.Sender{Sub: c.Sub()}
}

// readEvent decodes an event; key is the id that the Idempotency-Key gives it, "" for none.
func readEvent(o request.Object, key string) (ranking.EventCall, error) {
	f := request.FieldsOf(o)
	id := readID(f, key)
	delete(o, "id")
	return ranking.EventCall{ID: id, Fields: o}, f.Err
}

// newEventResult leaves out the score and the rank on a board that a viewer, or an anonymous caller, may not read.
// The sender of an event needs no grant for the boards that the event writes.
func newEventResult(c *access.Caller, h ranking.EventResult) resultsJSON {
	results := make([]any, len(h.Updates))
	for i, u := range h.Updates {
		o := outcomeFor(c, h.Outcomes[i])
		if o.Err != nil {
			results[i] = boardRefusalJSON{Board: u.Board, refusalJSON: newRefusal(c, o.Err)}
		} else {
			r := o.Result
			if c.IsBounded() && !c.May(access.ScopeRead, access.Board(u.Board)) {
				r.Current, r.Previous = nil, nil
			}
			results[i] = newResult(u.Board, u.Update.Member, r)
		}
	}
	return resultsJSON{results}
}

type boardRefusalJSON struct {
	Board string `json:"board"`
	refusalJSON
}

// takeBackEvent takes back an event by its id (POST …/take-back).
func (s *Server) takeBackEvent(c *echo.Context) error {
	f := request.ReadFields(c, "id", "sub", "reason", "by")
	id, sender := f.RequiredText("id"), readSender(f)
	by, err := moderatorOf(c, f)
	if err != nil {
		return err
	}
	result, err := s.store.TakeBack(c.Request().Context(), request.PathValue(c, "event"), id, sender, by)
	return respond.Answer(c, struct {
		Duplicate bool  `json:"duplicate"`
		Results   []any `json:"results"`
	}{result.Before, newEventResult(gate.Caller(c), result.EventResult).Results}, err)
}

// readSender reads who has sent an event: without the field "sub" a key, with an empty one an anonymous caller,
// and else the viewer of that sub.
func readSender(f *request.Fields) *ranking.Sender {
	if !f.Has("sub") {
		return nil
	}
	return &ranking.Sender{Sub: f.Text("sub")}
}
