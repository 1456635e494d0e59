package gate

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v5"

	"rankcast/server/access"
	"rankcast/server/internal/request"
)

// Need is what a route needs of its caller. A route must say it: no route has the zero Need.
type Need struct {
	// Public marks a route that is open to everybody, or whose handler checks the caller.
	Public bool
	// Credentials marks a route that any key or token may use.
	Credentials bool
	Scope       access.Scope
	// Resource is what the route is about: its parameter board, event or kind names it. For
	// access.NoResource the route needs no grant: a list shows what the caller may read.
	Resource access.ResourceType

	// TakesTicket marks a route whose caller may come with a ticket in place of credentials.
	TakesTicket bool
	// TakesNoTurn marks a route that reads and takes no turn. The answers of sockets, event streams and exports go on for
	// longer than the server works on them, and have limits of their own. An overloaded node must answer with its metrics
	// and its state.
	TakesNoTurn bool
	// KnowsNoCaller marks a route that does not even look at credentials.
	KnowsNoCaller bool
}

// IsPrivate reports whether no page of another site may read the answers of a route: moderation, and whole
// boards.
func (n Need) IsPrivate() bool { return n.Scope&(access.ScopeModerate|access.ScopeAdmin) != 0 }

// check refuses a caller without the scope and the grant.
func (n Need) check(c *echo.Context, caller *access.Caller) error {
	if n.Scope == 0 {
		return nil
	}
	return caller.Check(n.Scope, n.resourceOf(c))
}

// resourceOf is the resource that a request is about.
func (n Need) resourceOf(c *echo.Context) access.Resource {
	if n.Resource == access.NoResource {
		return access.Resource{}
	}
	return access.Resource{Type: n.Resource, Name: request.PathValue(c, n.Resource.String())}
}

// Needs are the needs of routes, by method and path. The zero value is not valid: make makes it.
type Needs map[string]map[string]Need

// Add adds a route; HEAD needs what GET does. It panics for a route that says nothing of its caller.
func (n Needs) Add(method, path string, need Need) {
	if need == (Need{}) {
		panic("the route " + method + " " + path + " says nothing of its caller")
	}
	if n[method] == nil {
		n[method] = make(map[string]Need)
	}
	n[method][path] = need
	if method == http.MethodGet {
		n[http.MethodHead] = n[method]
	}
}

// needOf is what a request by a method needs of its caller: the zero Need for a page, or without a route.
func (g *Gate) needOf(c *echo.Context, method string) Need { return g.needs[method][c.Path()] }

// DocumentedPath is the path of a route as the documentation writes it: /v1/boards/{board}/top.
func DocumentedPath(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if name, ok := strings.CutPrefix(part, ":"); ok {
			parts[i] = "{" + name + "}"
		}
	}
	return strings.Join(parts, "/")
}
