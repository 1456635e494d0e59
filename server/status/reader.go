package status

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"rankcast/ranking"
	"rankcast/ranking/definition"
)

// Report says whether all is well, and has the state by which Judge decides that.
type Report struct {
	Now      *string          `json:"now"` // by the clock of Redis; nil while it does not answer
	Well     bool             `json:"well"`
	Problems []Problem        `json:"problems"`
	Nodes    []Node           `json:"nodes"` // by id; while Redis does not answer, that which was asked
	Redis    []ranking.Master `json:"redis"` // each master
}

// Source has the state of nodes and of Redis; a *ranking.Store is one.
type Source interface {
	Nodes(ctx context.Context) ([]ranking.NodeReport, time.Time, error)
	Masters(ctx context.Context) ([]ranking.Master, error)
}

// Read reads the state of all nodes and of Redis. The node of own tells what it is now, and not what it has reported: so there
// is a report while Redis does not answer, too.
func Read(ctx context.Context, from Source, own *Reporter) *Report {
	var reading sync.WaitGroup
	var masters []ranking.Master
	var mastersErr error
	reading.Go(func() { masters, mastersErr = from.Masters(ctx) })
	nodes, now, err := readNodes(ctx, from)
	reading.Wait()
	report := &Report{Now: definition.FormatTime(now), Nodes: withOwn(nodes, own.Node(ctx)), Redis: masters}
	if report.Redis == nil {
		report.Redis = []ranking.Master{}
	}
	report.Problems = append(judgeOutage(cmp.Or(err, mastersErr), masters), Judge(cmp.Or(now, time.Now()), report.Nodes, masters)...)
	report.Well = len(report.Problems) == 0
	return report
}

// readNodes reads the reports of all nodes.
func readNodes(ctx context.Context, from Source) ([]Node, time.Time, error) {
	reports, now, err := from.Nodes(ctx)
	if err != nil {
		return nil, time.Time{}, err
	}
	nodes := make([]Node, 0, len(reports))
	for _, r := range reports {
		var n Node
		if err := json.Unmarshal(r.Report, &n); err != nil { // the other fields may be half read
			n = Node{ID: r.ID, Reason: new("its version reports in another form")}
		}
		n.At, n.Seen = r.At, definition.FormatTime(r.At)
		nodes = append(nodes, n)
	}
	return withoutReplaced(nodes, now), now, nil
}

// withOwn puts what the node itself tells in place of its last report, and sorts the nodes by id.
func withOwn(nodes []Node, own Node) []Node {
	i := slices.IndexFunc(nodes, func(n Node) bool { return n.ID == own.ID })
	if i < 0 {
		nodes = append(nodes, own)
	} else {
		own.At, own.Seen = nodes[i].At, nodes[i].Seen
		nodes[i] = own
	}
	slices.SortFunc(nodes, func(a, b Node) int { return cmp.Compare(a.ID, b.ID) })
	return nodes
}

// withoutReplaced drops silent nodes in whose place another one of their role runs: they have crashed, and were started again.
func withoutReplaced(nodes []Node, now time.Time) []Node {
	place := func(n Node) string {
		at, _, _ := strings.Cut(n.ID, placeEnd)
		return n.Role + " " + at
	}
	runs := make(map[string]bool)
	for _, n := range nodes {
		if !n.isSilent(now) {
			runs[place(n)] = true
		}
	}
	return slices.DeleteFunc(nodes, func(n Node) bool { return n.isSilent(now) && runs[place(n)] })
}
