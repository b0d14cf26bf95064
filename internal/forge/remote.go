package forge

import (
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"tas-service/internal/fault"
)

// scpLike is how ssh writes an address: [user@]host:path, without a scheme.
var scpLike = regexp.MustCompile(`^(?:[A-Za-z0-9._-]+@)?([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\]):([^/].*|/[^/].*)$`)

// hostName is a host with its port: a name, or an address as URLs write it.
var hostName = regexp.MustCompile(`^(?:[a-z0-9][a-z0-9.-]*|\[[0-9a-f:.]*[0-9a-f][0-9a-f:.]*\])(?::[0-9]{1,5})?$`)

// ParseRemote takes a clone address apart: base is the address of the forge ("https://host",
// with the port of an HTTP address; an ssh port says nothing of it), repo the path of the
// repository without ".git" ("owner/repo", at GitLab with all its groups). For a forge that
// is installed below a path, base is an address that it was told, see Below. Errors:
// fault.Invalid for what does not lead to a forge.
func ParseRemote(raw string) (base, repo string, err error) {
	bad := func(why string) error {
		return fault.New(fault.Invalid, "The clone address does not lead to a repository of a forge: %s.", why).
			WithFix("Write it as https://host/owner/repository.git or git@host:owner/repository.git.")
	}
	if strings.ContainsAny(raw, "\x00\r\n\t\\") || len(raw) > 2000 {
		return "", "", bad("it has characters that no address has, or is too long")
	}
	var host, path, scheme string
	switch u, uerr := url.Parse(raw); {
	case strings.Contains(raw, "://") && uerr != nil:
		return "", "", bad("it cannot be read")
	case strings.Contains(raw, "://"):
		if u.RawQuery != "" || u.Fragment != "" || u.Opaque != "" {
			return "", "", bad("it has a query or a fragment")
		}
		path = u.Path
		switch strings.ToLower(u.Scheme) {
		case "https", "http":
			scheme, host = strings.ToLower(u.Scheme), u.Host
		case "ssh", "git+ssh", "ssh+git":
			scheme, host = "https", u.Hostname()
			if strings.Contains(host, ":") {
				host = "[" + host + "]"
			}
		default:
			return "", "", bad("only https, http and ssh lead to one")
		}
	default:
		m := scpLike.FindStringSubmatch(raw)
		if m == nil {
			return "", "", bad("it is a path of a machine, or no address")
		}
		scheme, host, path = "https", m[1], m[2]
	}
	host = strings.ToLower(host)
	if scheme == "https" {
		host = strings.TrimSuffix(host, ":443")
	} else {
		host = strings.TrimSuffix(host, ":80")
	}
	switch host { // where ssh answers on the port of HTTPS
	case "ssh.github.com":
		host = "github.com"
	case "altssh.gitlab.com":
		host = "gitlab.com"
	}
	if _, err := url.Parse("https://" + host); err != nil || !hostName.MatchString(host) {
		return "", "", bad("it names no host")
	}
	repo = strings.TrimSuffix(strings.Trim(path, "/"), ".git")
	if err := CheckRepo(repo); err != nil {
		return "", "", bad("its path is not owner/repository")
	}
	return scheme + "://" + host, repo, nil
}

// Below answers the path of a repository at a forge whose base address is known, of a repo
// as ParseRemote answered it: a forge may be installed below a path, which ssh addresses
// leave out and HTTP addresses have.
func Below(base, repo string) string {
	u, err := url.Parse(base)
	if err != nil {
		return repo
	}
	if rest, ok := strings.CutPrefix(repo, strings.Trim(u.Path, "/")+"/"); ok && strings.Contains(rest, "/") {
		return rest
	}
	return repo
}

// CheckRepo says what is wrong with a repository's name; nil where it is "owner/repo",
// with groups between them at most.
func CheckRepo(repo string) error {
	parts := strings.Split(repo, "/")
	bad := len(parts) < 2 || len(repo) > 1000 || !utf8.ValidString(repo) || strings.ContainsFunc(repo, unicode.IsControl)
	for _, p := range parts {
		bad = bad || p == "" || p == "." || p == ".." || strings.ContainsAny(p, " ?#%\\:@\"<>")
	}
	if bad {
		return fault.New(fault.Invalid, "%.100q is no name of a repository.", repo).WithFix("Write it as owner/repository.")
	}
	return nil
}

// KindOfHost answers the kind of a forge that everybody knows, of its base address or its
// host name; "" for others.
func KindOfHost(base string) Kind {
	host := strings.ToLower(base)
	if i := strings.Index(host, "://"); i >= 0 {
		host = host[i+3:]
	}
	host, _, _ = strings.Cut(host, "/")
	switch host {
	case "github.com", "www.github.com", "api.github.com":
		return GitHub
	case "gitlab.com", "www.gitlab.com":
		return GitLab
	case "codeberg.org", "gitea.com":
		return Gitea
	default:
		return ""
	}
}
