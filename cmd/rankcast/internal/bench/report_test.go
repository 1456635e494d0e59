package bench

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/prometheus/procfs"
	"github.com/stretchr/testify/require"
)

// round makes the figures of one round.
func round(perSecond, p50, redis float64) *figures {
	f := newFigures()
	f.set(figureDone, 10*perSecond)
	f.set(figureRate, perSecond)
	f.set(latencyP50, p50)
	f.set(redisCPU, redis)
	return f
}

// compare is a report of two programs and bare commands.
func compare() *report {
	r := &report{about: about{"gifts", "events", "32 callers", "gift", "five ZINCRBY"}, Columns: []*column{
		{Name: columnThis, Program: "/bin/new", Rounds: []*figures{round(4000, 8, 120), round(5000, 7, 100), round(1000, 30, 110)}},
		{Name: columnVersus, Program: "/bin/old", Rounds: []*figures{round(2000, 16, 220), round(2500, 15.5, 240)}},
		{Name: columnBare, Rounds: []*figures{round(8000, 4, 55), round(8000, 4, 55), round(8000, 4, 55)}},
	}}
	r.Columns[0].Rounds[1].addErrors(map[string]int64{"503 Service Unavailable": 1200})
	r.Columns[0].Rounds[2].addErrors(map[string]int64{"503 Service Unavailable": 34, noAnswer: 1})
	return r
}

// The table has the medians of the rounds, and the ratio of the first column to each other one.
func TestTable(t *testing.T) {
	t.Parallel()
	r := compare()
	r.finish()
	require.Equal(t, `gifts: events
32 callers

                          this  versus  ratio    bare  ratio
gifts done              40,000  22,500         80,000
gifts a second           4,000   2,250   1.78   8,000   0.50
latency p50, ms           8.00    15.8   0.51    4.00   2.00
Redis CPU, µs per gift   110.0   230.0   0.48    55.0   2.00

this: /bin/new
versus: /bin/old
bare: five ZINCRBY
A ratio is this divided by the column on its left. Figures are medians of 3 rounds.
not done, this: 503 Service Unavailable: 1,234, no answer: 1
`, r.table())
}

// A table with every row and the widest figures fits 100 columns.
func TestTableFits(t *testing.T) {
	t.Parallel()
	r := compare()
	for _, c := range r.Columns {
		for _, f := range c.Rounds {
			for _, row := range tableRows {
				f.set(row, 9_999_999.9)
			}
		}
	}
	r.finish()
	lines := strings.Split(r.table(), "\n")
	require.Greater(t, len(lines), len(tableRows))
	for _, line := range lines {
		require.LessOrEqual(t, utf8.RuneCountInString(line), 100, line)
	}
}

// A figure that one round lacks is left out, and so is its ratio. There is no ratio to 0.
func TestFiguresThatAreMissing(t *testing.T) {
	t.Parallel()
	r := compare()
	delete(r.Columns[0].Rounds[1].Values, redisCPU.name)
	for _, f := range r.Columns[2].Rounds {
		f.set(latencyP50, 0)
	}
	r.finish()
	text, err := json.Marshal(r)
	require.NoError(t, err)
	var got report
	require.NoError(t, json.Unmarshal(text, &got))
	require.NotContains(t, got.Columns[0].Median.Values, redisCPU.name)
	require.NotContains(t, got.Columns[1].Ratios, redisCPU.name)
	require.NotContains(t, got.Columns[2].Ratios, latencyP50.name)
	require.NotContains(t, got.Columns[2].Ratios, figureDone.name, "the number done is not compared")
	require.InDelta(t, 0.5, got.Columns[2].Ratios[figureRate.name], 1e-9)
	require.Len(t, got.Columns[0].Rounds, 3)
	require.Equal(t, map[string]int64{"503 Service Unavailable": 1234, noAnswer: 1}, got.Columns[0].Median.Errors)
}

func TestMedian(t *testing.T) {
	t.Parallel()
	require.EqualValues(t, 3, median([]float64{9, 1, 3}))
	require.EqualValues(t, 2, median([]float64{9, 1, 3, 1}))
	require.EqualValues(t, 5, median([]float64{5}))
}

// CPU goes to the units, the generator and other programs by what the processes and the machine have used.
func TestUsage(t *testing.T) {
	t.Parallel()
	at := time.Unix(1000, 0)
	from := reading{at: at, node: time.Second, redis: time.Second, own: time.Second, known: true,
		machine: procfs.CPUStat{User: 1, Idle: 59}}
	to := reading{at: at.Add(10 * time.Second), node: 3 * time.Second, redis: 2 * time.Second, own: 2 * time.Second, known: true,
		machine: procfs.CPUStat{User: 5, System: 6, Steal: 2, Idle: 59 + 6, Iowait: 2}}
	f := newFigures()
	f.addUsage(from, to, 1000)
	for of, want := range map[figure]float64{
		nodeCPU: 2000, redisCPU: 1000, generatorCPU: 1000, stealShare: 10, idleShare: 50, othersShare: 30,
	} {
		require.InDelta(t, want, f.Values[of.name], 1e-9, of.name)
	}
	f, idle := newFigures(), to
	idle.node = from.node // less than a tick of the clock of processes
	f.addUsage(from, idle, 1000)
	require.Zero(t, f.Values[nodeCPU.name])
	require.Contains(t, f.Values, nodeCPU.name)
	from.known = false
	f = newFigures()
	f.addUsage(from, to, 1000)
	require.NotContains(t, f.Values, nodeCPU.name)
	require.NotContains(t, f.Values, redisCPU.name)
	require.NotContains(t, f.Values, othersShare.name, "the server may be one of the other programs")
	require.Contains(t, f.Values, generatorCPU.name)
}
