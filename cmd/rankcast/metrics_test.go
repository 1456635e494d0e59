package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v4"

	"rankcast/cmd/rankcast/internal/example"
	"rankcast/hub"
	"rankcast/ranking"
	"rankcast/ranking/feed"
	"rankcast/ranking/ingest"
	"rankcast/server"
	"rankcast/server/webhook"
)

// metricsOf is the registry of a node and of rankcast ingest, which run nothing, and its metrics with their labels: {"rankcast_clients":
// {"kind"}}.
func metricsOf(t *testing.T) (*prometheus.Registry, map[string][]string) {
	r := newRegistry()
	rdb, err := ranking.Open("redis://127.0.0.1:1")
	require.NoError(t, err)
	t.Cleanup(func() { rdb.Close() })
	store := ranking.New(rdb, ranking.Config{Metrics: r})
	frames := hub.New(store, feed.New(rdb, nil, feed.Config{}), hub.Config{Metrics: r})
	server.New(store, frames, server.Config{Metrics: r})
	_, err = webhook.New(store, webhook.Config{URL: "https://example.com", Secret: "long enough to be a secret of a webhook", Metrics: r})
	require.NoError(t, err)
	_, err = ingest.New(rdb, store, ingest.Config{Metrics: r})
	require.NoError(t, err)
	described := make(chan *prometheus.Desc)
	go func() {
		r.Describe(described)
		close(described)
	}()
	metrics := make(map[string][]string)
	form := regexp.MustCompile(`fqName: "([^"]*)".* constLabels: \{([^}]*)\}, variableLabels: \{([^}]*)\}`)
	for d := range described {
		found := form.FindStringSubmatch(d.String())
		require.NotNil(t, found, d)
		labels := []string{}
		for _, label := range append(strings.Split(found[2], ","), strings.Split(found[3], ",")...) {
			if label, _, _ = strings.Cut(label, "="); label != "" {
				labels = append(labels, label)
			}
		}
		metrics[found[1]] = labels
	}
	return r, metrics
}

// labelValues are the values of the labels of metrics: "rankcast_clients kind" to {"websocket", "stream"}.
func labelValues(t *testing.T, r *prometheus.Registry) map[string][]string {
	families, err := r.Gather()
	require.NoError(t, err)
	values := make(map[string][]string)
	for _, f := range families {
		for _, m := range f.Metric {
			for _, l := range m.Label {
				values[f.GetName()+" "+l.GetName()] = append(values[f.GetName()+" "+l.GetName()], l.GetValue())
			}
		}
	}
	return values
}

// expressions are the expressions of Prometheus in the alerts, in the dashboard and in the documentation.
func expressions(t *testing.T) (all []string) {
	var alerts struct {
		Groups []struct {
			Rules []struct{ Alert, Expr string }
		}
	}
	require.NoError(t, yaml.Unmarshal(example.Alerts, &alerts))
	for _, rule := range alerts.Groups[0].Rules {
		require.NotEmpty(t, rule.Alert)
		all = append(all, rule.Expr)
	}
	require.Greater(t, len(all), 8)
	var dashboard struct {
		Panels []struct {
			Type    string `json:"type"`
			Title   string `json:"title"`
			Targets []struct {
				Expr string `json:"expr"`
			} `json:"targets"`
		} `json:"panels"`
	}
	require.NoError(t, json.Unmarshal(example.Grafana, &dashboard))
	for _, panel := range dashboard.Panels {
		require.Equal(t, panel.Type == "row", len(panel.Targets) == 0, panel.Title)
		for _, target := range panel.Targets {
			all = append(all, target.Expr)
		}
	}
	require.Greater(t, len(all), 40)
	queries := found(t, "web/docs/well.md", "(?s)```promql\n(.*?)```", 5)
	return append(all, queries...)
}

// Each metric that the alerts and the dashboard name exists, with the labels and the values that they name.
func TestExamplesNameMetricsThatExist(t *testing.T) {
	t.Parallel()
	registry, metrics := metricsOf(t)
	values := labelValues(t, registry)
	// A name, with what stands in braces after it.
	name := regexp.MustCompile(`\b((?:rankcast|go|process)_[a-z_]+)(?:\{([^}]*)\})?`)
	matcher := regexp.MustCompile(`([a-z]+)\s*(=~?|!=|!~)\s*"([^"]*)"`)
	grouping := regexp.MustCompile(`by \(([^)]*)\)`)
	used := make(map[string]bool)
	for _, expr := range expressions(t) {
		found := name.FindAllStringSubmatch(expr, -1)
		if len(found) == 0 {
			require.Regexp(t, `^up\{job="rankcast"\}`, expr)
		}
		grouped := []string{"le", "instance", "job"}
		for _, of := range found {
			metric := of[1]
			if _, ok := metrics[metric]; !ok {
				metric = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(metric, "_bucket"), "_count"), "_sum")
			}
			labels, ok := metrics[metric]
			require.True(t, ok, "%s: there is no metric %s", expr, of[1])
			used[metric] = true
			grouped = append(grouped, labels...)
			for _, m := range matcher.FindAllStringSubmatch(of[2], -1) {
				label, value := m[1], m[3]
				if label == "job" || label == "instance" {
					continue
				}
				require.Contains(t, labels, label, expr)
				for one := range strings.SplitSeq(value, "|") {
					require.Contains(t, values[metric+" "+label], one, expr)
				}
			}
		}
		for _, by := range grouping.FindAllStringSubmatch(expr, -1) {
			for label := range strings.SplitSeq(by[1], ",") {
				require.Contains(t, grouped, strings.TrimSpace(label), expr)
			}
		}
	}
	for metric := range metrics {
		if strings.HasPrefix(metric, "rankcast_") {
			require.True(t, used[metric], "neither the alerts nor the dashboard show %s", metric)
		}
	}
}

// The documentation names each metric of Rankcast with its labels, and no other one. It explains each reason of a resync, and
// each limit.
func TestDocsNameEachMetric(t *testing.T) {
	t.Parallel()
	registry, metrics := metricsOf(t)
	var want []string
	for metric, labels := range metrics {
		if strings.HasPrefix(metric, "rankcast_") {
			if len(labels) > 0 {
				metric += "{" + strings.Join(labels, ",") + "}"
			}
			want = append(want, metric)
		}
	}
	named := found(t, "web/docs/monitoring.md", "(?m)^\\| `(rankcast_[^`]*)` \\|", 20)
	require.ElementsMatch(t, want, named)
	reasons := labelValues(t, registry)["rankcast_resyncs_total reason"]
	require.Greater(t, len(reasons), 4)
	for _, reason := range reasons {
		requireRow(t, "web/docs/monitoring.md", reason)
	}
	limits := found(t, "web/docs/operations.md", "(?m)^\\| [^|]+ \\| `([a-z_]+)` \\| `[^|]+ \\| [^|]+ \\| [^|]+ \\|$", 15)
	slices.Sort(limits) // a label may stand in several rows
	require.ElementsMatch(t, labelValues(t, registry)["rankcast_limited_total limit"], slices.Compact(limits))
}
