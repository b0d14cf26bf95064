package run

import (
	"slices"
	"time"
)

// Status of a test in a run.
type Status string

// The statuses. Those from Passed on are final.
const (
	StatusPending   Status = "pending"
	StatusRunning   Status = "running"
	StatusPassed    Status = "passed"
	StatusFailed    Status = "failed"
	StatusFlaky     Status = "flaky" // failed, then passed on a retry
	StatusSkipped   Status = "skipped"
	StatusRecovered Status = "recovered" // passed because it was repaired while it ran
	StatusBug       Status = "bug"       // failed, and a verdict says that the application is at fault
)

// ResultStatuses lists every status.
func ResultStatuses() []Status {
	return []Status{StatusPending, StatusRunning, StatusPassed, StatusFailed, StatusFlaky, StatusSkipped, StatusRecovered, StatusBug}
}

// Final reports whether the test has its result.
func (s Status) Final() bool { return s != StatusPending && s != StatusRunning }

// Failing reports whether the test did not pass in the end, whoever is at fault.
func (s Status) Failing() bool { return s == StatusFailed || s == StatusBug }

// Result is what came of one test in one Playwright project ("browser") of a run.
type Result struct {
	RunID        string
	PlaywrightID string // unique within the run
	TestID       string // serviceTestId
	Browser      string
	RepeatEach   int
	Setup        bool // a set-up or tear-down of others
	Companion    bool // one that was not selected and only came along; see Counted
	Position     int  // order in the listing
	Title        string
	TitlePath    []string
	File         string
	Line         int
	Tags         []string
	Owner        string
	BodyHash     string
	Unit         int    // of a sharded run: what it is handed out with; -1 for set-up, which every shard runs
	AttemptID    string // of a sharded run: who has it, "" for nobody
	Shard        int
	Status       Status
	Tries        []Try // by retry index; of set-up in a sharded run by attempt, then retry
	Error        *Error
	Verdict      string // the last Word that was said of it, "" for none
	BugKey       string
	// Overruled: it failed by itself, and a verdict says that it did not, or the reverse.
	Overruled bool
	// Quarantined: its failure does not fail the run, as was decided before it began.
	Quarantined bool
}

// Counted reports whether the result enters the run's counts: what was selected always,
// what merely came along only when it did not pass by itself, so that a selection of three tests
// counts three, and a failed set-up still fails the run in plain sight.
func (r *Result) Counted() bool {
	return !r.Companion || r.Status == StatusFailed || r.Status == StatusFlaky || r.Status == StatusRecovered || r.Status == StatusBug
}

// Duration of all tries together.
func (r *Result) Duration() time.Duration {
	var d time.Duration
	for _, t := range r.Tries {
		d += t.Duration
	}
	return d
}

// Forget drops what an attempt said of set-up and did not bring to its end.
func (r *Result) Forget(attemptID string) {
	var own []Try
	for _, t := range r.Tries {
		if t.AttemptID == attemptID {
			own = append(own, t)
		}
	}
	if len(own) == 0 || own[len(own)-1].Status != string(StatusRunning) && !own[len(own)-1].WillRetry {
		return
	}
	r.Tries = slices.DeleteFunc(r.Tries, func(t Try) bool { return t.AttemptID == attemptID })
	r.Settle()
}

// Retries answers how often the test was tried again at most.
func (r *Result) Retries() int {
	most := 0
	for _, t := range r.Tries {
		most = max(most, t.Retry)
	}
	return most
}

// Try is one execution of a test: the first, or a retry.
type Try struct {
	Retry     int           `json:"retry"`
	Status    string        `json:"status"` // running, passed, failed, timedOut, skipped, interrupted
	Expected  string        `json:"expected,omitempty"`
	StartedAt time.Time     `json:"startedAt"`
	Duration  time.Duration `json:"duration"`
	Error     *Error        `json:"error,omitempty"`
	WillRetry bool          `json:"willRetry,omitempty"`
	Sabotaged bool          `json:"sabotaged,omitempty"` // of a trial: what was to be broken was
	// Recovered are steps that were taken with another locator than the one that is written.
	Recovered []Recovered `json:"recovered,omitempty"`
	// AttemptID tells apart what several shards say of set-up that all of them run.
	AttemptID string `json:"attemptId,omitempty"`
}

// MaxRecovered is how many steps of one try may be recovered.
const MaxRecovered = 3

// Recovered is a step whose locator found nothing and that was taken with another one.
type Recovered struct {
	Method string `json:"method"` // "click"
	Before string `json:"before"` // the locator as it is written
	After  string `json:"after"`
	File   string `json:"file"`
	Line   int    `json:"line"`
	Why    string `json:"why"`
}

// Recovered answers what was recovered in the try that the test owes its pass to; nothing for
// a test that did not pass so.
func (r *Result) Recovered() []Recovered {
	if r.Status != StatusRecovered {
		return nil
	}
	for _, t := range slices.Backward(r.Tries) {
		if len(t.Recovered) > 0 && t.asExpected() {
			return t.Recovered
		}
	}
	return nil
}

// asExpected reports whether a try ran to its end as it should.
func (t *Try) asExpected() bool { return t.Status == t.Expected && executed(t.Status) }

// Error is why a test, or the run as a whole, failed.
type Error struct {
	Code     string    `json:"code,omitempty"`
	Message  string    `json:"message"`
	Stack    string    `json:"stack,omitempty"`
	Snippet  string    `json:"snippet,omitempty"`
	Location *Location `json:"location,omitempty"`
	Steps    []string  `json:"steps,omitempty"` // the step that failed, after those that it is part of
}

