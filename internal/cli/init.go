package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Init makes a Playwright repository one that TAS can run.
type Init struct {
	Dir     string `arg:"" optional:"" default:"." type:"path" help:"Folder with the package.json; the current one by default."`
	BaseURL string `name:"base-url" env:"SERVICE_BASE_URL" placeholder:"URL" help:"Address of the service, which tas-runner is installed from."`
	CI      string `enum:",github,gitlab" default:"" placeholder:"NAME" help:"Write a pipeline's job too: github or gitlab."`
	DryRun  bool   `help:"Say what would be done, and do nothing."`
}

// manifest is what matters here of a package.json.
type manifest struct {
	Dependencies    map[string]string `json:"dependencies"`
	DevDependencies map[string]string `json:"devDependencies"`
	Workspaces      any               `json:"workspaces"`
}

func (m manifest) version(name string) string {
	if v := m.DevDependencies[name]; v != "" {
		return v
	}
	return m.Dependencies[name]
}

// leastPlaywright is the first version of Playwright that TAS runs.
const leastPlaywright = 50 // 1.50

// change is one thing that init does, or would do.
type change struct {
	what string
	do   func(context.Context) error
}

// Run checks the repository, then changes it; what is done already is left alone, so it can
// be called again.
func (i *Init) Run() error {
	c := newConsole(false)
	changes, err := i.plan()
	if err != nil {
		return err
	}
	ctx, stop := untilInterrupted()
	defer stop()
	for _, x := range changes {
		if i.DryRun {
			c.printf("would %s\n", x.what)
			continue
		}
		c.printf("%s\n", x.what)
		if err := x.do(ctx); err != nil {
			if errors.Is(context.Cause(ctx), errInterrupted) {
				return &Exit{Code: exitInterrupted}
			}
			return &Exit{Code: exitUnreachable, Message: clean(err.Error())}
		}
	}
	if len(changes) == 0 {
		c.printf("Nothing to do: TAS can run this repository.\n")
	}
	c.printf("\nNext: commit and push, then connect the repository on the service's machine:\n  tas project create NAME --repo URL\n")
	return nil
}

// plan finds out what is to be done, or why TAS cannot run the repository.
func (i *Init) plan() ([]change, error) {
	text, err := os.ReadFile(i.path("package.json"))
	if err != nil {
		return nil, usage("There is no package.json in %s. Run this in the folder of your Playwright tests, or make one with `npm init playwright@latest`.", clean(i.Dir))
	}
	var m manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, usage("package.json cannot be read: %s.", clean(err.Error()))
	}
	playwright := m.version("@playwright/test")
	if playwright == "" {
		return nil, usage("@playwright/test is no dependency of this package. Install it with `npm install --save-dev @playwright/test`.")
	}
	if old := minor.FindStringSubmatch(playwright); old != nil {
		if n, err := strconv.Atoi(old[1]); err == nil && n < leastPlaywright {
			return nil, usage("@playwright/test is %s, and TAS runs 1.%d and later. Update it with `npm install --save-dev @playwright/test@latest`.", clean(playwright), leastPlaywright)
		}
	}
	if !i.has("package-lock.json") && !i.has("npm-shrinkwrap.json") {
		for _, other := range []string{"yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb"} {
			if i.has(other) {
				return nil, usage("The dependencies are locked in %s, and TAS installs with npm. Make a package-lock.json with `npm install` and commit it.", other)
			}
		}
		return nil, usage("There is no package-lock.json. TAS installs exactly what is locked: run `npm install` and commit the file.")
	}
	if !slices.ContainsFunc([]string{"ts", "js", "mts", "mjs", "cts", "cjs"}, func(ext string) bool { return i.has("playwright.config." + ext) }) {
		return nil, usage("There is no playwright.config file in %s. Make one: `npm init playwright@latest` does.", clean(i.Dir))
	}
	if at, err := i.focused(); err != nil || at != "" {
		return nil, usage("%s has a test.only, which hides all other tests: TAS fails such a run. Remove it.", clean(at))
	}
	var changes []change
	if m.version("tas-runner") == "" {
		install, err := i.install()
		if err != nil {
			return nil, err
		}
		changes = append(changes, install)
	}
	return append(changes, i.files()...), nil
}

// minor finds the second number of a version of Playwright.
var minor = regexp.MustCompile(`^[~^=v]*1\.(\d+)`)

func (i *Init) path(name string) string { return filepath.Join(i.Dir, name) }

