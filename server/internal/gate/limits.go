package gate

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/labstack/echo/v5"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/fair"
	"rankcast/server/access"
)

const (
	// maxHeaderFields bounds the fields of a request's header: each takes far more memory than its bytes.
	maxHeaderFields = 100
	// refusalPause is the time before the answer to a refused request. A connection gets one such answer a
	// second. Otherwise a client that reads none of them could have the node send them without end.
	refusalPause = time.Second
)

// limitRequests refuses the requests of an address that sends too many, before the server reads a body or
// asks the store. It counts the memory of those that it passes on.
func (g *Gate) limitRequests(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c *echo.Context) error {
		from := g.addresses.Of(c.Request())
		w := &exchange{ResponseWriter: c.Response(), limits: g.cfg.Limits, address: from, conn: c.Request().Context()}
		c.SetResponse(w)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if err := g.cfg.Limits.AllowRequest(from); err != nil {
			fair.Pause(c.Request().Context(), refusalPause)
			return err
		}
		if err := checkHeader(c.Request().Header); err != nil {
			endConnection(c) // the next header would cost as much
			return err
		}
		if r := c.Request(); r.ContentLength != 0 && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
			endConnection(c) // the node does not wait for the body
			return definition.Invalid("body", "is not for "+r.Method+"; send the request without one")
		}
		defer w.countBody(c)()
		return next(c)
	}
}

// endConnection makes the answer the last one of its connection. By HTTP/2 the answer ends its stream alone: the
// connection may have requests of others, whom a proxy serves.
func endConnection(c *echo.Context) {
	if c.Request().ProtoMajor == 1 {
		c.Response().Header().Set("Connection", "close")
	}
}

func checkHeader(h http.Header) error {
	fields := 0
	for _, values := range h {
		fields += len(values)
	}
	if fields > maxHeaderFields {
		return &definition.FieldError{Field: "header", Reason: fmt.Sprintf("has %d fields; want %d at most", fields, maxHeaderFields),
			Kind: definition.ErrTooLarge}
	}
	return nil
}

// Client is the address of a request's client, which limitRequests has found.
func Client(c *echo.Context) access.Address { return c.Response().(*exchange).address }

// AsCaller is the context of a request for reads of large pages: addresses take turns.
func AsCaller(c *echo.Context) context.Context {
	return ranking.WithCaller(c.Request().Context(), Client(c))
}
