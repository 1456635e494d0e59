package server

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// addRoutes adds all resources, one handler each, and the pages. HEAD is answered as GET, without
// the body.
func (s *Server) addRoutes(e *echo.Echo) {
	get := func(path string, h echo.HandlerFunc) { e.Match([]string{http.MethodGet, http.MethodHead}, path, h) }
	get("/v1/overview", s.getOverview)
	get("/v1/boards", s.listBoards)
	get("/v1/boards/:board", s.getBoard)
	e.PUT("/v1/boards/:board", s.putBoard)
	e.DELETE("/v1/boards/:board", s.deleteBoard)
	get("/v1/boards/:board/periods", s.listPeriods)
	get("/v1/boards/:board/instances", s.listInstances)
	get("/v1/boards/:board/top", s.getTop)
	get("/v1/boards/:board/at", s.getAt)
	get("/v1/boards/:board/count", s.getCount)
	get("/v1/boards/:board/export", s.getExport)
	e.POST("/v1/boards/:board/import", s.postImport)
	get("/v1/boards/:board/members", s.getMembers)
	get("/v1/boards/:board/members/:member", s.getMember)
	e.POST("/v1/boards/:board/scores", s.postScores)
	e.DELETE("/v1/boards/:board/members/:member", s.deleteMember)
	e.PUT("/v1/boards/:board/members/:member/score", s.putScore)
	get("/v1/boards/:board/hidden", s.listHidden)
	e.PUT("/v1/boards/:board/hidden/:member", s.hide)
	e.DELETE("/v1/boards/:board/hidden/:member", s.show)
	get("/v1/hidden/:kind", s.listHiddenEverywhere)
	e.PUT("/v1/hidden/:kind/:member", s.hideEverywhere)
	e.DELETE("/v1/hidden/:kind/:member", s.showEverywhere)
	get("/v1/members/:kind/:member", s.getProfile)
	e.PUT("/v1/members/:kind/:member", s.putProfile)
	e.DELETE("/v1/members/:kind/:member", s.deleteMemberOf)
	e.DELETE("/v1/members/:kind/:member/profile", s.deleteProfile)
	get("/v1/members/:kind/:member/erasure", s.getErasure)
	get("/v1/audit", s.listAudit)
	get("/v1/events", s.listEvents)
	get("/v1/events/:event", s.getEvent)
	e.PUT("/v1/events/:event", s.putEvent)
	e.DELETE("/v1/events/:event", s.deleteEvent)
	e.POST("/v1/events/:event", s.postEvents)
	e.POST("/v1/events/:event/take-back", s.takeBackEvent)
	e.GET("/v1/live", s.live)
	get("/healthz", s.healthz)
	get("/readyz", s.readyz)
	s.pages.Register(get)
}
