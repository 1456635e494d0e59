package live

import (
	"errors"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// closeAbnormal stands for a socket that ended without a close frame (RFC 6455, section 7.4.1).
const closeAbnormal closeCode = 1006

// closeCodes are the codes that metrics name. The label "other" stands for all others, which only
// clients send.
var closeCodes = []closeCode{
	1000, closeGoingAway, closeProtocol, 1003, closeNone, closeAbnormal, closePayload, closePolicy, closeTooLarge, 1011, 1012, 1013,
	closeUnauthorized, closeForbidden,
}

// frameKinds are the types of the frames that the hub makes, and "answer" for all other frames.
var frameKinds = []string{"snapshot", "delta", "me", "status", "feed", answerKind}

const answerKind = "answer"

// scoreToFrameBuckets are the upper bounds, in seconds, of the time from a score to its frame. They are
// dense around 100 ms, the default interval of frames.
var scoreToFrameBuckets = []float64{.001, .0025, .005, .01, .025, .05, .075, .1, .125, .15, .2, .3, .5, 1, 2.5, 5, 10}

// metrics are the figures of Sessions. All methods may be called concurrently.
type metrics struct {
	now          func() time.Time // by the clock of Redis
	sockets      prometheus.Gauge
	streams      prometheus.Gauge
	frames       map[string]prometheus.Counter
	bytes        prometheus.Counter
	scoreToFrame prometheus.Histogram
	closed       map[closeCode]prometheus.Counter
	closedOther  prometheus.Counter
}

// newMetrics registers the metrics of Sessions; with nil it only makes them.
func newMetrics(r prometheus.Registerer, s *Sessions) *metrics {
	factory := promauto.With(r)
	m := &metrics{
		now:    func() time.Time { return s.store.Now() },
		frames: map[string]prometheus.Counter{},
		bytes:  factory.NewCounter(prometheus.CounterOpts{Name: "rankcast_frame_bytes_total", Help: "Bytes of the frames that the node sent."}),
		scoreToFrame: factory.NewHistogram(prometheus.HistogramOpts{Name: "rankcast_score_to_frame_seconds", Buckets: scoreToFrameBuckets,
			Help: "Time from the oldest change of a frame, by Redis's clock, until the kernel has the frame for one client."}),
		closed: map[closeCode]prometheus.Counter{},
	}
	clients := factory.NewGaugeVec(prometheus.GaugeOpts{Name: "rankcast_clients", Help: "Clients that are connected, by kind."},
		[]string{"kind"})
	m.sockets, m.streams = clients.WithLabelValues("websocket"), clients.WithLabelValues("stream")
	frames := factory.NewCounterVec(prometheus.CounterOpts{Name: "rankcast_frames_total",
		Help: "Frames that the node sent, by type."}, []string{"kind"})
	for _, kind := range frameKinds {
		m.frames[kind] = frames.WithLabelValues(kind)
	}
	closed := factory.NewCounterVec(prometheus.CounterOpts{Name: "rankcast_closed_total",
		Help: "WebSockets that ended, by the code of the first close frame of either side; 1006 without one."}, []string{"code"})
	for _, code := range closeCodes {
		m.closed[code] = closed.WithLabelValues(strconv.Itoa(int(code)))
	}
	m.closedOther = closed.WithLabelValues("other")
	return m
}

// sent counts a frame that the kernel has as a whole.
func (m *metrics) sent(f sentFrame) {
	m.countFrame(f.kind, f.size)
	if f.changed.IsZero() {
		return
	}
	if now := m.now(); !now.IsZero() {
		m.scoreToFrame.Observe(max(0, now.Sub(f.changed).Seconds())) // the estimate of Redis's clock may lag
	}
}

func (m *metrics) countFrame(kind string, size int) {
	count := m.frames[kind]
	if count == nil {
		count = m.frames[answerKind]
	}
	count.Inc()
	m.bytes.Add(float64(size))
}

// socketClosed counts the end of a socket. code is that of the close frame which the node sent; 0: none. err is why the
// read of the client's messages ended.
func (m *metrics) socketClosed(code closeCode, err error) {
	if code == 0 {
		code = closeAbnormal
		if received, ok := errors.AsType[closedByClient](err); ok {
			code = closeCode(received)
		}
	}
	if count := m.closed[code]; count != nil {
		count.Inc()
	} else {
		m.closedOther.Inc()
	}
}
