package server

import (
	"cmp"
	"context"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/server/internal/request"
)

// maxEvents bounds a batch of events.
const maxEvents = 1000

// listEvents answers the definitions of all events.
func (s *Server) listEvents(c echo.Context) error {
	if err := request.NoQuery(c); err != nil {
		return err
	}
	return s.okDefinitions(c, &s.eventList, func(ctx context.Context) (any, error) {
		events, err := s.store.Events(ctx)
		return struct {
			Events []definition.Event `json:"events"`
		}{events}, err
	})
}

// putEvent defines an event, or changes its definition.
func (s *Server) putEvent(c echo.Context) error {
	if err := request.NoQuery(c); err != nil {
		return err
	}
	body, err := request.ReadBody(c)
	if err != nil {
		return err
	}
	e, err := definition.ParseEvent(request.PathValue(c, "event"), body)
	if err != nil {
		return err
	}
	_, err = s.store.Event(c.Request().Context(), e.Name)
	status := definitionStatus(err, ranking.ErrUnknownEvent)
	if err := s.store.DefineEvent(c.Request().Context(), e); err != nil {
		return err
	}
	return writeJSON(c, status, echo.MIMEApplicationJSON, e)
}

// getEvent answers the definition of an event.
func (s *Server) getEvent(c echo.Context) error {
	if err := request.NoQuery(c); err != nil {
		return err
	}
	e, err := s.store.Event(c.Request().Context(), request.PathValue(c, "event"))
	if err != nil {
		return err
	}
	return ok(c, e)
}

// deleteEvent deletes the definition of an event. Scores that the event gave stay.
func (s *Server) deleteEvent(c echo.Context) error {
	if err := request.NoQuery(c); err != nil {
		return err
	}
	if err := s.store.DeleteEvent(c.Request().Context(), request.PathValue(c, "event")); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// postEvents applies one event or a batch of events.
func (s *Server) postEvents(c echo.Context) error {
	event, ctx := request.PathValue(c, "event"), c.Request().Context()
	if _, err := s.store.Event(ctx, event); err != nil {
		return err
	}
	body, key, err := request.ReadPost(c)
	if err != nil {
		return err
	}
	// An event may have a field of that name too; only a batch has a list there.
	if list, there := body["events"]; there && list.Kind() == '[' {
		if err := body.Only("events"); err != nil {
			return err
		}
		return s.applyEvents(c, event, list, key)
	}
	answer, err := s.applyEvent(ctx, event, body, key)
	if err != nil {
		return err
	}
	return ok(c, answer)
}

// applyEvent applies one event.
func (s *Server) applyEvent(ctx context.Context, event string, body request.Object, key string) (resultsJSON, error) {
	o, err := readEvent(body, key)
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
	return newEventResult(happened[0]), nil
}

// applyEvents applies a batch of events.
func (s *Server) applyEvents(c echo.Context, event string, list jsontext.Value, key string) error {
	results, err := batch("events", list, maxEvents, key, readEvent, func(all []ranking.EventCall) (func(int) (any, error), error) {
		happened, err := s.store.ApplyEvents(c.Request().Context(), event, all)
		return func(i int) (any, error) {
			if err := happened[i].Err; err != nil {
				return nil, err
			}
			return newEventResult(happened[i]), nil
		}, err
	})
	if err != nil {
		return err
	}
	return ok(c, results)
}

// readEvent decodes an event; key is the id that the Idempotency-Key gives it, "" for none.
func readEvent(o request.Object, key string) (ranking.EventCall, error) {
	id, err := o.OptionalText("id")
	if err != nil {
		return ranking.EventCall{}, err
	}
	if id != "" && key != "" && id != key {
		return ranking.EventCall{}, errConflictingIDs
	}
	delete(o, "id")
	return ranking.EventCall{ID: cmp.Or(id, key), Fields: o}, nil
}

func newEventResult(h ranking.EventResult) resultsJSON {
	results := make([]any, len(h.Updates))
	for i, u := range h.Updates {
		if err := h.Outcomes[i].Err; err != nil {
			results[i] = boardRefusalJSON{Board: u.Board, refusalJSON: newRefusal(err)}
		} else {
			results[i] = newResult(u.Board, u.Update.Member, h.Outcomes[i].Result)
		}
	}
	return resultsJSON{results}
}

type boardRefusalJSON struct {
	Board string `json:"board"`
	refusalJSON
}
