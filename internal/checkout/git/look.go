package git

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"tas-service/internal/checkout"
	"tas-service/internal/fault"
	"tas-service/internal/filelock"
)

var _ checkout.Looks = (*Mirrors)(nil)

// looking collects what was seen.
type looking []checkout.Seen

func (l *looking) fine(what, format string, args ...any) {
	*l = append(*l, checkout.Seen{What: what, OK: true, Said: fmt.Sprintf(format, args...)})
}

func (l *looking) wrong(what, fix, format string, args ...any) {
	*l = append(*l, checkout.Seen{What: what, Said: fmt.Sprintf(format, args...), Fix: fix})
}

func (l *looking) failed(what string, err error) {
	f := fault.As(err)
	if f == nil {
		f = fault.New(fault.Unavailable, "This could not be found out now.").WithFix("Try again.")
	}
	*l = append(*l, checkout.Seen{What: what, Said: f.Message, Fix: f.Fix})
}

// Look fetches the branch into the mirror and reads from there: no file of it is written.
func (m *Mirrors) Look(ctx context.Context, src checkout.Source, dir string) []checkout.Seen {
	var l looking
	unlock, err := m.hold(ctx, src)
	if err != nil {
		l.failed("repository", err)
		return l
	}
	defer unlock()
	git := m.command(src)
	ls := command{token: src.Token, url: src.URL}
	out, err := ls.run(ctx, "ls-remote", "--heads", "--end-of-options", src.URL)
	if err != nil {
		l.failed("repository", explain(err, src, src.Branch))
		return l
	}
	branches := strings.Count(out, "\n")
	if branches == 0 {
		l.wrong("repository", "Push the tests to it.", "It answers, and it is empty.")
		return l
	}
	l.fine("repository", "It answers, and the service may read it.")
	branch, commit, err := m.fetch(ctx, src)
	if err != nil {
		l.failed("branch", err)
		return l
	}
	l.fine("branch", "%s is at %.10s.", branch, commit)
	m.lookAtPackage(ctx, git, commit, path.Clean("/" + dir)[1:], &l)
	return l
}

func (m *Mirrors) hold(ctx context.Context, src checkout.Source) (func(), error) {
	if err := m.makeRoot(); err != nil {
		return nil, err
	}
	unlock, err := filelock.Lock(ctx, m.mirror(src)+".lock")
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "Another look at this repository, or a run of it, is under way.").WithFix("Try again in a moment.")
	}
	return unlock, nil
}

// configs are the names that Playwright looks for.
var configs = []string{"playwright.config.ts", "playwright.config.js", "playwright.config.mts", "playwright.config.mjs", "playwright.config.cts", "playwright.config.cjs"}

func (m *Mirrors) lookAtPackage(ctx context.Context, git command, commit, dir string, l *looking) {
	at := commit + ":"
	if dir != "" {
		at += dir + "/"
	}
	out, err := git.run(ctx, "ls-tree", "-z", "--name-only", "--end-of-options", at)
	if err != nil {
		l.wrong("folder", "Correct the folder in the settings; it is written from the root of the repository.", "There is no folder %q on this branch.", "/"+dir)
		return
	}
	names := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	if !slices.Contains(names, "package.json") {
		l.wrong("package.json", "Set the folder of the tests' package in the settings.", "There is none in %q.", "/"+dir)
		return
	}
	text, err := git.run(ctx, "cat-file", "blob", "--end-of-options", at+"package.json")
	if err != nil {
		l.failed("package.json", fault.Wrap(err, fault.External, "It cannot be read: %s", saidBy(err)))
		return
	}
	var pkg struct {
		Dependencies    map[string]string `json:"dependencies"`
		DevDependencies map[string]string `json:"devDependencies"`
	}
	if err := json.Unmarshal([]byte(text), &pkg); err != nil {
		l.wrong("package.json", "Correct it and push.", "It is no valid JSON: %v.", err)
		return
	}
	l.fine("package.json", "It is in %q.", "/"+dir)
	version := func(name string) (string, bool) {
		v, ok := pkg.DevDependencies[name]
		if !ok {
			v, ok = pkg.Dependencies[name]
		}
		return v, ok
	}
	if v, ok := version("@playwright/test"); ok {
		l.fine("Playwright", "@playwright/test %s", v)
	} else {
		l.wrong("Playwright", "npm install --save-dev @playwright/test", "package.json does not depend on @playwright/test.")
	}
	if slices.Contains(names, "package-lock.json") || slices.Contains(names, "npm-shrinkwrap.json") {
		l.fine("lockfile", "It is there, so every run installs the same.")
	} else {
		l.wrong("lockfile", "Run npm install there and commit package-lock.json; beside another tool's lockfile: npm install --package-lock-only.", "There is no package-lock.json.")
	}
	if i := slices.IndexFunc(configs, func(c string) bool { return slices.Contains(names, c) }); i >= 0 {
		l.fine("configuration", "%s", configs[i])
	} else {
		l.wrong("configuration", "Commit playwright.config.ts beside package.json, or set the folder that has it.", "There is no Playwright configuration in %q.", "/"+dir)
	}
	if v, ok := version("tas-runner"); ok {
		l.fine("tas-runner", "%s", v)
	} else {
		l.fine("tas-runner", "It is not among the dependencies, so runs use the one that the service brings along.")
	}
}
