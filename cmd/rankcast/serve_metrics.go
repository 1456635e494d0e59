package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// newRegistry returns a registry with the metrics of the process.
func newRegistry() *prometheus.Registry {
	r := prometheus.NewRegistry()
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "rankcast_build_info",
		Help: "1, with the version of the program and of Go."}, []string{"version", "goversion"})
	build.WithLabelValues(programVersion(), runtime.Version()).Set(1)
	r.MustRegister(build, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// serveAdmin are the flags of the listener for operators alone.
type serveAdmin struct {
	Addr string `name:"admin-addr" env:"RANKCAST_ADMIN_ADDR" placeholder:"ADDR" help:"Address of a second listener, with /metrics and /debug/pprof/ for anybody who reaches it, without a key: choose one that only operators reach."`
}

// Validate checks the flags.
func (s *serveAdmin) Validate() error {
	if s.Addr == "" {
		return nil
	}
	return checkAddr("--admin-addr", s.Addr)
}

// adminHeaderTimeout bounds the arrival of the header of a request to the admin listener. A profile takes as long as
// its caller asks for, so the answer has no bound.
const adminHeaderTimeout = 10 * time.Second

// start serves the address of --admin-addr by a handler for that address. It returns the address; nil without the flag.
// stop ends that, with the requests under way, and waits.
func (s *serveAdmin) start(handler func(net.Addr) http.Handler, log *slog.Logger) (at net.Addr, stop func(), err error) {
	if s.Addr == "" {
		return nil, func() {}, nil
	}
	l, err := listenAt("--admin-addr", s.Addr)
	if err != nil {
		return nil, nil, err
	}
	requests, endRequests := context.WithCancel(context.Background())
	admin := &http.Server{
		Handler: handler(l.Addr()), ReadHeaderTimeout: adminHeaderTimeout, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		BaseContext: func(net.Listener) context.Context { return requests },
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := admin.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			log.Error("the admin listener failed", "error", err)
		}
	})
	return l.Addr(), func() {
		endRequests() // a profile that is being taken
		admin.Close()
		serving.Wait()
	}, nil
}
