package server

import (
	"iter"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"strings"

	"github.com/labstack/echo/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"rankcast/server/access"
	"rankcast/server/internal/gate"
	"rankcast/server/internal/host"
)

// metricsPath is of the metrics, which Prometheus reads.
const metricsPath = "/metrics"

// metricsHandler serves the metrics of a registry in the formats of Prometheus. Scrapes that overlap share one
// collection.
func metricsHandler(r *prometheus.Registry) http.Handler {
	return promhttp.HandlerFor(r, promhttp.HandlerOpts{EnableOpenMetrics: true, CoalesceGather: true, ErrorHandling: promhttp.ContinueOnError})
}

// countReads makes each route that reads count its requests. Checks of the node, sockets and streams are no reads.
func countReads(r prometheus.Registerer, routes []route) {
	reads := promauto.With(r).NewCounterVec(prometheus.CounterOpts{Name: "rankcast_reads_total",
		Help: "Requests that read from the API, by route, of callers that may do so."}, []string{"route"})
	for i, route := range routes {
		if route.method != http.MethodGet || !strings.HasPrefix(route.path, "/v1/") || strings.HasSuffix(route.path, "/live") {
			continue
		}
		count := reads.WithLabelValues(gate.DocumentedPath(route.path))
		routes[i].handler = func(c *echo.Context) error {
			count.Inc()
			return route.handler(c)
		}
	}
}

// countLimited gives the number of refusals of each limit as metrics.
func countLimited(limits *access.Limits) prometheus.Collector {
	desc := prometheus.NewDesc("rankcast_limited_total", "Refusals, by the limit that a client exceeded.", []string{"limit"}, nil)
	return prometheus.CollectorFunc(func(to chan<- prometheus.Metric) {
		for limit, count := range limits.Counts() {
			to <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, float64(count), limit)
		}
	})
}

// Limited gives the number of refusals of each limit since the start, by the limit's name.
func (s *Server) Limited() iter.Seq2[string, uint64] { return s.limits.Counts() }

// Admin is the handler of a listener for operators alone: the metrics at /metrics, and profiles at /debug/pprof/. It
// asks for no key, and applies no limits. On a loopback address it answers only requests that Config.Hosts allows,
// as the Server does.
func (s *Server) Admin(listener net.Addr) http.Handler {
	return adminHandler(listener, s.cfg.Metrics, s.hosts)
}

// Admin is Server.Admin for a process that runs no Server. On a loopback address the handler answers only requests for
// localhost and IP addresses.
func Admin(listener net.Addr, metrics *prometheus.Registry, log *slog.Logger) http.Handler {
	return adminHandler(listener, metrics, host.New(nil, log))
}

func adminHandler(listener net.Addr, metrics *prometheus.Registry, hosts *host.List) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET "+metricsPath, metricsHandler(metrics))
	mux.HandleFunc("GET /debug/pprof/", pprof.Index) // not pprof.Cmdline: the command line may hold a password of Redis
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	if !gate.IsLoopback(listener) {
		return mux
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !hosts.Allows(r.Host) {
			hosts.LogRefusal(r.Host)
			http.Error(w, "Host: "+hosts.Refusal(r.Host), http.StatusMisdirectedRequest)
			return
		}
		mux.ServeHTTP(w, r)
	})
}
