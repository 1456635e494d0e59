package ranking

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/redis/go-redis/v9"

	"rankcast/ranking/definition"
)

// callBuckets are the upper bounds, in seconds, of the histograms of calls: from 100 µs, which is a
// call to a Redis on the same machine, to the default Config.CallTimeout and a half.
var callBuckets = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2, 3}

// The results of an update in metrics.
const (
	updateApplied     = "applied"
	updateDuplicate   = "duplicate"    // its id had counted before
	updateRefused     = "refused"      // the update is wrong, or its board does not take it
	updateTooManyIDs  = "too_many_ids" // the board or the event holds as many ids as it may
	updateOverloaded  = "overloaded"   // too many writes wait on the node
	updateUnavailable = "unavailable"  // Redis did not take it
	updateUnknown     = "unknown"      // Redis may have applied it
)

// The results of a build in metrics.
const (
	buildDone      = "built"
	buildNothing   = "nothing"   // the sources have no data
	buildElsewhere = "elsewhere" // another node builds the result, or has built it meanwhile
	buildFailed    = "failed"
)

// metrics are the figures of a Store.
type metrics struct {
	updates       *prometheus.CounterVec
	updateSeconds prometheus.Histogram
	scriptSeconds *prometheus.HistogramVec
	batchUpdates  prometheus.Histogram
	builds        *prometheus.CounterVec
	buildSeconds  *prometheus.HistogramVec
	settled       prometheus.Counter
}

// newMetrics registers the metrics of a Store; with nil it only makes them.
func newMetrics(r prometheus.Registerer) *metrics {
	factory := promauto.With(r)
	m := &metrics{
		updates: factory.NewCounterVec(prometheus.CounterOpts{Name: "rankcast_updates_total",
			Help: "Updates that clients sent, those of events included, by result."}, []string{"result"}),
		updateSeconds: factory.NewHistogram(prometheus.HistogramOpts{Name: "rankcast_update_seconds", Buckets: callBuckets,
			Help: "Time that the node took to apply a request of updates or events, its wait for others included."}),
		scriptSeconds: factory.NewHistogramVec(prometheus.HistogramOpts{Name: "rankcast_script_seconds", Buckets: callBuckets,
			Help: "Time from the call of a script to its reply, by script. Calls that go out together all take the time of the last reply."},
			[]string{"script"}),
		batchUpdates: factory.NewHistogram(prometheus.HistogramOpts{Name: "rankcast_batch_updates",
			Buckets: prometheus.ExponentialBuckets(1, 2, 8),
			Help:    "Updates of a board that a call of a script applied together."}),
		builds: factory.NewCounterVec(prometheus.CounterOpts{Name: "rankcast_builds_total",
			Help: "Builds of the results of unions and windows that began, by result."}, []string{"kind", "result"}),
		buildSeconds: factory.NewHistogramVec(prometheus.HistogramOpts{Name: "rankcast_build_seconds",
			Buckets: []float64{.001, .005, .01, .05, .1, .5, 1, 5, 10, 30, 60},
			Help:    "Time that a build with a result took."}, []string{"kind"}),
		settled: factory.NewCounter(prometheus.CounterOpts{Name: "rankcast_settled_total", Help: "Closed periods that the node settled."}),
	}
	for _, result := range []string{updateApplied, updateDuplicate, updateRefused, updateTooManyIDs, updateOverloaded,
		updateUnavailable, updateUnknown} {
		m.updates.WithLabelValues(result)
	}
	for _, kind := range []string{"union", "window"} {
		m.buildSeconds.WithLabelValues(kind)
		for _, result := range []string{buildDone, buildNothing, buildElsewhere, buildFailed} {
			m.builds.WithLabelValues(kind, result)
		}
	}
	return m
}

// observeUpdates counts n updates of one request by their outcomes, or by the error of all.
func (m *metrics) observeUpdates(n int, outcomes []Outcome, err error) {
	if err != nil {
		m.updates.WithLabelValues(updateResult(Outcome{Err: err})).Add(float64(n))
		return
	}
	counts := make(map[string]int, 2)
	for _, o := range outcomes {
		counts[updateResult(o)]++
	}
	for result, count := range counts {
		m.updates.WithLabelValues(result).Add(float64(count))
	}
}

// observeEvents counts the updates of the events of one request. An event without outcomes counts as
// one update where it is not known what it would have updated.
func (m *metrics) observeEvents(n int, results []EventResult, err error) {
	if err != nil {
		m.observeUpdates(n, nil, err)
		return
	}
	for _, r := range results {
		m.observeUpdates(max(1, len(r.Updates)), r.Outcomes, r.Err)
	}
}

func updateResult(o Outcome) string {
	switch {
	case o.Err == nil && o.Result.Duplicate:
		return updateDuplicate
	case o.Err == nil:
		return updateApplied
	case errors.Is(o.Err, definition.ErrOutcomeUnknown):
		return updateUnknown
	case errors.Is(o.Err, definition.ErrUnavailable):
		return updateUnavailable
	case errors.Is(o.Err, definition.ErrOverloaded):
		return updateOverloaded
	case errors.Is(o.Err, definition.ErrTooManyIDs):
		return updateTooManyIDs
	}
	return updateRefused
}

// observeBuild counts a build of a board. locked reports whether this node had the lock of the build.
func (m *metrics) observeBuild(r *definition.Compiled, took time.Duration, locked bool, b *build, err error) {
	kind, result := "union", buildDone
	if r.IsWindowed() {
		kind = "window"
	}
	switch {
	case err != nil:
		result = buildFailed
	case b.came == builtNothing:
		result = buildNothing
	case !locked:
		result = buildElsewhere
	default:
		m.buildSeconds.WithLabelValues(kind).Observe(took.Seconds())
	}
	m.builds.WithLabelValues(kind, result).Inc()
}

// observeScript times a command, if it calls a script.
func (m *metrics) observeScript(cmd redis.Cmder, took time.Duration) {
	if call, ok := cmd.(interface{ Script() string }); ok {
		m.scriptSeconds.WithLabelValues(call.Script()).Observe(took.Seconds())
	}
}
