package test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"tas-service/internal/account"
	"tas-service/internal/project"
	"tas-service/internal/run"
	"tas-service/test/harness"
)

// kept is a log that a test reads while it is written.
type kept struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (k *kept) Write(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.b.Write(p)
}

func (k *kept) String() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.b.String()
}

var welcomeLink = regexp.MustCompile(`link=(http://\S+/welcome/\S+)`)

// TestFirstStart becomes the first administrator by the link that the service prints, and
// lets the operator set a password anew beside the running service.
func TestFirstStart(t *testing.T) {
	t.Parallel()
	if os.Getenv("TAS_TEST_DATABASE") == "postgres" {
		t.Skip("the operator's command opens the database of the data folder")
	}
	log := &kept{}
	s := harness.Start(t, harness.Options{Log: log})
	for deadline := time.Now().Add(time.Minute); !welcomeLink.MatchString(log.String()); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no link was printed:\n%s", log)
		}
	}
	link := welcomeLink.FindStringSubmatch(log.String())[1]
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	post := func(address string, form url.Values) (*http.Response, string) {
		t.Helper()
		resp, err := browser.PostForm(address, form)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		return resp, body(t, resp)
	}
	resp, text := post(link, url.Values{"name": {"Ada"}, "email": {"ada@example.com"}, "password": {"correct horse battery"}})
	if resp.StatusCode != http.StatusOK || resp.Request.URL.Path != "/" || !strings.Contains(text, "Case") {
		t.Fatalf("%d %s %.300s", resp.StatusCode, resp.Request.URL, text)
	}
	if resp, _ := post(link, url.Values{"name": {"Eve"}, "email": {"eve@example.com"}, "password": {"correct horse battery"}}); resp.StatusCode != http.StatusNotFound {
		t.Errorf("the link works twice: %d", resp.StatusCode)
	}
	token := link[strings.LastIndex(link, "/")+1:]
	if strings.Count(log.String(), token) != 1 {
		t.Error("the token is in the log of requests too")
	}
	cmd := exec.Command(harness.Binary(), "admin", "link", "--email", "ADA@example.com")
	cmd.Env = append(cmd.Environ(), "TAS_DATA_DIR="+s.Data, "TAS_APP_URL="+s.URL)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	reset, _, _ := strings.Cut(string(out), "\n")
	browser.Jar = nil
	if resp, _ := post(reset, url.Values{"password": {"another long one"}}); resp.Request.URL.Path != "/sign-in" { // without a cookie jar
		t.Errorf("%d %s", resp.StatusCode, resp.Request.URL)
	}
	for password, status := range map[string]int{"correct horse battery": http.StatusUnauthorized, "another long one": http.StatusOK} {
		if resp, _ := post(s.URL+"/sign-in", url.Values{"email": {"ada@example.com"}, "password": {password}}); resp.StatusCode != status {
			t.Errorf("%s: %d", password, resp.StatusCode)
		}
	}
}

// TestEnvironments gives a run what its environment holds, secrets among it, and keeps
// those of another from it.
func TestEnvironments(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, harness.Options{Files: map[string]string{"tests/env.spec.ts": `import { test, expect } from '@playwright/test';
test('is told', () => {
  expect(process.env.WHERE).toBe('production');
  expect(process.env.PASSWORD).toBe('s3cret value');
  expect(process.env.OTHER).toBeUndefined();
});
`}})
	ctx, db := context.Background(), s.Server.Store()
	set := func(id, name, where string, secrets map[string]string) {
		t.Helper()
		if err := db.UpdateEnvironment(ctx, s.ProjectID, id, func(e *project.Environment, _ int) (map[string]string, error) {
			e.Name, e.Variables = name, map[string]string{"WHERE": where}
			return secrets, nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	set(s.ProjectID, "default", "production", map[string]string{"PASSWORD": "s3cret value"})
	set("", "staging", "staging", map[string]string{"OTHER": "x"})
	if st := s.Suite(t); st["verdict"] != "pass" {
		t.Errorf("in the default environment: %v", st)
	}
	es, err := db.Environments(ctx, s.ProjectID)
	if err != nil {
		t.Fatal(err)
	}
	// A run that names its environment gets that one, whatever the default is then.
	if err := db.SetDefaultEnvironment(ctx, s.ProjectID, es[1].ID); err != nil {
		t.Fatal(err)
	}
	if st := s.Suite(t); st["verdict"] != "fail" {
		t.Errorf("in another default environment: %v", st)
	}
	runs := &run.Service{Store: db, Projects: db, Environments: db, Clock: time.Now, Wake: func() {}}
	actor := account.Actor{ProjectID: s.ProjectID, Via: account.ViaKey}
	if _, err := runs.Start(ctx, actor, run.StartInput{Selection: run.Selection{Kind: run.SelectSuite}, Environment: "nowhere"}); err == nil {
		t.Error("a run began in an environment that there is not")
	}
	r, err := runs.Start(ctx, actor, run.StartInput{Selection: run.Selection{Kind: run.SelectSuite}, Environment: "default", Trigger: run.TriggerManual})
	if err != nil {
		t.Fatal(err)
	}
	if st := s.Wait(t, r.ID); st["verdict"] != "pass" {
		t.Errorf("in the environment that it names: %v", st)
	}
}
