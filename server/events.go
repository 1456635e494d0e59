package server

import (
	"cmp"
	"context"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"

	"rankcast/ranking"
	"rankcast/ranking/definition"
)

// maxEvents bounds a batch of events.
const maxEvents = 1000

// listEvents tells what events are defined.
func (s *Server) listEvents(c echo.Context) error {
	if err := readQuery(c).err; err != nil {
		return err
	}
	events, err := s.store.Events(c.Request().Context())
	if err != nil {
		return err
	}
	return ok(c, struct {
		Events []definition.Event `json:"events"`
	}{events})
}

// putEvent defines an event, or changes it.
func (s *Server) putEvent(c echo.Context) error {
	if err := readQuery(c).err; err != nil {
		return err
	}
	body, err := readBody(c)
	if err != nil {
		return err
	}
	e, err := definition.ParseEvent(param(c, "event"), body)
	if err != nil {
		return err
	}
	_, err = s.store.Event(c.Request().Context(), e.Name)
	status := created(err, ranking.ErrUnknownEvent)
	if err := s.store.DefineEvent(c.Request().Context(), e); err != nil {
		return err
	}
	return writeJSON(c, status, echo.MIMEApplicationJSON, e)
}

// getEvent tells what an event is.
func (s *Server) getEvent(c echo.Context) error {
	if err := readQuery(c).err; err != nil {
		return err
	}
	e, err := s.store.Event(c.Request().Context(), param(c, "event"))
	if err != nil {
		return err
	}
	return ok(c, e)
}

// deleteEvent takes an event away; what it did stays.
func (s *Server) deleteEvent(c echo.Context) error {
	if err := readQuery(c).err; err != nil {
		return err
	}
	if err := s.store.DeleteEvent(c.Request().Context(), param(c, "event")); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// postEvents carries out one event or a batch of them.
func (s *Server) postEvents(c echo.Context) error {
	event, ctx := param(c, "event"), c.Request().Context()
	if _, err := s.store.Event(ctx, event); err != nil {
		return err
	}
	body, key, err := readPosted(c)
	if err != nil {
		return err
	}
	// An event with a field of that name is told from a batch by what it holds.
	if list, there := body["events"]; there && list.Kind() == '[' {
		if err := body.only("events"); err != nil {
			return err
		}
		return s.happenBatch(c, event, list, key)
	}
	answer, err := s.happen(ctx, event, body, key)
	if err != nil {
		return err
	}
	return ok(c, answer)
}

// happen carries out one event.
func (s *Server) happen(ctx context.Context, event string, body object, key string) (resultsJSON, error) {
	o, err := readOccurrence(body, key)
	if err != nil {
		return resultsJSON{}, err
	}
	happened, err := s.store.ApplyEvents(ctx, event, []ranking.EventCall{o})
	if err == nil {
		err = happened[0].Err
	}
	if err != nil {
		return resultsJSON{}, err
	}
	return newResults(happened[0]), nil
}

// happenBatch carries out a batch of events.
func (s *Server) happenBatch(c echo.Context, event string, list jsontext.Value, key string) error {
	results, err := batch("events", list, maxEvents, key, readOccurrence, func(all []ranking.EventCall) (func(int) (any, error), error) {
		happened, err := s.store.ApplyEvents(c.Request().Context(), event, all)
		return func(i int) (any, error) {
			if err := happened[i].Err; err != nil {
				return nil, err
			}
			return newResults(happened[i]), nil
		}, err
	})
	if err != nil {
		return err
	}
	return ok(c, results)
}

// readOccurrence reads an event; key is the id that its request gives it.
func readOccurrence(o object, key string) (ranking.EventCall, error) {
	id, err := o.optional("id")
	if err != nil {
		return ranking.EventCall{}, err
	}
	if id != "" && key != "" && id != key {
		return ranking.EventCall{}, errTwoIDs
	}
	delete(o, "id")
	return ranking.EventCall{ID: cmp.Or(id, key), Fields: o}, nil
}

func newResults(h ranking.EventResult) resultsJSON {
	results := make([]any, len(h.Updates))
	for i, u := range h.Updates {
		if err := h.Outcomes[i].Err; err != nil {
			results[i] = refusedOnJSON{Board: u.Board, refusedJSON: refused(err)}
		} else {
			results[i] = newResult(u.Board, u.Update.Member, h.Outcomes[i].Result)
		}
	}
	return resultsJSON{results}
}

type refusedOnJSON struct {
	Board string `json:"board"`
	refusedJSON
}
