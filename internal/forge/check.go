package forge

import (
	"regexp"
	"strconv"
	"strings"

	"tas-service/internal/fault"
)

// IsFrom reports whether a pull request is from a branch of a repository into a base, as
// FindOpen must compare. Forges do not mind the case of a repository's name, git minds that
// of a branch's.
func (p PullRequest) IsFrom(head Ref, base string) bool {
	return p.State == Open && p.Head.Branch == head.Branch && p.Base.Branch == base && p.Head.Repo != "" && strings.EqualFold(p.Head.Repo, head.Repo)
}

// CheckDiff says whether an answer is a raw diff: some forges answer another thing with a
// status that says that all is well.
func CheckDiff(k Kind, diff string) error {
	switch {
	case len(diff) > MaxDiff:
		return tooLarge()
	case diff != "" && !strings.HasPrefix(diff, "diff --git"):
		return fault.New(fault.Unavailable, "%s answered something else than a diff.", k.name()).WithFix("Check that its address leads to the forge's own API.")
	}
	return nil
}

func tooLarge() error {
	return fault.New(fault.Invalid, "The diff is larger than %d bytes.", MaxDiff).WithCode("diff-too-large").WithFix("Split the pull request.")
}

// DiffError answers the error of a diff's request: one whose answer was too large is
// Invalid, as Forge promises.
func DiffError(err error) error {
	if fault.KindOf(err) == fault.TooLarge {
		return tooLarge()
	}
	return err
}

// CommentNumber reads a comment's ID of a forge that counts them.
func CommentNumber(id string) (int64, error) {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil || n <= 0 {
		return 0, fault.New(fault.NotFound, "%.40q is no comment's ID of this forge.", id)
	}
	return n, nil
}

var fullHash = regexp.MustCompile(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)

// CheckStatus says what is wrong with a status; nil for nothing.
func CheckStatus(commit string, s Status) error {
	switch {
	case !fullHash.MatchString(commit):
		return fault.New(fault.Invalid, "%.80q is no full commit hash.", commit)
	case s.Context == "" || len(s.Context) > 200 || strings.ContainsAny(s.Context, "\r\n"):
		return fault.New(fault.Invalid, "A status needs a context of at most 200 characters.")
	case s.State != Pending && s.State != Success && s.State != Failure && s.State != Broken:
		return fault.New(fault.Invalid, "%.40q is no state of a status.", s.State)
	}
	return nil
}

// Line answers one line of at most so many characters.
func Line(s string, most int) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// CheckBody says what is wrong with a comment; nil for nothing.
func CheckBody(k Kind, body string) error {
	if strings.TrimSpace(body) == "" {
		return fault.New(fault.Invalid, "A comment says something.")
	}
	if n := len([]rune(body)); n > MaxBody(k) {
		return fault.New(fault.Invalid, "The text has %d characters, more than the %d that the forge takes.", n, MaxBody(k))
	}
	return nil
}
