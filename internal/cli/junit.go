package cli

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tas-service/client"
)

// junit writes JUnit XML as GitLab and Jenkins read it: a suite for each file, a case for
// each test and Playwright project.
type junit struct{ file string }

// newJUnit removes what an earlier run left at the place, so that nobody takes it for this
// run's when there is no verdict, and finds out whether it can be written.
func newJUnit(file string) (*junit, error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return nil, usage("--reporter junit=%s: the folder cannot be made: %s", clean(file), clean(err.Error()))
	}
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, usage("--reporter junit=%s: the file cannot be replaced: %s", clean(file), clean(err.Error()))
	}
	probe, err := os.CreateTemp(filepath.Dir(file), ".junit-*")
	if err != nil {
		return nil, usage("--reporter junit=%s: nothing can be written there: %s", clean(file), clean(err.Error()))
	}
	probe.Close()           //nolint:errcheck // nothing was written
	os.Remove(probe.Name()) //nolint:errcheck // an empty file at worst
	return &junit{file: file}, nil
}

func (j *junit) wantsAll() bool { return true }

type xmlSuites struct {
	XMLName xml.Name `xml:"testsuites"`
	xmlCounts
	Suites []xmlSuite `xml:"testsuite"`
}

type xmlCounts struct {
	Name     string `xml:"name,attr"`
	Tests    int    `xml:"tests,attr"`
	Failures int    `xml:"failures,attr"`
	Errors   int    `xml:"errors,attr"`
	Skipped  int    `xml:"skipped,attr"`
	Time     string `xml:"time,attr"`
}

type xmlSuite struct {
	xmlCounts
	Timestamp string    `xml:"timestamp,attr,omitempty"`
	Cases     []xmlCase `xml:"testcase"`
	ms        int64
}

type xmlCase struct {
	Name       string         `xml:"name,attr"`
	Classname  string         `xml:"classname,attr"`
	File       string         `xml:"file,attr,omitempty"`
	Time       string         `xml:"time,attr"`
	Properties *xmlProperties `xml:"properties"`
	Skipped    *xmlTrouble    `xml:"skipped"`
	Error      *xmlTrouble    `xml:"error"`
	Failure    *xmlTrouble    `xml:"failure"`
	SystemOut  string         `xml:"system-out,omitempty"`
}

type xmlProperties struct {
	List []xmlProperty `xml:"property"`
}

type xmlProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type xmlTrouble struct {
	Message string `xml:"message,attr,omitempty"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// report writes the file, whole or not at all. A run without a verdict has none: a file
// that lists half of the tests would be taken for a pass of the others.
func (j *junit) report(o *outcome) error {
	if !o.IsTerminal {
		return nil
	}
	if o.all == nil && o.TotalCount > 0 {
		return fmt.Errorf("%s was not written: the results could not be read", j.file)
	}
	text, err := xml.MarshalIndent(suites(o), "", "  ")
	if err != nil {
		return err
	}
	if err := replace(j.file, xml.Header+string(text)+"\n"); err != nil {
		return fmt.Errorf("%s was not written: %w", j.file, err)
	}
	return nil
}

// replace writes a file whole or not at all.
func replace(file, text string) error {
	f, err := os.CreateTemp(filepath.Dir(file), ".junit-*")
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	err = errors.Join(err, f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		os.Remove(f.Name()) //nolint:errcheck // err says more
	}
	return err
}

func suites(o *outcome) xmlSuites {
	out := xmlSuites{xmlCounts: xmlCounts{Name: "TAS run " + clean(o.RunID), Time: "0.000"}}
	if o.DurationMs != nil {
		out.Time = seconds(*o.DurationMs)
	}
	byFile := map[string]*xmlSuite{}
	var files []string
	for _, r := range o.all {
		file := cmp.Or(clean(r.File), "(no file)")
		s := byFile[file]
		if s == nil {
			s = &xmlSuite{xmlCounts: xmlCounts{Name: file}}
			if o.StartedAt != nil {
				s.Timestamp = o.StartedAt.UTC().Format(time.RFC3339)
			}
			byFile[file] = s
			files = append(files, file)
		}
		s.add(caseOf(r, file), r.DurationMs)
	}
	slices.Sort(files)
	for _, f := range files {
		out.Suites = append(out.Suites, *byFile[f])
	}
	if o.Error != nil { // the run as a whole: no test would show it
		s := xmlSuite{xmlCounts: xmlCounts{Name: "TAS"}}
		s.add(xmlCase{Name: "the run as a whole", Classname: "TAS", Time: "0.000",
			Error: &xmlTrouble{Message: clean(o.Error.Code), Type: clean(o.Error.Code), Text: cleanLines(o.Error.Message)}}, 0)
		out.Suites = append(out.Suites, s)
	}
	for _, s := range out.Suites {
		out.Tests += s.Tests
		out.Failures += s.Failures
		out.Errors += s.Errors
		out.Skipped += s.Skipped
	}
	return out
}

func (s *xmlSuite) add(c xmlCase, ms int64) {
	s.Cases = append(s.Cases, c)
	s.Tests++
	s.ms += ms
	s.Time = seconds(s.ms)
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Error != nil:
		s.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
}

// caseOf answers one test. GitLab tells tests apart by class and name, so the Playwright
// project is part of the name.
func caseOf(r client.Result, file string) xmlCase {
	c := xmlCase{Name: named(r), Classname: file, File: file, Time: seconds(r.DurationMs)}
	property := func(name, value string) {
		if c.Properties == nil {
			c.Properties = &xmlProperties{}
		}
		c.Properties.List = append(c.Properties.List, xmlProperty{name, clean(value)})
	}
	switch r.Status {
	case "passed":
	case "flaky", "recovered":
		property(r.Status, "true")
		c.SystemOut = fmt.Sprintf("%s: passed after %d tries", r.Status, len(r.Attempts))
		if e := errorOf(r); e != nil {
			c.SystemOut += "\n" + cleanLines(e.Message)
		}
	case "skipped":
		c.Skipped = &xmlTrouble{}
		if r.Error != nil {
			c.Skipped.Message = clean(firstSentence(cleanLines(r.Error.Message)))
		}
	default: // failed, bug, and whatever is no pass
		c.Failure = failureOf(r)
	}
	property("serviceTestId", r.ServiceTestID)
	if r.Owner != nil {
		property("owner", *r.Owner)
	}
	if r.BugKey != nil {
		property("bug", *r.BugKey)
	}
	return c
}

func failureOf(r client.Result) *xmlTrouble {
	file, line := where(r)
	at := fmt.Sprintf("at %s:%d", clean(file), line)
	if r.Error == nil {
		return &xmlTrouble{Message: clean(r.Status), Type: clean(r.Status), Text: at}
	}
	text := cleanLines(r.Error.Message)
	t := &xmlTrouble{Message: clean(firstSentence(strings.TrimSpace(text))), Type: cmp.Or(clean(r.Error.Code), clean(r.Status)), Text: strings.TrimSpace(text) + "\n\n" + at}
	if snippet := strings.Trim(cleanLines(r.Error.Snippet), "\n"); snippet != "" {
		t.Text += "\n" + snippet
	}
	if stack := strings.TrimSpace(cleanLines(r.Error.Stack)); stack != "" && !strings.Contains(text, stack) {
		t.Text += "\n\n" + stack
	}
	return t
}

func seconds(ms int64) string { return fmt.Sprintf("%.3f", float64(ms)/1000) }