func (i *Init) has(name string) bool {
	_, err := os.Stat(i.path(name))
	return err == nil
}

var only = regexp.MustCompile(`(?m)^[^/\n]*\b(?:test|it|test\.describe|describe)\.only\(`)

// focused answers the first file with a focused test, or "".
func (i *Init) focused() (string, error) {
	at := ""
	err := filepath.WalkDir(i.Dir, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // what cannot be read is not run either
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git"):
			return fs.SkipDir
		case !testFile.MatchString(d.Name()) || !d.Type().IsRegular():
			return nil
		}
		text, err := os.ReadFile(p)
		if err == nil && only.Match(text) {
			at = p
			return fs.SkipAll
		}
		return nil
	})
	return at, err
}

// testFile are the names that Playwright looks for by default.
var testFile = regexp.MustCompile(`\.(?:spec|test)\.[cm]?[jt]sx?$`)

// install adds tas-runner, from the service that the repository is run by.
func (i *Init) install() (change, error) {
	u, err := url.Parse(strings.TrimSpace(i.BaseURL))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return change{}, usage("tas-runner is installed from the service: set SERVICE_BASE_URL, or give --base-url, such as https://tas.example.com.")
	}
	from := strings.TrimSuffix(u.Scheme+"://"+u.Host+u.Path, "/") + "/runner/tas-runner.tgz"
	return change{what: "install tas-runner from " + clean(from), do: func(ctx context.Context) error {
		cmd := exec.CommandContext(ctx, "npm", "install", "--save-dev", "--no-audit", "--no-fund", from)
		cmd.Dir, cmd.Stderr = i.Dir, os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("npm could not install tas-runner (%w): check that the service runs at the address, then try again", err)
		}
		return nil
	}}, nil
}

// files answers what is missing beside the package.
func (i *Init) files() (changes []change) {
	ignored, _ := os.ReadFile(i.path(".gitignore")) //nolint:errcheck // none is as good as an empty one
	var missing []string
	for _, name := range []string{"node_modules/", "test-results/", "playwright-report/", "blob-report/"} {
		if bare := strings.TrimSuffix(name, "/"); !slices.ContainsFunc(strings.Fields(string(ignored)), func(line string) bool { return strings.Trim(line, "/") == bare }) {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		changes = append(changes, change{what: "add " + strings.Join(missing, ", ") + " to .gitignore", do: func(context.Context) error {
			text := string(ignored)
			if text != "" && !strings.HasSuffix(text, "\n") {
				text += "\n"
			}
			return os.WriteFile(i.path(".gitignore"), []byte(text+strings.Join(missing, "\n")+"\n"), 0o644)
		}})
	}
	name := map[string]string{"github": ".github/workflows/tas.yml", "gitlab": ".gitlab-ci.yml"}[i.CI]
	if name != "" && !i.has(name) {
		changes = append(changes, change{what: "write " + name, do: func(context.Context) error {
			if err := os.MkdirAll(filepath.Dir(i.path(name)), 0o755); err != nil {
				return err
			}
			return os.WriteFile(i.path(name), []byte(pipelines[i.CI]), 0o644)
		}})
	}
	return changes
}

// pipelines are jobs that run everything and gate on the verdict. They fetch the command
// line from the service.
var pipelines = map[string]string{"github": `name: End-to-end tests
on:
  push:
  pull_request:
jobs:
  tas:
    runs-on: ubuntu-latest
    env:
      SERVICE_BASE_URL: ${{ vars.SERVICE_BASE_URL }}
      SERVICE_API_KEY: ${{ secrets.SERVICE_API_KEY }}
      BRANCH: ${{ github.head_ref || github.ref_name }}
    steps:
      - run: |
          curl -fsSL -o tas "$SERVICE_BASE_URL/cli/tas-linux-amd64" && chmod +x tas
          ./tas run --branch "$BRANCH" --reporter github
`, "gitlab": `e2e:
  image: debian:stable-slim
  variables:
    GIT_STRATEGY: none
  script:
    - apt-get update -qq && apt-get install -qq --no-install-recommends curl ca-certificates
    - curl -fsSL -o tas "$SERVICE_BASE_URL/cli/tas-linux-amd64" && chmod +x tas
    - ./tas run --branch "$CI_COMMIT_REF_NAME" --reporter plain --reporter junit=tas-junit.xml
  artifacts:
    when: always
    reports:
      junit: tas-junit.xml
`}
