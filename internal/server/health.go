package server

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"tas-service/internal/run"
	"tas-service/internal/store"
)

// metrics are what Prometheus can read.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.HistogramVec
	ended    *prometheus.CounterVec
	duration prometheus.Histogram
	failures *prometheus.CounterVec
	signIns  prometheus.Counter
}

func newMetrics(db *store.DB) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "tas_http_request_seconds", Help: "Time to answer requests, by route, method and status.",
			Buckets: []float64{.001, .005, .02, .1, .5, 2, 10, 60}}, []string{"route", "method", "status"}),
		ended:    prometheus.NewCounterVec(prometheus.CounterOpts{Name: "tas_runs_ended_total", Help: "Runs that became terminal, by phase."}, []string{"phase"}),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "tas_run_seconds", Help: "Time from a run's creation to its end.", Buckets: prometheus.ExponentialBuckets(5, 2, 12)}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "tas_reconcile_failures_total", Help: "Reconciler steps that failed."}, []string{"loop"}),
		signIns:  prometheus.NewCounter(prometheus.CounterOpts{Name: "tas_sign_ins_failed_total", Help: "Passwords that did not fit."}),
	}
	m.registry.MustRegister(m.requests, m.ended, m.duration, m.failures, m.signIns, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), openRuns{db})
	return m
}

func (m *metrics) request(pattern, method string, status int, took time.Duration) {
	if pattern == "" {
		pattern = "none"
	}
	m.requests.WithLabelValues(pattern, method, strconv.Itoa(status)).Observe(took.Seconds())
}

func (m *metrics) runEnded(r run.Run) {
	m.ended.WithLabelValues(string(r.Phase)).Inc()
	if r.FinishedAt != nil {
		m.duration.Observe(r.FinishedAt.Sub(r.CreatedAt).Seconds())
	}
}

func (m *metrics) stepFailed(loop string) { m.failures.WithLabelValues(loop).Inc() }

func (m *metrics) signInFailed() { m.signIns.Inc() }

// openRuns counts the runs that are not terminal whenever it is asked.
type openRuns struct{ db *store.DB }

var openRunsDesc = prometheus.NewDesc("tas_runs", "Runs that are not terminal, by phase.", []string{"phase"}, nil)

func (o openRuns) Describe(ch chan<- *prometheus.Desc) { ch <- openRunsDesc }

func (o openRuns) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	counts, err := o.db.PhaseCounts(ctx)
	if err != nil {
		ch <- prometheus.NewInvalidMetric(openRunsDesc, err)
		return
	}
	for _, p := range run.Phases() {
		if !p.Final() {
			ch <- prometheus.MustNewConstMetric(openRunsDesc, prometheus.GaugeValue, float64(counts[p]), string(p))
		}
	}
}

func (s *Server) mountHealth(mux *http.ServeMux, m *metrics) {
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Write([]byte("ok\n")) //nolint:errcheck // the asker is gone
	})
	mux.HandleFunc("GET /readyz", s.ready)
	handler := promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		want := "Bearer " + s.cfg.MetricsToken
		if s.cfg.MetricsToken != "" && subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte(want)) != 1 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "The metrics need the token of TAS_METRICS_TOKEN.", http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	})
}

// ready answers 200 when the database and the artifact store can be written to.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
	defer cancel()
	checks := map[string]string{"database": "ok", "artifacts": "ok"}
	status := http.StatusOK
	for name, check := range map[string]func(context.Context) error{"database": s.db.Check, "artifacts": s.blobs.Check} {
		if err := check(ctx); err != nil {
			checks[name], status = "unavailable", http.StatusServiceUnavailable
			s.log.Warn("not ready", "check", name, "error", err)
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(checks) //nolint:errcheck // the asker is gone
}
