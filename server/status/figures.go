package status

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
)

// The spans over which figures are measured.
const (
	rateSpan    = 10 * time.Second
	latencySpan = time.Minute
	countSpan   = 10 * time.Minute
	// thinned is the least time between two samples that are older than latencySpan. So a node keeps about 90 samples.
	thinned = 10 * time.Second
)

// slowBuild is the time in seconds from which on a build is slow. It is one of the bounds of the histogram.
const slowBuild = 5

// Figures are the measured state of a process. Those of a part that the process does not have are 0, or nil.
type Figures struct {
	Sockets       int64    `json:"sockets"`
	Streams       int64    `json:"streams"`
	Subscriptions int64    `json:"subscriptions"`
	Followers     int64    `json:"followers"`
	WatchedBoards int64    `json:"watched_boards"`
	Frames        float64  `json:"frames"`  // a second
	Updates       float64  `json:"updates"` // a second
	CPU           *float64 `json:"cpu"`     // cores in use
	Memory        *int64   `json:"memory"`  // resident bytes
	P50           *float64 `json:"p50"`     // from a score to its frame, in ms; nil without frames in the last minute
	P99           *float64 `json:"p99"`
	// Of the last ten minutes.
	Limits     map[string]int64 `json:"limits"`   // refusals, by limit; those without are left out
	Resyncs    map[string]int64 `json:"resyncs"`  // likewise, by reason
	Webhooks   map[string]int64 `json:"webhooks"` // attempts, by result
	SlowBuilds int64            `json:"slow_builds"`
	Queue      *Queue           `json:"queue"` // of rankcast ingest; else nil
}

// Queue is the state of the streams of rankcast ingest.
type Queue struct {
	Entries     int64   `json:"entries"` // not applied yet
	Lag         float64 `json:"lag"`     // age of the oldest of them, in seconds
	DeadLetters int64   `json:"dead_letters"`
}

// The metrics from which the node computes figures. The names leave out the prefix rankcast_.
const (
	clients       = "clients"
	subscriptions = "subscriptions"
	followers     = "followers"
	watchedBoards = "watched_boards"
	frames        = "frames_total"
	updates       = "updates_total"
	limited       = "limited_total"
	resyncs       = "resyncs_total"
	webhooks      = "webhooks_total"
	builds        = "build_seconds"
	scoreToFrame  = "score_to_frame_seconds"
	lagEntries    = "ingest_lag_entries"
	lagSeconds    = "ingest_lag_seconds"
	deadLetters   = "ingest_dead_letters"
	cpuSeconds    = "process_cpu_seconds_total"
	memory        = "process_resident_memory_bytes"
)

var used = []string{clients, subscriptions, followers, watchedBoards, frames, updates, limited, resyncs, webhooks, builds, scoreToFrame,
	lagEntries, lagSeconds, deadLetters, cpuSeconds, memory}

// sample is the state of the metrics at a time: by the name of a metric, the values by the label. A metric without labels
// has the label "". Of builds it has the number of slow ones.
type sample struct {
	at     time.Time
	values map[string]map[string]float64
	delays []bucket
}

// bucket is a bucket of a histogram: how many values are up to its bound.
type bucket struct {
	bound float64
	count uint64
}

// newSample takes what figures need from the metrics of a process.
func newSample(at time.Time, families []*dto.MetricFamily) sample {
	s := sample{at: at, values: make(map[string]map[string]float64)}
	for _, family := range families {
		name := strings.TrimPrefix(family.GetName(), "rankcast_")
		if !slices.Contains(used, name) {
			continue
		}
		values := make(map[string]float64, len(family.Metric))
		for _, m := range family.Metric {
			label := ""
			if len(m.Label) > 0 {
				label = m.Label[0].GetValue()
			}
			switch {
			case name == scoreToFrame:
				for _, b := range m.Histogram.GetBucket() {
					s.delays = append(s.delays, bucket{b.GetUpperBound(), b.GetCumulativeCount()})
				}
				s.delays = append(s.delays, bucket{math.Inf(1), m.Histogram.GetSampleCount()})
			case name == builds:
				values[label] = float64(m.Histogram.GetSampleCount() - upTo(slowBuild, m.Histogram.GetBucket()))
			default:
				values[label] = m.Gauge.GetValue() + m.Counter.GetValue() // one of the two is absent, and 0
			}
		}
		s.values[name] = values
	}
	return s
}

