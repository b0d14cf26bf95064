package cli_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestCompletion asks a real bash what it completes.
func TestCompletion(t *testing.T) {
	t.Parallel()
	script, err := exec.Command(tas(), "completion", "bash").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{"tas ru": "run", "tas run --sha": "--shards", "tas project cr": "create", "tas project create --re": "--repo --repo-token-env", "tas verdict RUN not": "not-bug",
		"tas completion z": "zsh", "tas test": "tests", "tas run --nothing": ""} {
		cmd := exec.Command("bash", "-c", string(script)+`
COMP_WORDS=($1); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _tas; echo "${COMPREPLY[*]}"`, "bash", line)
		out, err := cmd.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%q is completed to %q, want %q (%v)", line, got, want, err)
		}
	}
	for _, shell := range []string{"zsh", "fish"} {
		if out, err := exec.Command(tas(), "completion", shell).Output(); err != nil || !strings.Contains(string(out), "shards") {
			t.Errorf("%s: %v %.100s", shell, err, out)
		}
	}
	if out, err := exec.Command(tas(), "man").Output(); err != nil || !strings.HasPrefix(string(out), ".TH TAS 1\n") || !strings.Contains(string(out), `\-\-[no\-]wait`) {
		t.Errorf("the manual: %v %.200s", err, out)
	}
}
