package status

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
)

// process is the metrics of a process, and the samples of them.
type process struct {
	t        *testing.T
	registry *prometheus.Registry
	at       time.Time
	samples  samples

	clients, limited, frames, webhooks *prometheus.GaugeVec // gauges can be set, and are read as counters are
	cpu                                prometheus.Gauge
	builds, delays                     prometheus.Histogram
}

func newProcess(t *testing.T) *process {
	p := &process{t: t, registry: prometheus.NewRegistry(), at: now, samples: samples{{at: now}}}
	vector := func(name, label string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name}, []string{label})
	}
	p.clients, p.limited = vector("rankcast_clients", "kind"), vector("rankcast_limited_total", "limit")
	p.frames, p.webhooks = vector("rankcast_frames_total", "kind"), vector("rankcast_webhooks_total", "result")
	p.cpu = prometheus.NewGauge(prometheus.GaugeOpts{Name: "process_cpu_seconds_total"})
	p.builds = prometheus.NewHistogram(prometheus.HistogramOpts{Name: "rankcast_build_seconds", Buckets: []float64{1, 5, 10}})
	p.delays = prometheus.NewHistogram(prometheus.HistogramOpts{Name: "rankcast_score_to_frame_seconds", Buckets: []float64{.1, .2, 1}})
	p.registry.MustRegister(p.clients, p.limited, p.frames, p.webhooks, p.cpu, p.builds, p.delays)
	return p
}

// pass lets time pass, with a sample every two seconds, and returns the figures then.
func (p *process) pass(d time.Duration) Figures {
	families, err := p.registry.Gather()
	require.NoError(p.t, err)
	for end := p.at.Add(d); p.at.Before(end); {
		p.at = p.at.Add(interval)
		p.samples.add(newSample(p.at, families))
	}
	return p.samples.figures()
}

// Rates are those of the last ten seconds, percentiles those of the last minute, counts those of the last ten minutes.
func TestFigures(t *testing.T) {
	t.Parallel()
	p := newProcess(t)
	p.clients.WithLabelValues("websocket").Set(7)
	p.clients.WithLabelValues("stream").Set(2)
	p.cpu.Set(100)
	f := p.pass(interval)
	require.Equal(t, []int64{7, 2, 0}, []int64{f.Sockets, f.Streams, f.SlowBuilds})
	require.Zero(t, f.Frames)
	require.Nil(t, f.CPU, "the CPU before the first sample is not that of the last seconds")
	require.Nil(t, f.P50)
	require.Nil(t, f.Memory)
	require.Nil(t, f.Queue)
	require.Empty(t, f.Limits)

	p.pass(10 * time.Second)
	p.frames.WithLabelValues("delta").Set(50)
	p.frames.WithLabelValues("me").Set(25)
	p.cpu.Set(105)
	p.limited.WithLabelValues("sockets").Set(3)
	p.limited.WithLabelValues("exports").Set(0)
	for _, took := range []float64{0.5, 5, 5.1, 30} {
		p.builds.Observe(took)
	}
	for range 98 {
		p.delays.Observe(0.15)
	}
	p.delays.Observe(0.5)
	p.delays.Observe(7)
	f = p.pass(interval)
	require.Equal(t, 7.5, f.Frames)
	require.Equal(t, 0.5, *f.CPU)
	require.Equal(t, map[string]int64{"sockets": 3}, f.Limits)
	require.EqualValues(t, 2, f.SlowBuilds)
	require.InDelta(t, 151.02, *f.P50, 0.01, "as if the values of a bucket were spread evenly")
	require.Equal(t, 1000.0, *f.P99)

	f = p.pass(50 * time.Second)
	require.NotNil(t, f.P50)
	require.Zero(t, f.Frames)
	f = p.pass(20 * time.Second)
	require.Nil(t, f.P50)
	require.Equal(t, map[string]int64{"sockets": 3}, f.Limits)
	p.limited.WithLabelValues("sockets").Set(4)
	p.pass(interval)
	f = p.pass(countSpan - time.Minute)
	require.Equal(t, map[string]int64{"sockets": 1}, f.Limits)
	f = p.pass(2 * time.Minute)
	require.Empty(t, f.Limits)
	require.Zero(t, f.SlowBuilds)
}

// However long a process runs, it keeps about ninety samples.
func TestSamplesAreBounded(t *testing.T) {
	t.Parallel()
	p := newProcess(t)
	p.pass(2 * time.Hour)
	require.Less(t, len(p.samples), 100)
	require.GreaterOrEqual(t, p.at.Sub(p.samples[0].at), countSpan)
}
