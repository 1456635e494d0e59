package hub

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// resyncReason is why a board's view is read again. Metrics show it.
type resyncReason string

const (
	// resyncFeed: the feed was down, so changes may be lost.
	resyncFeed resyncReason = "feed"
	// resyncGap: a change is missing or contradicts the view, or Redis is at another state than the view.
	resyncGap resyncReason = "gap"
	// resyncReplaced: Redis replaced the board as a whole, as each build of a union does.
	resyncReplaced resyncReason = "replaced"
	// resyncReopened: a period that had closed takes updates again, because its end was moved.
	resyncReopened resyncReason = "reopened"
	// resyncSeqCheck: the view stayed behind Redis, or was ahead of it.
	resyncSeqCheck resyncReason = "seq_check"
	// resyncVerification: the view differed from Redis at the same seq.
	resyncVerification resyncReason = "verification"
	// resyncUnreadable: Redis did not answer a seq check.
	resyncUnreadable resyncReason = "unreadable"
)

var resyncReasons = []resyncReason{resyncFeed, resyncGap, resyncReplaced, resyncReopened, resyncSeqCheck, resyncVerification,
	resyncUnreadable}

// metrics are the figures of a hub.
type metrics struct {
	changes       prometheus.Counter
	resyncs       map[resyncReason]prometheus.Counter
	skipped       prometheus.Counter
	subscriptions prometheus.Gauge
	followers     prometheus.Gauge
}

// newMetrics registers the metrics of a hub; with nil it only makes them.
func newMetrics(r prometheus.Registerer, h *Hub) *metrics {
	factory := promauto.With(r)
	factory.NewGaugeFunc(prometheus.GaugeOpts{Name: "rankcast_watched_boards", Help: "Boards that clients watch on the node, by name."},
		func() float64 { return float64(h.Watched()) })
	m := &metrics{
		changes: factory.NewCounter(prometheus.CounterOpts{Name: "rankcast_changes_total",
			Help: "Changes of watched boards that the node received from Redis."}),
		skipped: factory.NewCounter(prometheus.CounterOpts{Name: "rankcast_frames_skipped_total",
			Help: "Frames that clients did not get because they, or the node, were slow. A later frame held their content."}),
		subscriptions: factory.NewGauge(prometheus.GaugeOpts{Name: "rankcast_subscriptions",
			Help: "Subscriptions of clients to boards and feeds."}),
		followers: factory.NewGauge(prometheus.GaugeOpts{Name: "rankcast_followers", Help: "Subscriptions that follow a member."}),
		resyncs:   map[resyncReason]prometheus.Counter{},
	}
	resyncs := factory.NewCounterVec(prometheus.CounterOpts{Name: "rankcast_resyncs_total",
		Help: "Boards that the node read again, by reason. replaced, reopened and feed are normal."}, []string{"reason"})
	for _, reason := range resyncReasons {
		m.resyncs[reason] = resyncs.WithLabelValues(string(reason))
	}
	return m
}
