package ranking

import (
	"context"
	"errors"
	"time"

	"rankcast/ranking/internal/script"
)

const (
	// reportKept is how long the report of a silent node stays: an operator looks within an hour, and a node that comes
	// back has another id.
	reportKept = time.Hour
	// maxReportsDropped bounds the reports that one call drops. Each node reports more often than nodes come and go.
	maxReportsDropped = 10
	// MaxNodes is the most nodes that Nodes returns.
	MaxNodes = 100
)

// NodeReport is what a node has reported of itself.
type NodeReport struct {
	ID     string
	At     time.Time // when Redis took the report
	Report []byte    // JSON
}

// ReportNode stores what a node reports of itself, in place of its last report. id names the node and is not empty. A node
// reports every few seconds: after an hour of silence its report is dropped. ReportNode returns ErrUnavailable when Redis
// does not answer.
func (s *Store) ReportNode(ctx context.Context, id string, report []byte) error {
	return s.report(ctx, id, report)
}

// ForgetNode removes the report of a node that stops.
func (s *Store) ForgetNode(ctx context.Context, id string) error { return s.report(ctx, id, nil) }

func (s *Store) report(ctx context.Context, id string, report []byte) error {
	return script.Node.Run(ctx, s.rdb, s.reportKeys(), []any{id, report, reportKept.Microseconds(), maxReportsDropped}).Err
}

func (s *Store) reportKeys() []string { return []string{s.keys.NodeReports(), s.keys.ReportedNodes()} }

// Nodes returns the reports of the last hour, the newest first, at most MaxNodes of them. now is the time by the clock of
// Redis, which also made the times of the reports. Nodes returns ErrUnavailable when Redis does not answer.
func (s *Store) Nodes(ctx context.Context) (list []NodeReport, now time.Time, err error) {
	r := script.Nodes.Run(ctx, s.rdb, s.reportKeys(), []any{reportKept.Microseconds(), MaxNodes})
	now = time.UnixMicro(r.Number()).UTC()
	reports := r.List()
	for reports.More() {
		list = append(list, NodeReport{reports.Text(), time.UnixMicro(reports.Number()).UTC(), []byte(reports.Text())})
	}
	if err := errors.Join(r.Err, reports.Err); err != nil {
		return nil, time.Time{}, err
	}
	return list, now, nil
}
