package worker

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"tas-service/internal/fault"
	"tas-service/internal/sandbox"
	"tas-service/internal/sandbox/bubblewrap"
	"tas-service/internal/sandbox/confine"
)

// chooseBox answers the strongest box that works here, or the one that was asked for;
// an error when that is weaker than the project allows.
func chooseBox(ctx context.Context, exactly, least sandbox.Level) (sandbox.Box, error) {
	var box sandbox.Box
	var why []error
	try := func(l sandbox.Level, make func() (sandbox.Box, error)) {
		if box != nil || exactly != "" && exactly != l {
			return
		}
		b, err := make()
		if err != nil {
			why = append(why, err)
			return
		}
		if b.Level() == l {
			box = b
		}
	}
	try(sandbox.Bubblewrap, func() (sandbox.Box, error) { return bubblewrap.New(ctx) })
	try(sandbox.Landlock, func() (sandbox.Box, error) { return confine.Landlock() })
	try(sandbox.OtherUser, func() (sandbox.Box, error) { return confine.Plain() })
	try(sandbox.None, func() (sandbox.Box, error) { return confine.Plain() })
	switch {
	case box == nil:
		return nil, fault.Wrap(errors.Join(why...), fault.External, "The isolation level %q is not to be had on this machine.", exactly).WithCode("isolation")
	case !box.Level().AtLeast(least):
		return nil, fault.Wrap(errors.Join(why...), fault.External, "The project requires isolation level %q, and this machine offers %q.", least, box.Level()).
			WithCode("isolation").WithFix("Install bubblewrap on the worker's machine, or lower what the project requires.")
	}
	return box, nil
}

func findNode() (string, error) {
	path, err := exec.LookPath("node")
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return "", failure("no-node", "Node.js is not installed on the worker's machine.").WithFix("Install Node.js 20 or later there.")
	}
	return path, nil
}

// findNPM answers how to start npm. Its launcher is a link beside Node's; the script that
// it leads to is what Node runs.
func findNPM(node string) ([]string, error) {
	path, err := exec.LookPath("npm")
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return nil, failure("no-node", "npm is not installed on the worker's machine.").WithFix("Install it beside Node.js.")
	}
	if strings.HasSuffix(path, ".js") {
		return []string{node, path}, nil
	}
	return []string{path}, nil
}

// systemBrowsers answers the browsers of the machine that Playwright's own may be
// replaced with, by the runner's names. Wrapper scripts do not serve: they leave
// children behind.
func systemBrowsers() map[string]string {
	out := map[string]string{}
	for name, paths := range map[string][]string{
		"chromium":      {"/usr/lib/chromium/chromium", "/usr/lib/chromium-browser/chromium-browser", "/opt/google/chrome/chrome", "/usr/lib64/chromium-browser/chromium-browser"},
		"headlessShell": {"/usr/lib/chromium/chromium-headless-shell"},
		"ffmpeg":        {"/usr/bin/ffmpeg"},
	} {
		for _, p := range paths {
			if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() {
				out[name] = p
				break
			}
		}
	}
	return out
}

// Memory that a Playwright worker with its browser takes, and the runner beside it.
const (
	perWorker  = 310 << 20
	forRunner  = 512 << 20
	maxDefault = 32
)

// DefaultWorkers is twice the cores, since tests wait more than they compute, capped by
// the memory that is available now.
func DefaultWorkers() int {
	n := 2 * runtime.NumCPU()
	if free := availableMemory(); free > 0 {
		n = min(n, int((free-forRunner)/perWorker))
	}
	return max(1, min(n, maxDefault))
}

// availableMemory answers bytes, 0 when it is not known.
func availableMemory() int64 {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "MemAvailable:"); ok {
			kb, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			return kb << 10
		}
	}
	return 0
}
