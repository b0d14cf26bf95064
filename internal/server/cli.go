package server

import (
	"fmt"
	"net/http"
	"os"
	"runtime"

	"tas-service/internal/fault"
	"tas-service/internal/server/route"
)

// mountCLI serves the command line, so that a pipeline has the one that belongs to the
// installation it talks to: the service's own program, for its own system.
func mountCLI(mux *http.ServeMux) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	name := "tas-" + runtime.GOOS + "-" + runtime.GOARCH
	mux.HandleFunc("GET /cli/{name}", func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("name") != name {
			route.Write(w, r, fault.New(fault.NotFound, "This installation has the command line as %s only.", name).
				WithFix("Build it from the sources for other systems: GOOS=darwin GOARCH=arm64 go build -o tas ./cmd/tas"))
			return
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("Content-Disposition", `attachment; filename="tas"`)
		http.ServeFile(w, r, self)
	})
	return nil
}
