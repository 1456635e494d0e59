package server

import (
	"net/http"
	"strings"

	"rankcast/server/access"
	"rankcast/server/internal/gate"
	"rankcast/server/internal/request"

	"github.com/labstack/echo/v5"
)

var (
	readsBoard       = gate.Need{Scope: access.ScopeRead, Resource: access.BoardResource}
	readsEvent       = gate.Need{Scope: access.ScopeRead, Resource: access.EventResource}
	readsKind        = gate.Need{Scope: access.ScopeRead, Resource: access.KindResource}
	readsList        = gate.Need{Scope: access.ScopeRead}
	writesBoard      = gate.Need{Scope: access.ScopeWrite, Resource: access.BoardResource}
	writesEvent      = gate.Need{Scope: access.ScopeWrite, Resource: access.EventResource}
	writesKind       = gate.Need{Scope: access.ScopeWrite, Resource: access.KindResource}
	moderatesBoard   = gate.Need{Scope: access.ScopeModerate, Resource: access.BoardResource}
	moderatesEvent   = gate.Need{Scope: access.ScopeModerate, Resource: access.EventResource}
	moderatesKind    = gate.Need{Scope: access.ScopeModerate, Resource: access.KindResource}
	moderatesList    = gate.Need{Scope: access.ScopeModerate}
	administersBoard = gate.Need{Scope: access.ScopeAdmin, Resource: access.BoardResource}
	// The caller of an event stream may come with a ticket.
	streamsBoard     = gate.Need{Scope: access.ScopeRead, Resource: access.BoardResource, TakesTicket: true, TakesNoTurn: true}
	exportsBoard     = gate.Need{Scope: access.ScopeAdmin, Resource: access.BoardResource, TakesNoTurn: true}
	administersKind  = gate.Need{Scope: access.ScopeAdmin, Resource: access.KindResource}
	administersEvent = gate.Need{Scope: access.ScopeAdmin, Resource: access.EventResource}
)

// route is a resource of the API, with what it needs of its caller.
type route struct {
	method, path string
	need         gate.Need
	handler      echo.HandlerFunc
}