// upTo returns how many values of a histogram are up to one of its bounds.
func upTo(bound float64, buckets []*dto.Bucket) uint64 {
	i := slices.IndexFunc(buckets, func(b *dto.Bucket) bool { return b.GetUpperBound() == bound })
	return buckets[i].GetCumulativeCount()
}

// sum returns the sum of a metric over all labels.
func (s sample) sum(name string) (sum float64) {
	for _, value := range s.values[name] {
		sum += value
	}
	return sum
}

// samples are those of the last ten minutes, the oldest first. The first one is of the start of the process, or older.
type samples []sample

// add adds a sample, and drops what no figure needs any more.
func (l *samples) add(s sample) {
	all := append(*l, s)
	for len(all) > 2 && s.at.Sub(all[1].at) >= countSpan {
		all = all[1:]
	}
	kept := make(samples, 0, len(all))
	for i, one := range all {
		if i == 0 || s.at.Sub(one.at) <= latencySpan+thinned || one.at.Sub(kept[len(kept)-1].at) >= thinned {
			kept = append(kept, one)
		}
	}
	*l = kept
}

// before returns the newest sample that is at least a span older than the last one, or the oldest.
func (l samples) before(span time.Duration) sample {
	last := l[len(l)-1]
	for i := len(l) - 2; i > 0; i-- {
		if last.at.Sub(l[i].at) >= span {
			return l[i]
		}
	}
	return l[0]
}

// figures are those at the time of the last sample.
func (l samples) figures() Figures {
	s := l[len(l)-1]
	f := Figures{
		Sockets: int64(s.values[clients]["websocket"]), Streams: int64(s.values[clients]["stream"]),
		Subscriptions: int64(s.sum(subscriptions)), Followers: int64(s.sum(followers)), WatchedBoards: int64(s.sum(watchedBoards)),
		Frames: l.rate(frames), Updates: l.rate(updates),
		P50: l.percentile(0.5), P99: l.percentile(0.99),
		Limits: l.counts(limited), Resyncs: l.counts(resyncs), Webhooks: l.counts(webhooks),
	}
	for _, slow := range l.counts(builds) {
		f.SlowBuilds += slow
	}
	if l.before(rateSpan).values[cpuSeconds] != nil {
		f.CPU = new(l.rate(cpuSeconds))
	}
	if s.values[memory] != nil {
		f.Memory = new(int64(s.sum(memory)))
	}
	if s.values[lagEntries] != nil {
		f.Queue = &Queue{Entries: int64(s.sum(lagEntries)), DeadLetters: int64(s.sum(deadLetters))}
		for _, lag := range s.values[lagSeconds] {
			f.Queue.Lag = max(f.Queue.Lag, rounded(lag))
		}
	}
	return f
}

// rate is how much a counter grows in a second.
func (l samples) rate(name string) float64 {
	s, before := l[len(l)-1], l.before(rateSpan)
	seconds := s.at.Sub(before.at).Seconds()
	if seconds <= 0 {
		return 0
	}
	return rounded(max(0, s.sum(name)-before.sum(name)) / seconds)
}

// counts is how much a counter has grown in countSpan, by label.
func (l samples) counts(name string) map[string]int64 {
	grown := make(map[string]int64)
	before := l.before(countSpan).values[name]
	for label, value := range l[len(l)-1].values[name] {
		if n := int64(value - before[label]); n > 0 {
			grown[label] = n
		}
	}
	return grown
}

// percentile is a percentile of the time from a score to its frame, in ms, between the bounds of a bucket as if its values
// were spread evenly. Beyond the last bound it is that bound.
func (l samples) percentile(share float64) *float64 {
	now, before := l[len(l)-1].delays, l.before(latencySpan).delays
	below, bound := 0.0, 0.0
	grown := func(i int) float64 {
		if i < len(before) {
			return float64(now[i].count - before[i].count)
		}
		return float64(now[i].count)
	}
	if len(now) == 0 || grown(len(now)-1) == 0 {
		return nil
	}
	rank := share * grown(len(now)-1)
	for i, b := range now {
		count := grown(i)
		if count >= rank && !math.IsInf(b.bound, 1) {
			bound += (b.bound - bound) * (rank - below) / cmp.Or(count-below, 1)
			break
		}
		if !math.IsInf(b.bound, 1) {
			below, bound = count, b.bound
		}
	}
	return new(rounded(bound * 1000))
}

// rounded leaves as many digits as people read.
func rounded(n float64) float64 { return math.Round(n*100) / 100 }
