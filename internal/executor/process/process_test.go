package process

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"tas-service/internal/executor"
	"tas-service/internal/executor/executortest"
)

// script is an attempt whose service's address says what it does.
const script = `read token; case "$2" in
ends) exit 3;;
stubborn) trap '' TERM; echo "$token" >"$4/token-$6"; while :; do sleep 1; done;;
*) exec sleep 600;; esac`

func open(t *testing.T) (*Executor, Config) {
	t.Helper()
	cfg := Config{Program: []string{"/bin/sh", "-c", script, "sh"}, Dir: filepath.Join(t.TempDir(), "notes"), Work: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH")}}
	e, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return e, cfg
}

func spec(id, does string) executor.Spec {
	return executor.Spec{ID: id, Server: does, Token: "the-token"}
}

func TestProcess(t *testing.T) {
	executortest.Run(t, func(t *testing.T) executortest.Place {
		e, _ := open(t)
		return executortest.Place{Executor: e,
			Stays: func(id string) executor.Spec { return spec(id, "stays") },
			Ends:  func(id string) executor.Spec { return spec(id, "ends") }}
	})
}

// TestNextServiceFindsThem opens a second executor over what the first one left.
func TestNextServiceFindsThem(t *testing.T) {
	ctx := context.Background()
	first, cfg := open(t)
	stays, ended := uuid.NewString(), uuid.NewString()
	for id, does := range map[string]string{stays: "stays", ended: "ends"} {
		if err := first.Start(ctx, spec(id, does)); err != nil {
			t.Fatal(err)
		}
	}
	state := func(e *Executor, id string) executor.State {
		t.Helper()
		all, err := e.Observe(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range all {
			if o.ID == id {
				return o.State
			}
		}
		return ""
	}
	until := func(e *Executor, id string, want executor.State) {
		t.Helper()
		for deadline := time.Now().Add(20 * time.Second); state(e, id) != want; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s is %q, want %q", id, state(e, id), want)
			}
		}
	}
	until(first, ended, executor.Exited)
	second, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	until(second, stays, executor.Running)
	until(second, ended, executor.Exited)
	// A reused process number is not taken for the attempt.
	if err := second.write(ended, note{PID: os.Getpid(), Start: "0"}); err != nil {
		t.Fatal(err)
	}
	until(second, ended, executor.Exited)
	if err := second.Cancel(ctx, ended); err != nil { // and this process lives on
		t.Fatal(err)
	}
	if err := second.Cancel(ctx, stays); err != nil {
		t.Fatal(err)
	}
	until(second, stays, executor.Exited)
}

// TestStubborn ends an attempt that does not listen, and keeps its token off command lines.
func TestStubborn(t *testing.T) {
	ctx := context.Background()
	e, cfg := open(t)
	id := uuid.NewString()
	if err := e.Start(ctx, spec(id, "stubborn")); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if text, _ := os.ReadFile(filepath.Join(cfg.Work, "token-"+id)); strings.TrimSpace(string(text)) == "the-token" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the token did not arrive")
		}
	}
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, l := range lines {
		if text, _ := os.ReadFile(l); strings.Contains(string(text), "the-token") && strings.Contains(string(text), id) {
			t.Errorf("the token is on the command line %q", text)
		}
	}
	if err := e.Cancel(ctx, id); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		all, err := e.Observe(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if len(all) == 1 && all[0].State == executor.Exited {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("it is still there: %+v", all)
		}
	}
}

func TestProgramThatIsNotThere(t *testing.T) {
	e, cfg := open(t)
	e.cfg.Program = []string{"/nowhere/tas"}
	if err := e.Start(context.Background(), spec(uuid.NewString(), "")); err == nil {
		t.Error("it was started")
	}
	if left, _ := os.ReadDir(cfg.Dir); len(left) > 0 {
		t.Errorf("something was noted: %v", left)
	}
	for _, id := range []string{"", "../x", "a/b"} {
		if err := e.Start(context.Background(), executor.Spec{ID: id}); err == nil {
			t.Errorf("the ID %q was taken", id)
		}
	}
}
