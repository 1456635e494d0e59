package server

import (
	"net/http"
	"strings"

	"rankcast/server/access"
	"rankcast/server/internal/request"

	"github.com/labstack/echo/v4"
)

// need is what a route needs of its caller. A route must say it: no route has the zero need.
type need struct {
	// public marks a route that is open to everybody, or whose handler checks the caller.
	public bool
	scope  access.Scope
	// resource is what the route is about: its parameter board, event or kind names it. For
	// access.NoResource the route needs no grant: a list shows what the caller may read.
	resource access.ResourceType
	// credentials marks a route that any key or token may use.
	credentials bool
}

var (
	readsBoard       = need{scope: access.ScopeRead, resource: access.BoardResource}
	readsEvent       = need{scope: access.ScopeRead, resource: access.EventResource}
	readsKind        = need{scope: access.ScopeRead, resource: access.KindResource}
	readsList        = need{scope: access.ScopeRead}
	writesBoard      = need{scope: access.ScopeWrite, resource: access.BoardResource}
	writesEvent      = need{scope: access.ScopeWrite, resource: access.EventResource}
	writesKind       = need{scope: access.ScopeWrite, resource: access.KindResource}
	moderatesBoard   = need{scope: access.ScopeModerate, resource: access.BoardResource}
	moderatesEvent   = need{scope: access.ScopeModerate, resource: access.EventResource}
	moderatesKind    = need{scope: access.ScopeModerate, resource: access.KindResource}
	administersBoard = need{scope: access.ScopeAdmin, resource: access.BoardResource}
	administersEvent = need{scope: access.ScopeAdmin, resource: access.EventResource}
)

// route is a resource of the API, with what it needs of its caller.
type route struct {
	method, path string
	need         need
	handler      echo.HandlerFunc
}

