package git

import (
	"cmp"
	"context"
	"path"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"tas-service/internal/checkout"
	"tas-service/internal/fault"
)

var _ checkout.Reads = (*Mirrors)(nil)

// reading holds the mirror's lock for what follows, with the commit in it, for as long as git may
// take to read.
func (m *Mirrors) reading(ctx context.Context, src checkout.Source) (context.Context, command, func(), error) {
	if !isHash(src.Commit) {
		return ctx, command{}, nil, fault.New(fault.Internal, "%.80q is no commit to read", src.Commit)
	}
	git, done, err := m.writing(ctx, src)
	if err != nil {
		return ctx, command{}, nil, err
	}
	if !git.has(ctx, src.Commit) {
		if _, _, err := m.fetch(ctx, src); err != nil {
			done()
			return ctx, command{}, nil, err
		}
	}
	git.env = append(git.env, "GIT_LITERAL_PATHSPECS=1") // a path is a path, whatever signs it begins with
	ctx, cancel := context.WithTimeout(ctx, localTimeout)
	return ctx, git, func() { cancel(); done() }, nil
}

// inside answers a path as git has it; fault.Invalid for one that is none, or leads elsewhere.
func inside(name string) (string, error) {
	bad := fault.New(fault.Invalid, "%.200q is no path inside of the repository.", name).WithFix("Write it from the root of the repository, such as tests/pages/cart.ts.")
	clean := strings.TrimSuffix(name, "/")
	if name == "" || clean == "." {
		return "", nil
	}
	if clean == "" || path.Clean(clean) != clean || path.IsAbs(clean) || !utf8.ValidString(clean) || len(clean) > 1000 || strings.ContainsFunc(clean, func(r rune) bool { return unicode.IsControl(r) || r == '\\' }) {
		return "", bad
	}
	for part := range strings.SplitSeq(clean, "/") {
		if part == ".." || strings.EqualFold(part, ".git") {
			return "", bad
		}
	}
	return clean, nil
}

// entry is one line of ls-tree.
type entry struct {
	mode, object string
	size         int64
	path         string
}

func (e entry) regular() bool { return e.mode == "100644" || e.mode == "100755" }

// entries lists a commit: what is at a path, or with deep what is below it.
func (c command) entries(ctx context.Context, commit, at string, deep bool) (out []entry, err error) {
	args := []string{"ls-tree", "-z", "-l", "--full-tree"}
	if deep {
		args = append(args, "-r")
	}
	args = append(args, "--end-of-options", commit)
	if at != "" {
		args = append(args, "--", at)
	}
	text, err := c.run(ctx, args...)
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "The commit %.10s cannot be read: %s", commit, saidBy(err))
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\x00"), "\x00") {
		head, name, ok := strings.Cut(line, "\t")
		if f := strings.Fields(head); ok && len(f) == 4 {
			size, _ := strconv.ParseInt(f[3], 10, 64) //nolint:errcheck // "-" of what is no file
			out = append(out, entry{f[0], f[2], size, name})
		}
	}
	return out, nil
}

// Files lists the commit's tree.
func (m *Mirrors) Files(ctx context.Context, src checkout.Source, dir string) (all []checkout.File, more bool, err error) {
	if dir, err = inside(dir); err != nil {
		return nil, false, err
	}
	ctx, git, done, err := m.reading(ctx, src)
	if err != nil {
		return nil, false, err
	}
	defer done()
	found, err := git.entries(ctx, src.Commit, dir, true)
	if err != nil {
		return nil, false, err
	}
	for _, e := range found {
		switch {
		case !e.regular():
		case len(all) == checkout.MaxListed:
			return all, true, nil
		default:
			all = append(all, checkout.File{Path: e.path, Size: e.size})
		}
	}
	if len(all) == 0 && dir != "" {
		return nil, false, fault.New(fault.NotFound, "There are no files in %.200q.", dir).WithFix("List the folder above it.")
	}
	return all, false, nil
}

// Text reads the object itself, so no filter and no attribute of the repository has a say.
func (m *Mirrors) Text(ctx context.Context, src checkout.Source, name string) (string, error) {
	at, err := inside(name)
	if err != nil {
		return "", err
	}
	ctx, git, done, err := m.reading(ctx, src)
	if err != nil {
		return "", err
	}
	defer done()
	found, err := git.entries(ctx, src.Commit, cmp.Or(at, "."), false)
	if err != nil {
		return "", err
	}
	switch {
	case len(found) != 1 || found[0].path != at || !found[0].regular():
		return "", fault.New(fault.NotFound, "There is no file %.200q.", at).WithFix("List the folder that it is in.")
	case found[0].size > checkout.MaxFile:
		return "", fault.New(fault.Invalid, "%.200q is larger than %d KiB.", at, checkout.MaxFile>>10)
	}
	text, err := git.run(ctx, "cat-file", "blob", "--end-of-options", found[0].object)
	if err != nil {
		return "", fault.Wrap(err, fault.Unavailable, "The file cannot be read: %s", saidBy(err))
	}
	if strings.Contains(text, "\x00") || !utf8.ValidString(text) {
		return "", fault.New(fault.Invalid, "%.200q is not text in UTF-8.", at)
	}
	return text, nil
}

// Search has git look, which passes over what is not text.
func (m *Mirrors) Search(ctx context.Context, src checkout.Source, dir, text string) (all []checkout.Place, more bool, err error) {
	if dir, err = inside(dir); err != nil {
		return nil, false, err
	}
	if text == "" || len(text) > checkout.MaxSought || !utf8.ValidString(text) || strings.ContainsAny(text, "\n\r\x00") {
		return nil, false, fault.New(fault.Invalid, "What is searched for is one line of 1 to %d bytes.", checkout.MaxSought)
	}
	ctx, git, done, err := m.reading(ctx, src)
	if err != nil {
		return nil, false, err
	}
	defer done()
	args := []string{"grep", "-z", "-n", "-I", "-F", "--full-name", "--no-color", "--no-textconv", "--no-recurse-submodules", "-e", text, src.Commit, "--"}
	if dir != "" {
		args = append(args, dir)
	}
	out, said, status, err := git.try(ctx, args...)
	if err != nil || status > 1 {
		return nil, false, fault.Wrap(err, fault.Unavailable, "The commit %.10s cannot be searched: %s", src.Commit, said)
	}
	for line := range strings.Lines(out) {
		// commit:path, the line's number, the line; a path may have colons in it.
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), "\x00", 3)
		if len(f) != 3 {
			continue // a path with a line break
		}
		n, err := strconv.Atoi(f[1])
		name, ok := strings.CutPrefix(f[0], src.Commit+":")
		switch {
		case err != nil || !ok || !utf8.ValidString(f[2]):
		case len(all) == checkout.MaxListed:
			return all, true, nil
		default:
			all = append(all, checkout.Place{Path: name, Line: n, Text: f[2]})
		}
	}
	return all, false, nil
}