// apiRoutes are all routes of the API. GET answers HEAD too, without the body, but for sockets and streams.
func (s *Server) apiRoutes() []route {
	return []route{
		{"GET", "/v1/overview", readsList, s.getOverview},
		{"GET", "/v1/boards", readsList, s.listBoards},
		{"GET", "/v1/boards/:board", readsBoard, request.WithoutQuery(s.getBoard)},
		{"PUT", boardPath, administersBoard, s.putBoard},
		{"DELETE", "/v1/boards/:board", administersBoard, request.WithoutParameters(s.deleteBoard)},
		{"GET", "/v1/boards/:board/periods", readsBoard, request.WithoutQuery(s.listPeriods)},
		{"GET", "/v1/boards/:board/instances", readsBoard, s.listInstances},
		{"GET", "/v1/boards/:board/overview", readsBoard, s.getFamilyOverview},
		{"GET", "/v1/boards/:board/top", readsBoard, s.getTop},
		{"GET", "/v1/boards/:board/history", readsBoard, s.getHistory},
		{"GET", "/v1/boards/:board/at", readsBoard, s.getAt},
		{"GET", "/v1/boards/:board/count", readsBoard, s.getCount},
		{"GET", "/v1/boards/:board/search", readsBoard, s.getSearch},
		{"GET", "/v1/boards/:board/export", exportsBoard, s.getExport},
		{"POST", "/v1/boards/:board/import", administersBoard, request.WithoutQuery(s.postImport)},
		{"GET", "/v1/boards/:board/members", readsBoard, s.getMembers},
		{"GET", "/v1/boards/:board/members/:member", readsBoard, s.getMember},
		{"POST", "/v1/boards/:board/scores", writesBoard, s.postScores},
		{"DELETE", "/v1/boards/:board/members/:member", writesBoard, request.WithoutParameters(s.deleteMember)},
		{"PUT", "/v1/boards/:board/members/:member/score", moderatesBoard, request.WithoutQuery(s.putScore)},
		{"POST", "/v1/boards/:board/freeze", moderatesBoard, request.WithoutQuery(s.postFreeze)},
		{"POST", "/v1/boards/:board/unfreeze", moderatesBoard, request.WithoutQuery(s.postUnfreeze)},
		{"POST", "/v1/boards/:board/reveal", moderatesBoard, request.WithoutQuery(s.postReveal)},
		{"GET", "/v1/boards/:board/pending", moderatesBoard, s.getPending},
		{"GET", "/v1/boards/:board/hidden", moderatesBoard, listsHidden("board", s.hiddenOn)},
		{"PUT", "/v1/boards/:board/hidden/:member", moderatesBoard, moderates("board", s.store.Hide)},
		{"DELETE", "/v1/boards/:board/hidden/:member", moderatesBoard, moderates("board", s.store.Show)},
		{"GET", "/v1/hidden/:kind", moderatesKind, listsHidden("kind", s.hiddenEverywhere)},
		{"PUT", "/v1/hidden/:kind/:member", moderatesKind, moderates("kind", s.store.HideEverywhere)},
		{"DELETE", "/v1/hidden/:kind/:member", moderatesKind, moderates("kind", s.store.ShowEverywhere)},
		{"GET", "/v1/members/:kind", readsKind, s.searchMembers},
		{"GET", "/v1/kinds", readsList, request.WithoutQuery(s.listKinds)},
		{"GET", "/v1/members/:kind/:member", readsKind, request.WithoutQuery(s.getProfile)},
		{"GET", "/v1/members/:kind/:member/boards", readsList, s.listMemberBoards},
		{"PUT", "/v1/members/:kind/:member", writesKind, request.WithoutQuery(s.putProfile)},
		{"DELETE", "/v1/members/:kind/:member", moderatesKind, s.deleteMemberOf},
		{"DELETE", "/v1/members/:kind/:member/profile", writesKind, request.WithoutParameters(s.deleteProfile)},
		{"GET", "/v1/members/:kind/:member/erasure", moderatesKind, request.WithoutQuery(s.getErasure)},
		{"GET", "/v1/members/:kind/:member/hidden", moderatesKind, s.listPlaces},
		{"POST", "/v1/reindex/:kind", administersKind, s.postReindex},
		{"GET", "/v1/nodes", gate.Need{Scope: access.ScopeAdmin, TakesNoTurn: true}, request.WithoutQuery(s.getNodes)},
		{"GET", "/v1/erasures", moderatesList, s.listErasures},
		{"GET", "/v1/deliveries", gate.Need{Scope: access.ScopeAdmin}, s.listDeliveries},
		{"GET", "/v1/audit", moderatesList, s.listAudit},
		{"GET", "/v1/events", readsList, request.WithoutQuery(s.listEvents)},
		{"GET", "/v1/events/:event", readsEvent, request.WithoutQuery(s.getEvent)},
		{"PUT", eventPath, administersEvent, s.putEvent},
		{"DELETE", "/v1/events/:event", administersEvent, request.WithoutParameters(s.deleteEvent)},
		{"POST", "/v1/events/:event", writesEvent, s.postEvents},
		{"POST", "/v1/events/:event/take-back", moderatesEvent, request.WithoutQuery(s.takeBackEvent)},
		{"GET", "/v1/session", moderatesList, request.WithoutQuery(s.getSession)},
		{"POST", "/v1/session", moderatesList, request.WithoutParameters(s.postSession)},
		{"DELETE", "/v1/session", gate.Need{Public: true}, request.WithoutParameters(s.deleteSession)},
		{"POST", "/v1/tickets", gate.Need{Credentials: true}, request.WithoutParameters(s.postTickets)},
		{"GET", "/v1/live", gate.Need{Public: true, TakesNoTurn: true}, s.live}, // each message needs what the same request by HTTP needs
		{"GET", "/v1/boards/:board/live", streamsBoard, s.getStream},
		{"GET", cardPath, gate.Need{Public: true}, s.getCard}, // a board that the caller may not read has no card, as one that does not exist
		{"GET", "/healthz", gate.Need{Public: true, KnowsNoCaller: true}, s.healthz},
		{"GET", readyPath, gate.Need{Public: true}, s.readyz},
		{"GET", metricsPath, gate.Need{Scope: access.ScopeMetrics, TakesNoTurn: true}, echo.WrapHandler(metricsHandler(s.cfg.Metrics))},
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
		case r.method == http.MethodPut && (r.path == boardPath || r.path == eventPath):
			e.Add(r.method, r.path, request.RequireJSON(r.handler, request.YAMLType))
		default:
			// The check stands before all handlers, also of those that read no body.
			e.Add(r.method, r.path, request.RequireJSON(r.handler))
		}
	}
	s.pages.Register(get)
}

// readyPath is of the readiness check, which tells an administrator more than others.
const readyPath = "/readyz"

// boardPath and eventPath are of the definitions, which may be YAML.
const boardPath, eventPath = "/v1/boards/:board", "/v1/events/:event"

// importPath is the one write that takes no JSON.
const importPath = "/v1/boards/:board/import"

// needsOf returns the needs of routes.
func needsOf(routes []route) gate.Needs {
	needs := make(gate.Needs)
	for _, r := range routes {
		needs.Add(r.method, r.path, r.need)
	}
	return needs
}