// apiRoutes are all routes of the API. GET answers HEAD too, without the body, but for sockets and streams.
func (s *Server) apiRoutes() []route {
	return []route{
		{"GET", "/v1/overview", readsList, s.getOverview},
		{"GET", "/v1/boards", readsList, s.listBoards},
		{"GET", "/v1/boards/:board", readsBoard, s.getBoard},
		{"PUT", "/v1/boards/:board", administersBoard, s.putBoard},
		{"DELETE", "/v1/boards/:board", administersBoard, s.deleteBoard},
		{"GET", "/v1/boards/:board/periods", readsBoard, s.listPeriods},
		{"GET", "/v1/boards/:board/instances", readsBoard, s.listInstances},
		{"GET", "/v1/boards/:board/overview", readsBoard, s.getFamilyOverview},
		{"GET", "/v1/boards/:board/top", readsBoard, s.getTop},
		{"GET", "/v1/boards/:board/history", readsBoard, s.getHistory},
		{"GET", "/v1/boards/:board/at", readsBoard, s.getAt},
		{"GET", "/v1/boards/:board/count", readsBoard, s.getCount},
		{"GET", "/v1/boards/:board/search", readsBoard, s.getSearch},
		{"GET", "/v1/boards/:board/export", administersBoard, s.getExport},
		{"POST", "/v1/boards/:board/import", administersBoard, s.postImport},
		{"GET", "/v1/boards/:board/members", readsBoard, s.getMembers},
		{"GET", "/v1/boards/:board/members/:member", readsBoard, s.getMember},
		{"POST", "/v1/boards/:board/scores", writesBoard, s.postScores},
		{"DELETE", "/v1/boards/:board/members/:member", writesBoard, s.deleteMember},
		{"PUT", "/v1/boards/:board/members/:member/score", moderatesBoard, s.putScore},
		{"GET", "/v1/boards/:board/hidden", moderatesBoard, s.listHidden},
		{"PUT", "/v1/boards/:board/hidden/:member", moderatesBoard, s.hide},
		{"DELETE", "/v1/boards/:board/hidden/:member", moderatesBoard, s.show},
		{"GET", "/v1/hidden/:kind", moderatesKind, s.listHiddenEverywhere},
		{"PUT", "/v1/hidden/:kind/:member", moderatesKind, s.hideEverywhere},
		{"DELETE", "/v1/hidden/:kind/:member", moderatesKind, s.showEverywhere},
		{"GET", "/v1/members/:kind/:member", readsKind, s.getProfile},
		{"GET", "/v1/members/:kind/:member/boards", readsList, s.listMemberBoards},
		{"PUT", "/v1/members/:kind/:member", writesKind, s.putProfile},
		{"DELETE", "/v1/members/:kind/:member", moderatesKind, s.deleteMemberOf},
		{"DELETE", "/v1/members/:kind/:member/profile", writesKind, s.deleteProfile},
		{"GET", "/v1/members/:kind/:member/erasure", moderatesKind, s.getErasure},
		{"GET", "/v1/audit", need{scope: access.ScopeModerate}, s.listAudit},
		{"GET", "/v1/events", readsList, s.listEvents},
		{"GET", "/v1/events/:event", readsEvent, s.getEvent},
		{"PUT", "/v1/events/:event", administersEvent, s.putEvent},
		{"DELETE", "/v1/events/:event", administersEvent, s.deleteEvent},
		{"POST", "/v1/events/:event", writesEvent, s.postEvents},
		{"POST", "/v1/events/:event/take-back", moderatesEvent, s.takeBackEvent},
		{"POST", "/v1/tickets", need{credentials: true}, s.postTickets},
		{"GET", "/v1/live", need{public: true}, s.live}, // each message needs what the same request by HTTP needs
		{"GET", streamPath, readsBoard, s.getStream},
		{"GET", cardPath, need{public: true}, s.getCard}, // a board that the caller may not read has no card, as one that does not exist
		{"GET", "/healthz", need{public: true}, s.healthz},
		{"GET", readyPath, need{public: true}, s.readyz},
		{"GET", metricsPath, need{scope: access.ScopeMetrics}, echo.WrapHandler(metricsHandler(s.cfg.Metrics))},
	}
}

// addRoutes adds all routes of the API, and the pages, which are open to everybody.
func (s *Server) addRoutes(e *echo.Echo, routes []route) {
	get := func(path string, h echo.HandlerFunc) { e.Match([]string{http.MethodGet, http.MethodHead}, path, h) }
	for _, r := range routes {
		switch {
		case r.method == http.MethodGet && !strings.HasSuffix(r.path, "/live"):
			get(r.path, r.handler)
		case r.method == http.MethodGet || r.path == importPath:
			e.Add(r.method, r.path, r.handler)
		default:
			// The check stands before all handlers, also of those that read no body.
			e.Add(r.method, r.path, request.RequireJSON(r.handler))
		}
	}
	s.pages.Register(get)
}

// readyPath is of the readiness check, which tells an administrator more than others.
const readyPath = "/readyz"

// streamPath is of event streams, whose caller may come with a ticket.
const streamPath = "/v1/boards/:board/live"

// importPath is the one write that takes other types than JSON.
const importPath = "/v1/boards/:board/import"

// needsOf returns the needs of routes, by method and path. It panics for a route that says nothing of its caller.
func needsOf(routes []route) map[string]map[string]need {
	needs := make(map[string]map[string]need)
	for _, r := range routes {
		if r.need == (need{}) {
			panic("the route " + r.method + " " + r.path + " says nothing of its caller")
		}
		if needs[r.method] == nil {
			needs[r.method] = make(map[string]need)
		}
		needs[r.method][r.path] = r.need
	}
	needs[http.MethodHead] = needs[http.MethodGet]
	return needs
}

// needOf is what a request by a method needs of its caller: the zero need for a page, or without a route.
func (s *Server) needOf(c echo.Context, method string) need { return s.needs[method][c.Path()] }
