package bench

import "slices"

// The names of figures. JSON shows them.
const (
	figureSeconds  = "seconds"
	figureDone     = "done"
	figureRate     = "per_second"
	latencyP50     = "p50_ms"
	latencyP90     = "p90_ms"
	latencyP99     = "p99_ms"
	latencyP999    = "p99_9_ms"
	latencyMax     = "max_ms"
	nodeCPU        = "node_cpu_us"
	redisCPU       = "redis_cpu_us"
	generatorCPU   = "generator_cpu_us"
	generatorShare = "generator_percent"
	othersShare    = "others_percent"
	idleShare      = "idle_percent"
	stealShare     = "steal_percent"
	sentLateP99    = "sent_late_p99_ms"
	sentLateMax    = "sent_late_max_ms"
	figureSockets  = "sockets"
	socketsRight   = "sockets_right"
	frameRate      = "frames_per_second"
	socketMemory   = "node_bytes_per_socket"
	messageRate    = "messages_per_second"
	lateP99        = "late_p99_ms"
	lateMax        = "late_max_ms"
)

// figures are what one round has measured. A figure that is not known is missing.
type figures struct {
	Values map[string]float64 `json:"figures"`
	Errors map[string]int64   `json:"errors,omitempty"` // units that were not done, by code
}

func newFigures() *figures {
	return &figures{Values: make(map[string]float64), Errors: make(map[string]int64)}
}

func (f *figures) set(name string, value float64) { f.Values[name] = value }

// addTally adds what callers got within a span.
func (f *figures) addTally(t *tally, span float64) {
	f.set(figureDone, float64(t.done))
	f.set(figureSeconds, span)
	f.set(figureRate, float64(t.done)/span)
	f.addLatencies(t)
	f.addErrors(t.errors)
}

// addLatencies adds the percentiles of a tally that has any.
func (f *figures) addLatencies(t *tally) {
	if t.latencies.TotalCount() == 0 {
		return
	}
	for name, quantile := range map[string]float64{latencyP50: 50, latencyP90: 90, latencyP99: 99, latencyP999: 99.9, latencyMax: 100} {
		f.set(name, float64(t.latencies.ValueAtQuantile(quantile))/1e3)
	}
}

// addLateness adds the 99th percentile and the greatest latency of a tally, by these names.
func (f *figures) addLateness(p99, greatest string, t *tally) {
	f.set(p99, float64(t.latencies.ValueAtQuantile(99))/1e3)
	f.set(greatest, float64(t.latencies.Max())/1e3)
}

// summarize returns the median of each figure over rounds, and the sum of the errors. A figure that a round lacks is
// missing.
func summarize(rounds []*figures) *figures {
	s, values := newFigures(), make(map[string][]float64)
	for _, r := range rounds {
		for name, v := range r.Values {
			values[name] = append(values[name], v)
		}
		s.addErrors(r.Errors)
	}
	for name, all := range values {
		if len(all) == len(rounds) {
			s.set(name, median(all))
		}
	}
	return s
}

// median is the value in the middle, or the mean of the two that are.
func median(values []float64) float64 {
	values = slices.Sorted(slices.Values(values))
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

// ratios returns each figure of a that b has too, divided by that of b. Figures that are 0 in b are missing.
func ratios(a, b *figures) map[string]float64 {
	all := make(map[string]float64)
	for _, row := range tableRows {
		is, known := a.Values[row.name]
		if beside := b.Values[row.name]; known && beside != 0 && row.compared {
			all[row.name] = is / beside
		}
	}
	return all
}

// addErrors adds counts of errors.
func (f *figures) addErrors(all ...map[string]int64) {
	for _, errors := range all {
		for why, n := range errors {
			f.Errors[why] += n
		}
	}
}
