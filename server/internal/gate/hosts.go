package gate

import (
	"net"
	"net/http"
	"strings"

	"github.com/labstack/echo/v5"

	"rankcast/ranking/definition"
	"rankcast/server/internal/host"
	"rankcast/server/internal/problem"
)

// SiteURL is the address of the root of the site as the client of a request sees it, with a slash at its end:
// https://scores.example.com/. It is "" if the request names no valid host. The host is that of the request, which
// rejectOtherHosts has checked by Config.Hosts; see access.Addresses.Site for the rest.
func (g *Gate) SiteURL(r *http.Request) string {
	if !host.Valid(r.Host) {
		return ""
	}
	scheme, prefix := g.addresses.Site(r)
	return scheme + "://" + strings.ToLower(r.Host) + prefix + "/"
}

// rejectOtherHosts refuses requests in the name of a host that is not the server's, if the rule applies.
// It stands before the rules for origins: a page that has reached the server by DNS rebinding sends an
// Origin of its own host, which those rules take for the server's.
func (g *Gate) rejectOtherHosts(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c *echo.Context) error {
		// The target of a request in absolute form replaces the header (RFC 9112, section 3.2.2).
		if name := c.Request().Host; g.checksHost.Load() && !g.cfg.Hosts.Allows(name) {
			g.cfg.Hosts.LogRefusal(name)
			return &definition.FieldError{Field: "Host", Reason: g.cfg.Hosts.Refusal(name), Kind: problem.ErrMisdirectedRequest}
		}
		return next(c)
	}
}

// IsLoopback reports whether only this machine reaches an address. There, browsers are the one way in for
// strangers. So they are in a private network where anybody may do anything.
func IsLoopback(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}
