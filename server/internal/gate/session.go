package gate

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/labstack/echo/v5"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/server/access"
	"rankcast/server/internal/origin"
)

// sessionCookie names the cookie with the id of an operator's session.
const sessionCookie = "rankcast_session"

// maxSessions bounds the sessions that a node remembers, at about 300 bytes each.
const maxSessions = 1000

// SessionStore holds the sessions of operators, for all nodes.
type SessionStore interface {
	Session(ctx context.Context, hash string) (about []byte, expires time.Time, err error)
	EndSession(ctx context.Context, hash string) error
}

// session is a session as the store holds it.
type session struct {
	about   []byte
	expires time.Time
}

// callerOfSession returns the caller of the session that the cookie of a request names, or else anonymous. The cookie counts
// only for requests of this server's own pages: a browser also adds it to a request that another page has forged.
//
// A session that has ended is none, and the browser drops its cookie. But a request that changes something is refused: it
// must not go on as anonymous.
func (g *Gate) callerOfSession(c *echo.Context, anonymous *access.Caller) (*access.Caller, error) {
	r := c.Request()
	cookie, err := r.Cookie(sessionCookie)
	if err != nil || !origin.IsOwn(r) {
		return anonymous, nil
	}
	// A shared cache may keep answers to requests without Authorization (RFC 9111, section 3.5).
	c.Response().Header().Set("Cache-Control", "no-store")
	s, err := g.readSession(r.Context(), access.HashSecret(cookie.Value))
	var caller *access.Caller
	if err == nil {
		caller, err = g.cfg.Guard.FromSession(s.about, s.expires)
	}
	if errors.Is(err, access.ErrSession) {
		g.setSession(c, "", -1)
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			return anonymous, nil
		}
	}
	return caller, err
}

// readSession reads a session. While Redis is away, a session that the node has seen before is valid until it expires: the
// operator needs the console most at that time.
func (g *Gate) readSession(ctx context.Context, hash string) (s session, err error) {
	s.about, s.expires, err = g.cfg.Sessions.Session(ctx, hash)
	switch known, ok := g.sessions.Get(hash); {
	case err == nil:
		g.sessions.Put(hash, s, 1)
	case errors.Is(err, ranking.ErrUnknownSession):
		g.sessions.Drop(hash)
		return s, access.ErrSession
	case errors.Is(err, definition.ErrUnavailable) && ok && time.Now().Before(known.expires):
		return known, nil
	}
	return s, err
}

// BeginSession gives the browser of a request the id of a session.
func (g *Gate) BeginSession(c *echo.Context, id string) {
	g.setSession(c, id, int(access.SessionTime.Seconds()))
}

// EndSession ends the session of a request on all nodes, if the request has one.
func (g *Gate) EndSession(c *echo.Context) error {
	cookie, err := c.Request().Cookie(sessionCookie)
	if err != nil || !origin.IsOwn(c.Request()) {
		return nil
	}
	hash := access.HashSecret(cookie.Value)
	if err := g.cfg.Sessions.EndSession(c.Request().Context(), hash); err != nil {
		return err
	}
	g.sessions.Drop(hash)
	g.setSession(c, "", -1)
	return nil
}

// setSession sets the cookie of a session for a number of seconds; -1 deletes it.
func (g *Gate) setSession(c *echo.Context, id string, age int) {
	scheme, prefix := g.addresses.Site(c.Request())
	http.SetCookie(c.Response(), &http.Cookie{
		Name: sessionCookie, Value: id, Path: prefix + "/", MaxAge: age,
		HttpOnly: true, Secure: scheme == "https", SameSite: http.SameSiteStrictMode,
	})
}
