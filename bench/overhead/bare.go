package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"tas-service/demo/stage"
)

// bare is the suite as a user runs it without the service: a clone, npm ci, and
// npx playwright test. It gets the same browser as the service's runs.
type bare struct{ dir, browsers, reporter, shopURL string }

// firstBegin is a reporter that notes when the first test begins; it costs one file write.
const firstBegin = `const fs = require('fs');
module.exports = class { onTestBegin(test, result) { if (!this.done) { this.done = true; fs.writeFileSync(process.env.FIRST_BEGIN, String(result.startTime.getTime())); } } };
`

// linkBrowsers puts links to Debian's browsers where the repository's Playwright looks,
// for machines where Playwright's own cannot be downloaded.
const linkBrowsers = `const fs = require('fs'), path = require('path');
const { registry } = require(path.join(path.dirname(require.resolve('playwright-core/package.json')), 'lib', 'coreBundle.js')).registry;
for (const [name, target] of [['chromium', '/usr/lib/chromium/chromium'], ['chromium-headless-shell', '/usr/lib/chromium/chromium-headless-shell']]) {
  const at = registry.findExecutable(name).executablePath();
  if (fs.existsSync(at) || !fs.existsSync(target)) continue;
  fs.mkdirSync(path.dirname(at), { recursive: true });
  fs.symlinkSync(target, at);
  fs.writeFileSync(path.join(path.dirname(path.dirname(at)), 'INSTALLATION_COMPLETE'), '');
}
`

func newBare(root string, st stage.Stage, shopURL string) (*bare, error) {
	base := filepath.Join(root, ".tas", "bench-bare")
	b := &bare{dir: filepath.Join(base, filepath.Base(filepath.Dir(st.Repo()))), browsers: filepath.Join(base, "browsers"), reporter: filepath.Join(base, "first.js"), shopURL: shopURL}
	if err := os.MkdirAll(b.browsers, 0o755); err != nil {
		return nil, err
	}
	if err := errors.Join(os.RemoveAll(b.dir), os.WriteFile(b.reporter, []byte(firstBegin), 0o644)); err != nil {
		return nil, err
	}
	if err := command("", nil, "git", "clone", "--quiet", st.Repo(), b.dir); err != nil {
		return nil, err
	}
	if err := command(b.dir, nil, "npm", "ci", "--silent", "--no-audit", "--no-fund"); err != nil {
		return nil, err
	}
	if own, _ := filepath.Glob(filepath.Join(st.Browsers(), "chromium*")); len(own) > 0 {
		b.browsers = st.Browsers()
		return b, nil
	}
	return b, command(b.dir, b.env(), "node", "-e", linkBrowsers)
}

func (b *bare) env() []string {
	return append(os.Environ(), "CI=1", "SHOP_URL="+b.shopURL, "PLAYWRIGHT_BROWSERS_PATH="+b.browsers, "PLAYWRIGHT_SKIP_BROWSER_GC=1",
		"PW_TEST_REPORTER="+b.reporter, "FIRST_BEGIN="+b.reporter+".time")
}

// run is one bare run; workers 0 leaves Playwright its own number.
func (b *bare) run(workers int) (sample, error) {
	args := []string{"playwright", "test"}
	if workers > 0 {
		args = append(args, "--workers", strconv.Itoa(workers))
	}
	began := time.Now()
	if err := command(b.dir, b.env(), "npx", args...); err != nil {
		return sample{}, err
	}
	wall := time.Since(began).Seconds()
	text, err := os.ReadFile(b.reporter + ".time")
	if err != nil {
		return sample{}, err
	}
	ms, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return sample{}, err
	}
	return sample{wall: wall, first: float64(ms-began.UnixMilli()) / 1000}, nil
}

func command(dir string, env []string, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, env
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}
