package status

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/prometheus/client_golang/prometheus"

	"rankcast/hub"
	"rankcast/ranking/definition"
)

const (
	// interval is the time between two reports of a process.
	interval = 2 * time.Second
	// startTime is how long a process may take to become ready before it reports that it is not. startLook is the time between
	// two looks at that.
	startTime, startLook = 10 * time.Second, 100 * time.Millisecond
	// forgetTimeout bounds the removal of the report of a process that stops.
	forgetTimeout = time.Second
	// MaxWatchers is the most boards in Node.Watchers.
	MaxWatchers = 500
)

// Store keeps the reports; a *ranking.Store is one.
type Store interface {
	ReportNode(ctx context.Context, id string, report []byte) error
	ForgetNode(ctx context.Context, id string) error
}

// Config configures a Reporter. ID, Role, Metrics and State are required.
type Config struct {
	ID, Role, Version string
	// Metrics has the metrics of the process.
	Metrics prometheus.Gatherer
	// State returns what the metrics do not tell. It is called at each report.
	State func(ctx context.Context) State
	Log   *slog.Logger // default slog.Default
}

// State is the state of a process that metrics do not tell.
type State struct {
	Reason   string // why the process is not ready; "": it is
	Files    Files
	Watchers []hub.Watched // MaxWatchers at most
}

// Reporter reports what a process tells of itself. New makes one, Run runs it. All methods may be called concurrently.
type Reporter struct {
	store   Store
	cfg     Config
	started *string

	mu      sync.Mutex
	samples samples
}

// NewReporter makes the Reporter of a process.
func NewReporter(store Store, cfg Config) *Reporter {
	cfg.Log = cmp.Or(cfg.Log, slog.Default())
	now := time.Now()
	return &Reporter{store: store, cfg: cfg, started: definition.FormatTime(now), samples: samples{{at: now}}}
}

// placeEnd ends the place of a process in its id.
const placeEnd = "/"

// NewID returns an id for a process: the name of the machine and the port that the process listens on, which are its place,
// and a random part. at is nil for a process without a listener.
func NewID(at net.Addr) string {
	host, err := os.Hostname()
	if err != nil || definition.TextFault(host, 64) != "" {
		host = "host"
	}
	if at != nil {
		if _, port, err := net.SplitHostPort(at.String()); err == nil {
			host += ":" + port
		}
	}
	return host + placeEnd + strings.ToLower(rand.Text()[:5])
}

// Run reports until ctx ends, and then removes the report. It returns once that is done.
func (r *Reporter) Run(ctx context.Context) {
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), forgetTimeout)
		defer cancel()
		if err := r.store.ForgetNode(ctx, r.cfg.ID); err != nil {
			r.cfg.Log.Debug("the report of this node stays in Redis for a while", "error", err)
		}
	}()
	r.awaitReady(ctx)
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		if err := r.report(ctx); err != nil && ctx.Err() == nil {
			r.cfg.Log.Debug("Redis did not take the report of this node", "error", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// awaitReady waits until the process is ready, for startTime at most: no process is ready in the moment of its start, and that
// is no problem.
func (r *Reporter) awaitReady(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	look := time.NewTicker(startLook)
	defer look.Stop()
	for r.cfg.State(ctx).Reason != "" {
		select {
		case <-look.C:
		case <-ctx.Done():
			return
		}
	}
}

func (r *Reporter) report(ctx context.Context) error {
	report, err := json.Marshal(r.Node(ctx))
	if err != nil {
		return err
	}
	return r.store.ReportNode(ctx, r.cfg.ID, report)
}

// Node returns what the process tells of itself now.
func (r *Reporter) Node(ctx context.Context) Node {
	state := r.cfg.State(ctx)
	n := Node{ID: r.cfg.ID, Role: r.cfg.Role, Version: r.cfg.Version, Started: r.started, Files: state.Files, Watchers: state.Watchers}
	if state.Reason != "" {
		n.Reason = &state.Reason
	}
	families, err := r.cfg.Metrics.Gather()
	if err != nil { // the rest of the metrics is there
		r.cfg.Log.Debug("some metrics of this node are missing in its report", "error", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.samples.add(newSample(time.Now(), families))
	n.Figures = r.samples.figures()
	return n
}
