package server

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/labstack/echo/v5"
	"github.com/prometheus/client_golang/prometheus"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/server/access"
	"rankcast/server/internal/gate"
	"rankcast/server/internal/problem"
	"rankcast/server/internal/respond"
	"rankcast/server/status"
)

// healthz answers that the process is alive, whatever the state of Redis.
func (s *Server) healthz(c *echo.Context) error {
	return respond.OK(c, struct {
		Status string `json:"status"`
	}{"ok"})
}

// readyz answers whether the node can serve traffic: Redis answers, and allows all that the node needs; the node
// receives its changes, and is not stopping. With the parameter verbose it also answers the state of the files
// that the node reads again, to callers with the scope admin.
func (s *Server) readyz(c *echo.Context) error {
	verbose := c.QueryParams().Has("verbose")
	if verbose {
		if err := gate.Caller(c).Check(access.ScopeAdmin, access.Resource{}); err != nil {
			return err
		}
	}
	err := s.checkReady(c.Request().Context())
	switch {
	case !verbose && err != nil:
		return err
	case !verbose:
		return s.healthz(c)
	case err != nil:
		return &unreadyError{err, s.fileStates()}
	}
	return respond.OK(c, nodeStateJSON{"ok", s.fileStates()})
}

// unreadyError is the reason for which a node cannot serve traffic, with the state of its files.
type unreadyError struct {
	error
	files status.Files
}

func (e *unreadyError) Unwrap() error { return e.error }

// Extend is part of gate.Extended.
func (e *unreadyError) Extend(p gate.Problem) any {
	return struct {
		gate.Problem
		status.Files
	}{p, e.files}
}

func (s *Server) fileStates() (j status.Files) {
	if !s.guard.Open() {
		j.Access = newFileState(s.guard.Status())
	}
	if of, there := s.guard.KeySetStatus(); there {
		j.Keys = newFileState(of)
	}
	if s.cfg.Certificate != nil {
		of := s.cfg.Certificate.Status()
		j.TLS = newFileState(of.Status)
		j.TLS.Expires = definition.FormatTime(of.Expires)
	}
	return j
}

// nodeStateJSON is a ready node. A file that is not in force does not make the node unready: the last valid one is
// in force.
type nodeStateJSON struct {
	Status string `json:"status"`
	status.Files
}

func newFileState(of access.Status) *status.File {
	j := &status.File{Since: definition.FormatTime(of.Since)}
	if of.Fault != nil {
		j.Fault = new(of.Fault.Error())
	}
	return j
}

// outageTimeout bounds the question why a node receives no changes, and a scrape. A Redis that hangs must not hold up
// the answer of a node that is known not to be ready.
const outageTimeout = 500 * time.Millisecond

var errStopping = fmt.Errorf("%w: the node is stopping", problem.ErrNotReady)

// checkReady returns why the node cannot serve traffic; nil if it can.
func (s *Server) checkReady(ctx context.Context) error {
	if s.stopping.Load() { // without a question to Redis, which may hang
		return errStopping
	}
	if !s.hub.Up() {
		short, cancel := context.WithTimeout(ctx, outageTimeout)
		defer cancel()
		ctx = short
	}
	return s.probe(ctx).unready
}

// nodeProbe is what a probe of Redis has shown.
type nodeProbe struct {
	unready error // why the node cannot serve traffic; nil if it can
	redisUp bool  // Redis answers, and the node receives the changes of all watched boards
}

// probe asks Redis for an answer.
func (s *Server) probe(ctx context.Context) (p nodeProbe) {
	up := s.hub.Up()
	err := s.store.Ping(ctx)
	outage := ranking.OutageOf(err)
	p.redisUp = s.hub.ReceivesAll() && (err == nil || outage.Answered)
	if err != nil {
		s.log.Debug("the node is not ready", "error", err)
	}
	reason := cmp.Or(outage.Reason, "the log has the reason")
	switch {
	case s.stopping.Load():
		p.unready = errStopping
	case s.store.MissingRights() != nil:
		p.unready = fmt.Errorf("%w: %w", problem.ErrNotReady, s.store.MissingRights())
	case up && outage.Answered:
		p.unready = fmt.Errorf("%w: %s", problem.ErrNotReady, reason)
	case !up:
		p.unready = fmt.Errorf("%w: the node receives no changes from Redis: %s", problem.ErrNotReady, reason)
	case err != nil:
		p.unready = fmt.Errorf("%w: Redis does not answer: %s", problem.ErrNotReady, reason)
	}
	return p
}

// The metrics of the state of the node.
var (
	readyDesc   = prometheus.NewDesc("rankcast_ready", "1 while /readyz answers 200, else 0.", nil, nil)
	redisUpDesc = prometheus.NewDesc("rankcast_redis_up",
		"1 while Redis answers and the node receives the changes of all watched boards, else 0.", nil, nil)
)

// stateMetrics collects the state of a node. A scrape probes Redis, once, so that the state is never older than that.
type stateMetrics struct{ of *Server }

// Describe is part of prometheus.Collector. It probes nothing: the server may not have started.
func (stateMetrics) Describe(to chan<- *prometheus.Desc) {
	to <- readyDesc
	to <- redisUpDesc
}

// Collect is part of prometheus.Collector.
func (m stateMetrics) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), outageTimeout)
	defer cancel()
	p := m.of.probe(ctx)
	for desc, is := range map[*prometheus.Desc]bool{readyDesc: p.unready == nil, redisUpDesc: p.redisUp} {
		value := 0.0
		if is {
			value = 1
		}
		to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value)
	}
}
