package server

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/server/access"
	"rankcast/server/internal/request"
)

// bearer is the scheme of the field Authorization (RFC 6750, section 2.1).
const bearer = "Bearer"

// authenticate finds the caller of a request to the API by the field Authorization, and that of an event stream
// also by its ticket. It refuses credentials that are not valid, also where none are needed: a client must learn
// that its key has been withdrawn. Pages are the same for all callers.
func (s *Server) authenticate(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		version, caller := s.guard.Version(), s.guard.Anonymous()
		isAPI := strings.HasPrefix(c.Request().URL.Path, "/v1/") || c.Path() == cardPath || c.Path() == readyPath || c.Path() == metricsPath
		if fields := c.Request().Header["Authorization"]; len(fields) > 0 && isAPI && !s.guard.Open() {
			credentials, err := readBearer(fields)
			if err != nil {
				return err
			}
			if caller, err = s.guard.Authenticate(c.Request().Context(), credentials); err != nil {
				return err
			}
		}
		if c.Path() == streamPath && c.Request().Method == http.MethodGet { // a socket is told of a wrong one in another way
			if ticket, ok := ticketIn(c); ok {
				var err error
				if caller, err = s.callerOfTicket(c.Request().Context(), ticket); err != nil {
					return err
				}
			}
		}
		w := c.Response().Writer.(*waitingWriter)
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

// callerOf is the caller of a request, whom authenticate has found.
func callerOf(c echo.Context) *access.Caller { return c.Response().Writer.(*waitingWriter).caller }

// callerOr is callerOf also for a request that was refused before authenticate: then it is anonymous.
func (s *Server) callerOr(c echo.Context) *access.Caller {
	if w, ok := c.Response().Writer.(*waitingWriter); ok && w.caller != nil {
		return w.caller
	}
	return s.guard.Anonymous()
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
// token of its rate. It looks at the name of a board, an event or a kind alone, so that nobody learns which ones
// there are.
func (s *Server) authorize(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		n, caller := s.needOf(c, c.Request().Method), callerOf(c)
		if n.public || n == (need{}) {
			return next(c)
		}
		if err := s.takeRate(c, 1); err != nil {
			return err
		}
		if n.credentials && !caller.Authenticated() && !caller.Open() {
			return fmt.Errorf("%w: this needs a key or a token, as Authorization: Bearer", access.ErrUnauthorized)
		}
		if err := n.check(c, caller); err != nil {
			return err
		}
		return next(c)
	}
}

// reauthorize refuses a caller that has lost its rights since authorize: a body may arrive slowly.
func (s *Server) reauthorize(c echo.Context) (err error) {
	w := c.Response().Writer.(*waitingWriter)
	if w.caller, err = s.guard.Reverify(w.caller, w.version); err != nil {
		return err
	}
	return s.needOf(c, c.Request().Method).check(c, w.caller)
}

// check refuses a caller without the scope and the grant.
func (n need) check(c echo.Context, caller *access.Caller) error {
	if n.scope == 0 {
		return nil
	}
	return caller.Check(n.scope, n.resourceOf(c))
}

// resourceOf is the resource that a request is about.
func (n need) resourceOf(c echo.Context) access.Resource {
	if n.resource == access.NoResource {
		return access.Resource{}
	}
	return access.Resource{Type: n.resource, Name: request.PathValue(c, n.resource.String())}
}

// takeRate takes n tokens of the rate of a request's caller. From the second call on, they count as of the
// same request. The answer tells the caller what is left.
func (s *Server) takeRate(c echo.Context, n int) error {
	w := c.Response().Writer.(*waitingWriter)
	quota, err := s.guard.Take(w.caller, w.address, n, w.tokens)
	w.tokens += n
	if quota != (access.Quota{}) {
		h := c.Response().Header()
		h.Set("RateLimit-Policy", fmt.Sprintf(`"%s";q=%d;w=%d`, quota.Policy, quota.Tokens, seconds(quota.Window)))
		h.Set("RateLimit", fmt.Sprintf(`"%s";r=%d;t=%d`, quota.Policy, quota.Remaining, seconds(quota.Reset)))
	}
	return err
}

// batchCaller is the caller of a batch, of whose rate authorize has taken one token.
type batchCaller struct {
	caller *access.Caller
	take   func(n int) error // takes n tokens more
}

func (s *Server) batchOf(c echo.Context) batchCaller {
	return batchCaller{callerOf(c), func(n int) error { return s.takeRate(c, n) }}
}

// checkAuthor gives an act its author: with an access file, always the caller's key. It refuses another name.
func checkAuthor(c echo.Context, m ranking.Moderator) (ranking.Moderator, error) {
	caller := callerOf(c)
	if caller.Open() {
		return m, nil
	}
	if name := caller.KeyName(); m.By != "" && m.By != name {
		return m, &ranking.FieldError{Field: "by", Reason: fmt.Sprintf("is %q; want %q, the name of the key, or omit it", definition.Clip(m.By), name), Kind: access.ErrForbidden}
	}
	m.By = caller.KeyName()
	return m, nil
}

// author is the author of a request without a reason: the caller's key.
func author(c echo.Context) ranking.Moderator { return ranking.Moderator{By: callerOf(c).KeyName()} }
