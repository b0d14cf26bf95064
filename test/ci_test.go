package test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"tas-service/test/harness"
)

// template reads a CI template.
func template(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(harness.Root(), path))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// script runs a template's shell script as a build server does, in a folder of its own.
func script(t *testing.T, text string, env ...string) said {
	t.Helper()
	cmd := exec.Command("bash", "-e", "-c", text)
	cmd.Dir = t.TempDir()
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + cmd.Dir, "CI=true"}, env...)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.Run() //nolint:errcheck // its code is what is looked at
	return said{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// TestCITemplates runs the scripts of the GitHub Action and of the GitLab template against
// a service that serves its own command line.
func TestCITemplates(t *testing.T) {
	p := harness.StartProcess(t, map[string]string{"tests/a.spec.ts": `import { test, expect } from '@playwright/test';
test('good', async () => { expect(process.env.COLOUR ?? '').not.toBe('black'); });
test('bad @later', async () => { expect(1).toBe(2); });
`})
	service := []string{"SERVICE_BASE_URL=" + p.URL, "SERVICE_API_KEY=" + p.Key}

	var action struct {
		Inputs map[string]struct{ Default string }
		Runs   struct {
			Steps []struct {
				Env map[string]string
				Run string
			}
		}
	}
	template(t, "ci/github/action.yml", &action)
	step := action.Runs.Steps[0]
	github := func(inputs map[string]string) (said, string, string) {
		dir := t.TempDir()
		output, summary := filepath.Join(dir, "output"), filepath.Join(dir, "summary.md")
		env := append([]string{"RUNNER_TEMP=" + dir, "GITHUB_OUTPUT=" + output, "GITHUB_STEP_SUMMARY=" + summary, "GITHUB_RUN_ID=" + filepath.Base(filepath.Dir(dir)), "GITHUB_ACTION=" + filepath.Base(dir)}, service...)
		for name, v := range step.Env {
			input := strings.TrimSuffix(strings.TrimPrefix(v, "${{ inputs."), " }}")
			if _, ok := action.Inputs[input]; !ok {
				t.Fatalf("%s: there is no input %q", name, input)
			}
			if !strings.HasPrefix(name, "SERVICE_") {
				value := action.Inputs[input].Default
				if given, ok := inputs[input]; ok {
					value = given
				}
				env = append(env, name+"="+value)
			}
		}
		got := script(t, step.Run, env...)
		out, _ := os.ReadFile(output)  //nolint:errcheck // empty is what is compared then
		sum, _ := os.ReadFile(summary) //nolint:errcheck // as above
		return got, string(out), string(sum)
	}
	got, out, summary := github(nil)
	if got.code != 1 || !strings.Contains(out, "verdict=fail\n") || !strings.Contains(out, "run-id=") || !strings.Contains(summary, "TAS: FAIL") ||
		!strings.Contains(got.err, "::error file=tests/a.spec.ts,line=3,title=bad") {
		t.Errorf("a red run: %+v\n%s\n%s", got, out, summary)
	}
	if got, out, summary = github(map[string]string{"select": "grep", "value": "good", "env": "COLOUR=red\nSHAPE=round\n", "shards": "2", "timeout": "5m"}); got.code != 0 || !strings.Contains(out, "verdict=pass\n") || !strings.Contains(summary, "TAS: PASS") {
		t.Errorf("a green run: %+v\n%s\n%s", got, out, summary)
	}
	if got, _, _ = github(map[string]string{"select": "grep", "value": "$(touch pwned)`touch pwned`"}); got.code == 0 {
		t.Errorf("a hostile value: %+v", got)
	}
	if got, _, _ = github(map[string]string{"select": "some"}); got.code != 2 || !strings.Contains(got.out, "::error") {
		t.Errorf("a wrong input: %+v", got)
	}

	var gitlab map[string]struct {
		BeforeScript []string `yaml:"before_script"`
		Script       []string
		Artifacts    struct {
			Reports struct {
				JUnit string `yaml:"junit"`
			}
		}
	}
	template(t, "ci/gitlab/tas.gitlab-ci.yml", &gitlab)
	job := gitlab[".tas"]
	text := strings.Join(append(job.BeforeScript, job.Script...), "\n") + "\nls " + job.Artifacts.Reports.JUnit
	if got := script(t, text, append(service, "TAS_ARGS=--grep good --workers 1", "CI_JOB_ID=1")...); got.code != 0 || !strings.Contains(got.out, "PASS") || !strings.Contains(got.out, "tas-junit.xml") {
		t.Errorf("GitLab: %+v", got)
	}
	if got := script(t, text, append(service, "TAS_ARGS=--grep bad", "CI_JOB_ID=2")...); got.code != 1 || !strings.Contains(got.out, "✗ bad") {
		t.Errorf("GitLab, red: %+v", got)
	}
	if a := p.Call(t, "GET", "/cli/tas-plan9-mips", nil); a.Status != 404 || !strings.Contains(a.Text, "go build") {
		t.Errorf("another system: %s", a.Text)
	}
}
