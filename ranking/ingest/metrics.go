package ingest

import (
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// The results of an entry.
const (
	resultApplied   = "applied"
	resultDuplicate = "duplicate"       // its id had counted before
	resultRefused   = "refused"         // the entry is wrong, or a board does not take it
	resultUnknown   = "outcome_unknown" // the entry may have counted, and its id may be forgotten
)

// metrics are the figures of an Ingest.
type metrics struct {
	lagEntries *prometheus.GaugeVec
	lagSeconds *prometheus.GaugeVec
	entries    *prometheus.CounterVec
	dead       *prometheus.GaugeVec
}

// newMetrics registers the metrics; with nil it only makes them.
func newMetrics(r prometheus.Registerer, streams []string) *metrics {
	factory, label := promauto.With(r), []string{"stream"}
	m := &metrics{
		lagEntries: factory.NewGaugeVec(prometheus.GaugeOpts{Name: "rankcast_ingest_lag_entries",
			Help: "Entries of a stream that are not applied yet."}, label),
		lagSeconds: factory.NewGaugeVec(prometheus.GaugeOpts{Name: "rankcast_ingest_lag_seconds",
			Help: "Age of the oldest entry of a stream that is not applied yet. While Redis does not answer: the most that it can be."}, label),
		entries: factory.NewCounterVec(prometheus.CounterOpts{Name: "rankcast_ingest_entries_total",
			Help: "Entries of a stream that this process has acknowledged, by result."}, []string{"stream", "result"}),
		dead: factory.NewGaugeVec(prometheus.GaugeOpts{Name: "rankcast_ingest_dead_letters", Help: "Dead letters of a stream."}, label),
	}
	for _, stream := range streams {
		m.lagEntries.WithLabelValues(stream)
		m.lagSeconds.WithLabelValues(stream)
		m.dead.WithLabelValues(stream)
		for _, result := range []string{resultApplied, resultDuplicate, resultRefused, resultUnknown} {
			m.entries.WithLabelValues(stream, result)
		}
	}
	return m
}

// observe sets the gauges of a stream by a look at it.
func (m *metrics) observe(stream string, t taken) {
	m.lagEntries.WithLabelValues(stream).Set(float64(t.length))
	m.lagSeconds.WithLabelValues(stream).Set(t.lag().Seconds())
	m.dead.WithLabelValues(stream).Set(float64(t.dead))
}

// observeFailure sets the lag of a stream after a look at it has failed. The other gauges stay as they were.
func (m *metrics) observeFailure(stream string, lag time.Duration) {
	m.lagSeconds.WithLabelValues(stream).Set(lag.Seconds())
}

// timeOf returns the time of the id of an entry, which Redis makes of its clock: 1763900000123-0.
func timeOf(id string) (at time.Time, ok bool) {
	ms, _, _ := strings.Cut(id, "-")
	n, err := strconv.ParseInt(ms, 10, 64)
	return time.UnixMilli(n).UTC(), err == nil
}
