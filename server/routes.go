package server

import (
	"net/http"

	"rankcast/server/internal/request"

	"github.com/labstack/echo/v4"
)

// addRoutes adds all resources, one handler each, and the pages. HEAD is answered as GET, without
// the body.
func (s *Server) addRoutes(e *echo.Echo) {
	// Each write but the import takes JSON; the check stands before all handlers, also of those that read
	// no body.
	put := func(path string, h echo.HandlerFunc) { e.PUT(path, h, request.RequireJSON) }
	post := func(path string, h echo.HandlerFunc) { e.POST(path, h, request.RequireJSON) }
	remove := func(path string, h echo.HandlerFunc) { e.DELETE(path, h, request.RequireJSON) }
	get := func(path string, h echo.HandlerFunc) { e.Match([]string{http.MethodGet, http.MethodHead}, path, h) }
	get("/v1/overview", s.getOverview)
	get("/v1/boards", s.listBoards)
	get("/v1/boards/:board", s.getBoard)
	put("/v1/boards/:board", s.putBoard)
	remove("/v1/boards/:board", s.deleteBoard)
	get("/v1/boards/:board/periods", s.listPeriods)
	get("/v1/boards/:board/instances", s.listInstances)
	get("/v1/boards/:board/top", s.getTop)
	get("/v1/boards/:board/at", s.getAt)
	get("/v1/boards/:board/count", s.getCount)
	get("/v1/boards/:board/export", s.getExport)
	e.POST("/v1/boards/:board/import", s.postImport)
	get("/v1/boards/:board/members", s.getMembers)
	get("/v1/boards/:board/members/:member", s.getMember)
	post("/v1/boards/:board/scores", s.postScores)
	remove("/v1/boards/:board/members/:member", s.deleteMember)
	put("/v1/boards/:board/members/:member/score", s.putScore)
	get("/v1/boards/:board/hidden", s.listHidden)
	put("/v1/boards/:board/hidden/:member", s.hide)
	remove("/v1/boards/:board/hidden/:member", s.show)
	get("/v1/hidden/:kind", s.listHiddenEverywhere)
	put("/v1/hidden/:kind/:member", s.hideEverywhere)
	remove("/v1/hidden/:kind/:member", s.showEverywhere)
	get("/v1/members/:kind/:member", s.getProfile)
	put("/v1/members/:kind/:member", s.putProfile)
	remove("/v1/members/:kind/:member", s.deleteMemberOf)
	remove("/v1/members/:kind/:member/profile", s.deleteProfile)
	get("/v1/members/:kind/:member/erasure", s.getErasure)
	get("/v1/audit", s.listAudit)
	get("/v1/events", s.listEvents)
	get("/v1/events/:event", s.getEvent)
	put("/v1/events/:event", s.putEvent)
	remove("/v1/events/:event", s.deleteEvent)
	post("/v1/events/:event", s.postEvents)
	post("/v1/events/:event/take-back", s.takeBackEvent)
	e.GET("/v1/live", s.live)
	e.GET("/v1/boards/:board/live", s.getStream)
	get("/healthz", s.healthz)
	get("/readyz", s.readyz)
	s.pages.Register(get)
}
