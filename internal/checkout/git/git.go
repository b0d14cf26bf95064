// Package git makes working copies with the git binary: one bare mirror a repository,
// fetched incrementally, and a worktree for each copy.
package git

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"tas-service/internal/fault"
)

// killAfter is how long git may take to end by itself once its time is over.
const killAfter = 2 * time.Second

// maxOutput bounds what is kept of git's output.
const maxOutput = 32 << 20

// command is one call of the git binary: without a shell, prompts, hooks, the
// machine's configuration, or a way for a token to appear on a command line.
type command struct {
	dir    string
	env    []string
	token  string
	url    string // where the token may be sent
	stdin  string
	config [][2]string // beyond what every call gets
}

// run answers git's standard output. A failed call is an *exec.ExitError wrapped with
// git's last words, cleansed of the token.
func (c command) run(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = c.dir
	cmd.Env = append(c.environment(), c.env...)
	if c.stdin != "" {
		cmd.Stdin = strings.NewReader(c.stdin)
	}
	// A group of its own, killed as a whole: git starts helpers (ssh, index-pack).
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = killAfter
	var stdout, stderr bounded
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return "", fault.Wrap(err, fault.Unavailable, "The git program is not installed on the worker's machine.").WithFix("Install git there.")
		}
		if ctx.Err() != nil {
			err = errors.Join(err, ctx.Err())
		}
		return "", &failure{err: err, said: c.cleanse(lastWords(stderr.String())), out: stdout.String()}
	}
	return stdout.String(), nil
}

// failure is a failed git call.
type failure struct {
	err  error
	said string
	out  string // what it had written before
}

func (f *failure) Error() string { return fmt.Sprintf("git: %v: %s", f.err, f.said) }
func (f *failure) Unwrap() error { return f.err }

func (c command) environment() []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "LANG=C", "LC_ALL=C",
		"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=true", "SSH_ASKPASS=true", "GCM_INTERACTIVE=never",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_ATTR_NOSYSTEM=1",
		"GIT_SSH_COMMAND=" + sshCommand(), "GIT_LFS_SKIP_SMUDGE=1",
	}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO", "SSH_AUTH_SOCK"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	config := [][2]string{
		{"core.hooksPath", os.DevNull}, {"core.fsmonitor", "false"}, {"core.symlinks", "true"},
		{"gc.auto", "0"}, {"maintenance.auto", "false"}, {"advice.detachedHead", "false"},
		{"http.followRedirects", "false"}, {"submodule.recurse", "false"}, {"safe.directory", "*"},
		{"protocol.allow", "never"}, {"protocol.https.allow", "always"}, {"protocol.http.allow", "always"},
		{"protocol.ssh.allow", "always"}, {"protocol.file.allow", "always"}, {"credential.helper", ""},
	}
	if host := httpOrigin(c.url); c.token != "" && host != "" {
		basic := base64.StdEncoding.EncodeToString([]byte("x-access-token:" + c.token))
		config = append(config, [2]string{"http." + host + ".extraHeader", "Authorization: Basic " + basic})
	}
	config = append(config, c.config...)
	env = append(env, "GIT_CONFIG_COUNT="+strconv.Itoa(len(config)))
	for i, kv := range config {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, kv[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, kv[1]))
	}
	return env
}

// sshCommand never asks; an operator's own key and known hosts are found by ssh itself.
func sshCommand() string {
	return "ssh -o BatchMode=yes -o StrictHostKeyChecking=yes -o ConnectTimeout=20"
}

func httpOrigin(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return ""
	}
	return u.Scheme + "://" + u.Host + "/"
}

func (c command) cleanse(s string) string {
	if c.token == "" {
		return s
	}
	basic := base64.StdEncoding.EncodeToString([]byte("x-access-token:" + c.token))
	return strings.NewReplacer(c.token, "***", basic, "***").Replace(s)
}

// bounded keeps the first maxOutput bytes and swallows the rest.
type bounded struct{ buf bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if room := maxOutput - b.buf.Len(); room > 0 {
		b.buf.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

func (b *bounded) String() string { return b.buf.String() }

// lastWords answers the end of git's complaint, without progress lines.
func lastWords(s string) string {
	var keep []string
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" && !strings.Contains(line, "\r") {
			keep = append(keep, line)
		}
	}
	if len(keep) > 5 {
		keep = keep[len(keep)-5:]
	}
	return strings.Join(keep, " ")
}
