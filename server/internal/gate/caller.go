package gate

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v5"

	"rankcast/ranking"
	"rankcast/server/access"
)

// bearer is the scheme of the field Authorization (RFC 6750, section 2.1).
const bearer = "Bearer"

// authenticate finds the caller of a request to the API by the field Authorization, or else by its session, and that of an
// event stream also by its ticket. It refuses credentials that are not valid, also where none are needed: a client must learn
// that its key has been withdrawn. Pages are the same for all callers.
func (g *Gate) authenticate(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c *echo.Context) (err error) {
		version, caller := g.cfg.Guard.Version(), g.cfg.Guard.Anonymous()
		n := g.needOf(c, c.Request().Method)
		isAPI := strings.HasPrefix(c.Request().URL.Path, "/v1/") || n != Need{} && !n.KnowsNoCaller
		switch fields := c.Request().Header["Authorization"]; {
		case !isAPI || g.cfg.Guard.Open():
		case len(fields) > 0:
			credentials, err := readBearer(fields)
			if err != nil {
				return err
			}
			if caller, err = g.cfg.Guard.Authenticate(c.Request().Context(), credentials); err != nil {
				return err
			}
		case strings.HasPrefix(c.Request().URL.Path, "/v1/"): // caches may keep cards
			if caller, err = g.callerOfSession(c, caller); err != nil {
				return err
			}
		}
		if n.TakesTicket && c.Request().Method == http.MethodGet { // a socket is told of a wrong one in another way
			if ticket, ok := TicketIn(c); ok {
				var err error
				if caller, err = g.CallerOfTicket(c.Request().Context(), ticket); err != nil {
					return err
				}
			}
		}
		w := c.Response().(*exchange)
		w.caller, w.version = caller, version
		return next(c)
	}
}

// readBearer returns the credentials of the fields Authorization of a request.
func readBearer(fields []string) (string, error) {
	scheme, credentials, ok := strings.Cut(fields[0], " ")
	credentials = strings.TrimSpace(credentials)
	if len(fields) > 1 || !ok || !strings.EqualFold(scheme, bearer) || credentials == "" {
		return "", fmt.Errorf("%w: the field Authorization is not valid; want one, with Bearer and a key or a token", access.ErrUnauthorized)
	}
	return credentials, nil
}

// Caller is the caller of a request, whom authenticate has found.
func Caller(c *echo.Context) *access.Caller { return c.Response().(*exchange).caller }

// callerOr is Caller also for a request that was refused before authenticate: then it is anonymous.
func (g *Gate) callerOr(c *echo.Context) *access.Caller {
	if w, ok := c.Response().(*exchange); ok && w.caller != nil {
		return w.caller
	}
	return g.cfg.Guard.Anonymous()
}

// challenge is the field WWW-Authenticate of an answer to a caller without valid credentials; "" for any other
// answer. It has invalid_token if the request had credentials (RFC 6750, section 3.1).
func challenge(r *http.Request, err error) string {
	sent := errors.Is(err, access.ErrExpired) || slices.ContainsFunc(r.Header["Authorization"], func(field string) bool {
		scheme, _, _ := strings.Cut(field, " ")
		return strings.EqualFold(scheme, bearer)
	})
	switch {
	case !errors.Is(err, access.ErrUnauthorized):
		return ""
	case sent:
		return bearer + ` error="invalid_token"`
	}
	return bearer
}

// authorize refuses a caller that may not do what its request asks for, before anything is read, and takes a
// token of its rate. It looks at the name of a board, an event or a kind and reads none, so its answer does
// not tell which ones exist.
func (g *Gate) authorize(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c *echo.Context) error {
		n, caller := g.needOf(c, c.Request().Method), Caller(c)
		if n.Public || n == (Need{}) {
			return next(c)
		}
		if err := g.TakeRate(c, 1); err != nil {
			return err
		}
		if n.Credentials && !caller.Authenticated() && !caller.Open() {
			return fmt.Errorf("%w: this needs a key or a token, as Authorization: Bearer", access.ErrUnauthorized)
		}
		if err := n.check(c, caller); err != nil {
			return err
		}
		return next(c)
	}
}

// Reauthorize refuses a caller that has lost its rights since authorize: a body may arrive slowly.
func (g *Gate) Reauthorize(c *echo.Context) (err error) {
	w := c.Response().(*exchange)
	if w.caller, err = g.cfg.Guard.Reverify(w.caller, w.version); err != nil {
		return err
	}
	return g.needOf(c, c.Request().Method).check(c, w.caller)
}

// TakeRate takes n tokens of the rate of a request's caller. Further calls for a request count with its first one. The
// answer to the request tells the caller what is left.
func (g *Gate) TakeRate(c *echo.Context, n int) error {
	w := c.Response().(*exchange)
	quota, err := g.cfg.Guard.Take(w.caller, w.address, n, w.tokens)
	w.tokens += n
	if quota != (access.Quota{}) {
		h := c.Response().Header()
		h.Set("RateLimit-Policy", fmt.Sprintf(`"%s";q=%d;w=%d`, quota.Policy, quota.Tokens, seconds(quota.Window)))
		h.Set("RateLimit", fmt.Sprintf(`"%s";r=%d;t=%d`, quota.Policy, quota.Remaining, seconds(quota.Reset)))
	}
	return err
}

// TicketStore takes a ticket out of the store: each ticket works once.
type TicketStore interface {
	TakeTicket(ctx context.Context, hash string) (about []byte, err error)
}

// TicketIn is the ticket in the address of a request.
func TicketIn(c *echo.Context) (ticket string, ok bool) {
	tickets := c.QueryParams()["ticket"]
	if len(tickets) == 0 {
		return "", false
	}
	return tickets[0], true
}

// CallerOfTicket is the caller who has got a ticket, which it uses up. The error of a ticket that is not valid is
// an access.ErrExpired.
func (g *Gate) CallerOfTicket(ctx context.Context, ticket string) (*access.Caller, error) {
	about, err := g.cfg.Tickets.TakeTicket(ctx, access.HashSecret(ticket))
	if errors.Is(err, ranking.ErrUnknownTicket) {
		return nil, access.ErrTicket
	}
	if err != nil {
		return nil, err
	}
	return g.cfg.Guard.FromTicket(about)
}
