package bench

import "slices"

// figure is a kind of figure: a value in JSON, and a row of the table.
type figure struct {
	name     string // in JSON
	label    string // in the table, with %s for the unit
	decimals bool   // the table shows it with decimals
	compared bool   // it has a ratio
}

var (
	figureSeconds  = figure{name: "seconds"} // no row
	figureDone     = figure{"done", "%ss done", false, false}
	figureRate     = figure{"per_second", "%ss a second", false, true}
	latencyP50     = figure{"p50_ms", "latency p50, ms", true, true}
	latencyP90     = figure{"p90_ms", "latency p90, ms", true, true}
	latencyP99     = figure{"p99_ms", "latency p99, ms", true, true}
	latencyP999    = figure{"p99_9_ms", "latency p99.9, ms", true, true}
	latencyMax     = figure{"max_ms", "latency max, ms", true, true}
	nodeCPU        = figure{"node_cpu_us", "node CPU, µs per %s", true, true}
	nodeFrameCPU   = figure{"node_cpu_us_per_frame", "node CPU, µs per frame", true, true}
	redisCPU       = figure{"redis_cpu_us", "Redis CPU, µs per %s", true, true}
	socketMemory   = figure{"node_bytes_per_socket", "node memory, bytes per socket", false, true}
	frameRate      = figure{"frames_per_second", "frames a second, all sockets", false, false}
	messageRate    = figure{"messages_per_second", "messages of Redis a second, to each node", false, false}
	figureSockets  = figure{"sockets", "sockets", false, false}
	socketsRight   = figure{"sockets_right", "sockets that show the end right", false, false}
	sentLateP99    = figure{"sent_late_p99_ms", "updates sent late p99, ms", true, false}
	sentLateMax    = figure{"sent_late_max_ms", "updates sent late max, ms", true, false}
	generatorCPU   = figure{"generator_cpu_us", "bench's own CPU, µs per %s", true, false}
	generatorShare = figure{"generator_percent", "bench's own CPU, % of the machine", true, false}
	othersShare    = figure{"others_percent", "other processes, % of the machine", true, false}
	stealShare     = figure{"steal_percent", "other machines (steal), %", true, false}
	idleShare      = figure{"idle_percent", "idle, % of the machine", true, false}
	lateP99        = figure{"late_p99_ms", "scheduler late p99, ms", true, false}
	lateMax        = figure{"late_max_ms", "scheduler late max, ms", true, false}
)

// tableRows are the figures that the table shows, in its order.
var tableRows = []figure{
	figureDone, figureRate, latencyP50, latencyP90, latencyP99, latencyP999, latencyMax, nodeCPU, nodeFrameCPU, redisCPU, socketMemory,
	frameRate, messageRate, figureSockets, socketsRight, sentLateP99, sentLateMax, generatorCPU, generatorShare,
	othersShare, stealShare, idleShare, lateP99, lateMax,
}

// figures are what one round has measured. A figure that is not known is missing.
type figures struct {
	Values map[string]float64 `json:"figures"`
	Errors map[string]int64   `json:"errors,omitempty"` // units that were not done, by code
}

func newFigures() *figures {
	return &figures{Values: make(map[string]float64), Errors: make(map[string]int64)}
}

func (f *figures) set(of figure, value float64) { f.Values[of.name] = value }

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
	for of, quantile := range map[figure]float64{latencyP50: 50, latencyP90: 90, latencyP99: 99, latencyP999: 99.9, latencyMax: 100} {
		f.set(of, float64(t.latencies.ValueAtQuantile(quantile))/1e3)
	}
}

// addLateness adds the 99th percentile and the greatest latency of a tally, as these figures.
func (f *figures) addLateness(p99, greatest figure, t *tally) {
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
			s.Values[name] = median(all)
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