// Location is a place in the tests repository.
type Location struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// Codes of errors that the service itself gives.
const (
	CodeNotReported  = "not-reported" // planned, and nothing was ever heard of it
	CodeInterrupted  = "interrupted"  // it had begun when the attempt ended
	CodeDidNotRun    = "did-not-run"  // left out because of an earlier failure
	CodeNoTests      = "no-tests-selected"
	CodeNoneExecuted = "no-test-executed"
	CodeLoadError    = "load-error"
	CodeIncomplete   = "incomplete"
	CodeFocused      = "focused-tests"
	CodeWorkerLost   = "worker-lost"
	CodeTimeLimit    = "run-time-limit"
	CodeShardLost    = "shard-lost" // the shard that had it was lost, twice
	CodeMergeFailed  = "merge-failed"
	CodePlanBroken   = "plan-broken" // the outcomes are not what was planned
	CodeCancelled    = "cancelled"   // a person ended the run, or the test with it
	// CodeRunnerTooOld is a warning: the branch's tas-runner cannot merge shards, so the
	// run stays without a verdict (section 3 of the specification).
	CodeRunnerTooOld = "runner-too-old"
)

// Record notes a try, growing Tries as needed; retries may arrive in any order. Tries of
// several attempts stand side by side.
func (r *Result) Record(t Try) {
	if t.AttemptID != "" {
		behind := len(r.Tries)
		for i, have := range r.Tries {
			if have.AttemptID == t.AttemptID {
				if behind = i + 1; have.Retry == t.Retry {
					r.Tries[i] = t
					return
				}
			}
		}
		r.Tries = slices.Insert(r.Tries, behind, t)
		return
	}
	for len(r.Tries) <= t.Retry {
		r.Tries = append(r.Tries, Try{Retry: len(r.Tries), Status: string(StatusPending)})
	}
	r.Tries[t.Retry] = t
}

// executed reports whether a status is one of a try that ran to its end. Words that
// Playwright does not have are never taken for what was expected.
func executed(status string) bool {
	return status == string(StatusPassed) || status == string(StatusFailed) || status == "timedOut"
}

// Settle derives Status and Error from the tries, as Playwright does for its own
// outcome (computeTestCaseOutcome): unexpected tries fail a test unless a later or
// earlier one was as expected, which makes it flaky. One that passed with what was
// recovered counts as that, whatever came before: what passed is not what is written. Of
// what several attempts say the worst counts: set-up that failed in one shard has failed.
func (r *Result) Settle() {
	worst := Result{Status: StatusPending}
	for tries := r.Tries; len(tries) > 0; {
		n := 1
		for n < len(tries) && tries[n].AttemptID == tries[0].AttemptID {
			n++
		}
		one := Result{Tries: tries[:n], Status: r.Status, Error: r.Error}
		one.settle()
		if worse := badness(one.Status) > badness(worst.Status); worse || n == len(r.Tries) {
			worst.Status, worst.Error = one.Status, one.Error
		}
		tries = tries[n:]
	}
	r.Status, r.Error = worst.Status, worst.Error
}

// badness orders statuses by what they do to a run.
func badness(s Status) int {
	return slices.Index([]Status{StatusPending, StatusSkipped, StatusPassed, StatusRecovered, StatusFlaky, StatusRunning, StatusFailed, StatusBug}, s)
}

// settle is Settle for the tries of one attempt.
func (r *Result) settle() {
	var skipped, asExpected, unexpected, recovered int
	var last *Error
	for _, t := range r.Tries {
		switch {
		case t.Status == string(StatusRunning):
			r.Status = StatusRunning
			return
		case t.Status == "interrupted" || t.Status == string(StatusPending):
		case t.Status == string(StatusSkipped) && t.Expected == string(StatusSkipped):
			skipped++
		case t.Status == string(StatusSkipped): // not executed because of an earlier failure
		case t.asExpected():
			asExpected++
			if len(t.Recovered) > 0 {
				recovered++
			}
		default:
			unexpected++
			last = t.Error
			if last == nil {
				last = &Error{Message: "The test was expected to be " + t.Expected + " and was " + t.Status + "."}
			}
		}
		if t.Error != nil && last == nil {
			last = t.Error
		}
	}
	tail := Try{}
	if len(r.Tries) > 0 {
		tail = r.Tries[len(r.Tries)-1]
	}
	switch {
	case tail.WillRetry:
		r.Status = StatusRunning
	case recovered > 0:
		// What passed is not what is written: that weighs more than that a try failed before.
		r.Status, r.Error = StatusRecovered, nil
	case unexpected > 0 && asExpected > 0:
		r.Status, r.Error = StatusFlaky, last
	case unexpected > 0:
		r.Status, r.Error = StatusFailed, last
	case asExpected > 0:
		r.Status, r.Error = StatusPassed, nil
	case tail.Status == "interrupted":
		r.Status = StatusFailed
		r.Error = &Error{Code: CodeInterrupted, Message: "The test was interrupted before it ended."}
		if tail.Error != nil && tail.Error.Message != "" {
			r.Error.Message += " " + tail.Error.Message
		}
	case skipped > 0:
		r.Status, r.Error = StatusSkipped, nil
	case tail.Status == string(StatusSkipped):
		r.Status = StatusSkipped
		r.Error = &Error{Code: CodeDidNotRun, Message: "The test did not run because an earlier one failed."}
	default:
		r.Status = StatusPending
	}
}
