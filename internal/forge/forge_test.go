package forge

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"tas-service/internal/fault"
)

func TestParseRemote(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string][2]string{
		"https://github.com/shop/tests.git":             {"https://github.com", "shop/tests"},
		"https://github.com/shop/tests/":                {"https://github.com", "shop/tests"},
		"https://token@github.com/shop/tests":           {"https://github.com", "shop/tests"},
		"HTTPS://GitHub.com:443/Shop/Tests.git":         {"https://github.com", "Shop/Tests"},
		"git@github.com:shop/tests.git":                 {"https://github.com", "shop/tests"},
		"github.com:shop/tests":                         {"https://github.com", "shop/tests"},
		"git@gitlab.com:group/sub/deep/tests.git":       {"https://gitlab.com", "group/sub/deep/tests"},
		"ssh://git@git.example.com:2222/shop/tests.git": {"https://git.example.com", "shop/tests"},
		"ssh://git@ssh.github.com:443/shop/tests.git":   {"https://github.com", "shop/tests"},
		"ssh://git@[2001:db8::1]:2222/shop/tests":       {"https://[2001:db8::1]", "shop/tests"},
		"git@host.example:/srv/git/tests.git":           {"https://host.example", "srv/git/tests"},
		"http://localhost:3000/shop/tests":              {"http://localhost:3000", "shop/tests"},
		"https://example.com/git/shop/tests.git":        {"https://example.com", "git/shop/tests"},
		"":                                              {}, "/srv/git/tests.git": {}, "../tests": {}, "file:///srv/tests": {}, "ext::sh -c x": {}, "https://github.com": {}, "https://github.com/shop": {}, "git@github.com:tests": {},
		"https://github.com/shop/tests?x=1": {}, "https://github.com/../../x": {}, "https:///shop/tests": {}, "https://gi thub.com/a/b": {}, "git@-oProxyCommand=x:a/b": {}, "C:\\repos\\tests": {}, "https://x/a/b#c": {}, "https://x/a//b": {},
	} {
		base, repo, err := ParseRemote(raw)
		if got := [2]string{base, repo}; got != want || (err == nil) != (want != [2]string{}) || err != nil && fault.KindOf(err) != fault.Invalid {
			t.Errorf("%q: %q, %v; want %q", raw, got, err, want)
		}
	}
	if got := Below("https://example.com/git/", "git/shop/tests"); got != "shop/tests" {
		t.Error(got)
	}
	for _, repo := range []string{"shop/tests", "git/tests", "gitea/shop/tests"} {
		if got := Below("https://example.com/git", repo); got != repo {
			t.Errorf("%s became %s", repo, got)
		}
	}
	for host, want := range map[string]Kind{"https://github.com": GitHub, "GitLab.com": GitLab, "https://codeberg.org/x": Gitea, "gitea.com": Gitea, "github.com.evil.example": "", "https://evil.example/github.com": "", "": ""} {
		if got := KindOfHost(host); got != want {
			t.Errorf("%s: %s", host, got)
		}
	}
}

func FuzzParseRemote(f *testing.F) {
	for _, s := range []string{"https://github.com/a/b.git", "git@x:a/b", "ssh://git@[::1]:22/a/b", "https://u:p@h/a/b", "x:y/z", "https://%41/a/b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		base, repo, err := ParseRemote(raw)
		if err != nil {
			if base != "" || repo != "" {
				t.Errorf("%q: %q %q beside an error", raw, base, repo)
			}
			return
		}
		if CheckRepo(repo) != nil || strings.Contains(base, "@") || strings.HasSuffix(base, "/") {
			t.Errorf("%q: %q %q", raw, base, repo)
		}
		again, repo2, err := ParseRemote(base + "/" + repo)
		if err != nil || again != base || repo2 != strings.TrimSuffix(repo, ".git") {
			t.Errorf("%q: %q %q, and from these %q %q %v", raw, base, repo, again, repo2, err)
		}
	})
}

func TestExplain(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		status int
		header http.Header
		said   string
		kind   fault.Kind
		after  time.Duration
	}{
		{301, nil, "", fault.Invalid, 0}, {400, nil, "", fault.Invalid, 0}, {401, nil, "", fault.Unauthenticated, 0}, {403, nil, "no", fault.Forbidden, 0}, {404, nil, "", fault.NotFound, 0}, {410, nil, "", fault.NotFound, 0},
		{409, nil, "", fault.Conflict, 0}, {422, nil, "", fault.Invalid, 0}, {422, nil, "A pull request already exists for a:b.", fault.Conflict, 0}, {408, nil, "", fault.Unavailable, 0}, {500, nil, "", fault.Unavailable, 0}, {599, nil, "", fault.Unavailable, 0},
		{429, http.Header{"Retry-After": {"5"}}, "", fault.RateLimited, 5 * time.Second}, {429, http.Header{"Retry-After": {"-5"}}, "", fault.RateLimited, time.Second}, {429, http.Header{"Retry-After": {"99999999"}}, "", fault.RateLimited, time.Hour},
		{429, http.Header{"Retry-After": {"Sat, 21 Nov 2026 09:02:00 GMT"}}, "", fault.RateLimited, 2 * time.Minute}, {429, http.Header{"Retry-After": {"soon"}}, "", fault.RateLimited, time.Minute},
		{403, http.Header{"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {"1795252200"}}, "", fault.RateLimited, 10 * time.Minute}, {403, nil, "You have exceeded a secondary rate limit", fault.RateLimited, time.Minute},
		{503, http.Header{"Retry-After": {"3"}}, "", fault.Unavailable, 3 * time.Second},
	} {
		e := Explain(GitHub, c.status, c.header.Get, c.said, now)
		if e.Kind != c.kind || e.RetryAfter != c.after || !strings.HasSuffix(e.Message, ".") || strings.Contains(e.Message, "..") {
			t.Errorf("%+v: %s %s %q", c, e.Kind, e.RetryAfter, e.Message)
		}
	}
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	const mac = "f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8" // of the fox, by RFC-minded people
	fox := []byte("The quick brown fox jumps over the lazy dog")
	if !Signed(fox, "key", mac) || Signed(fox, "", mac) || Signed(fox, "kez", mac) || Signed(fox, "key", mac[:62]) || Signed(fox, "key", "") || Signed(fox, "key", "zz") {
		t.Error("signatures")
	}
	if !SameSecret("a", "a") || SameSecret("", "") || SameSecret("a", "ab") || SameSecret("a", "") {
		t.Error("secrets")
	}
	if (User{ID: "1", Login: "a"}).Is(User{ID: "2", Login: "a"}) || !(User{ID: "1"}).Is(User{ID: "1", Login: "x"}) || !(User{Login: "A"}).Is(User{ID: "1", Login: "a"}) || (User{}).Is(User{}) {
		t.Error("somebody is somebody else")
	}
}
