package server

import (
	"bytes"
	"fmt"
	"net/http"

	"tas-service/runner"
)

// mountRunner serves tas-runner, so that a tests repository installs it from the
// installation it talks to: npm install --save-dev {base}/runner/tas-runner-4.4.0.tgz
func mountRunner(mux *http.ServeMux) error {
	version, err := runner.Version()
	if err != nil {
		return fmt.Errorf("read the bundled runner: %w", err)
	}
	var tarball bytes.Buffer
	if err := runner.WriteTarball(&tarball); err != nil {
		return fmt.Errorf("pack the bundled runner: %w", err)
	}
	name := "/runner/tas-runner-" + version + ".tgz"
	mux.HandleFunc("GET "+name, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/gzip")
		w.Header().Set("Cache-Control", "public, max-age=3600")
		w.Write(tarball.Bytes()) //nolint:errcheck // the reader is gone
	})
	mux.HandleFunc("GET /runner/tas-runner.tgz", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, name, http.StatusFound)
	})
	return nil
}
