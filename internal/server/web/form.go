package web

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"tas-service/internal/fault"
	"tas-service/internal/run"
)

// badInput answers what is wrong with a form, for showing it once more; nil for an error
// that no other input would avoid.
func badInput(err error) *problemPage {
	f := fault.As(err)
	if f == nil || f.Kind != fault.Invalid && f.Kind != fault.Conflict {
		return nil
	}
	p := &problemPage{Title: f.Message, Fix: f.Fix, Details: f.Details, Status: http.StatusBadRequest}
	if f.Kind == fault.Conflict {
		p.Status = http.StatusConflict
	}
	for i := range p.Details {
		p.Details[i].Path = strings.TrimPrefix(p.Details[i].Path, "body.")
	}
	return p
}

// whole reads a whole number; nothing is 0.
func whole(bad *fault.Error, form url.Values, name string) int {
	text := strings.TrimSpace(form.Get(name))
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		bad.At(name, "a whole number")
	}
	return n
}

// startInput reads the form that starts a run.
func startInput(form url.Values) (in run.StartInput, err error) {
	bad := fault.New(fault.Invalid, "The run cannot be started as it was asked for.").WithFix("Correct what is named here.")
	in = run.StartInput{Branch: strings.TrimSpace(form.Get("branch")), Environment: form.Get("environment"), ShardCount: whole(bad, form, "shards"), Workers: whole(bad, form, "workers"), Trigger: run.TriggerManual}
	if in.ShardCount == 1 {
		in.ShardCount = 0
	}
	switch form.Get("select") {
	case "collection":
		if in.Selection = (run.Selection{Kind: run.SelectCollection, CollectionID: form.Get("collection")}); in.Selection.CollectionID == "" {
			bad.At("collection", "choose one")
		}
	case "grep":
		in.Selection = run.Selection{Kind: run.SelectGrep, Grep: form.Get("grep")}
	case "tests":
		in.Selection = run.Selection{Kind: run.SelectTests, TestIDs: form["test"]}
	default:
		in.Selection.Kind = run.SelectSuite
	}
	env, err := readLines(form.Get("env"))
	if f := fault.As(err); f != nil {
		bad.Details = append(bad.Details, f.Details...)
	}
	if len(env) > 0 {
		in.EnvOverrides = env
	}
	if len(bad.Details) > 0 {
		return in, bad
	}
	return in, nil
}
