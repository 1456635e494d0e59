package gate

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/labstack/echo/v5"
)

// answerTime is the time within which a write gets an answer, also while Redis hangs.
const answerTime = 2 * time.Second

// TurnBody is the body of a write. The write has its turn from when its body has arrived until End.
type TurnBody struct {
	io.ReadCloser
	gate    *Gate
	c       *echo.Context
	release func() // nil: it is not the turn of the write
}

// Begin is for request.ReadBody.
func (b *TurnBody) Begin(c *echo.Context, bytes int) error {
	waited, err := b.Renew(c.Request().Context(), bytes)
	if err != nil || waited < answerTime/8 {
		return err
	}
	// The wait is part of the time within which the server promises an answer.
	ctx, cancel := context.WithTimeout(c.Request().Context(), max(answerTime-waited, answerTime/8))
	release := b.release
	b.release = func() {
		cancel()
		release()
	}
	c.SetRequest(c.Request().WithContext(ctx))
	return nil
}

// Renew ends the turn, and waits for another one, for so many bytes. It returns an error also if the caller has lost
// its rights while the body arrived.
func (b *TurnBody) Renew(ctx context.Context, bytes int) (waited time.Duration, err error) {
	b.End()
	if b.release, waited, err = b.gate.cfg.Limits.AcquireWrite(ctx, Client(b.c), bytes); err == nil {
		err = b.gate.Reauthorize(b.c)
	}
	return waited, err
}

// End ends the turn, if it is the turn of the write.
func (b *TurnBody) End() {
	if b.release != nil {
		b.release()
		b.release = nil
	}
}

// takeTurns makes requests wait for their turn: a write once its body has arrived, a read at once. The turn of
// a read ends when its answer is complete: a client that reads slowly keeps none. What lasts has no turn.
func (g *Gate) takeTurns(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c *echo.Context) error {
		r, w := c.Request(), c.Response().(*exchange)
		switch r.Method {
		case http.MethodGet, http.MethodHead:
			if g.needOf(c, r.Method).TakesNoTurn {
				return next(c)
			}
			var err error
			if w.release, err = g.cfg.Limits.AcquireRead(r.Context(), w.address); err != nil {
				return err
			}
			defer w.endTurn()
		case http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch:
			body := &TurnBody{ReadCloser: r.Body, gate: g, c: c}
			r.Body = body
			defer body.End()
			if r.ContentLength == 0 {
				if err := body.Begin(c, 0); err != nil {
					return err
				}
			}
		}
		return next(c)
	}
}
