package forgetest

import (
	"strings"
)

// changed is one file as git tells it.
type changed struct {
	letter    string // A, M, D or R
	path, old string
}

// span answers what a pull request compares.
func (d *Double) span(h *hosted, p *pull) (from, to string) {
	out := d.run(nil, h.dir, "merge-base", p.baseSHA, p.headSHA)
	return strings.TrimSpace(out), p.headSHA
}

func (d *Double) diff(h *hosted, p *pull) string {
	from, to := d.span(h, p)
	return d.run(nil, h.dir, "diff", "--find-renames", "--no-color", from, to)
}

func (d *Double) changes(h *hosted, p *pull) []changed {
	from, to := d.span(h, p)
	out := d.run(nil, h.dir, "diff", "--find-renames", "--name-status", "-z", from, to)
	var all []changed
	for f := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00"); len(f) >= 2; {
		x := changed{letter: f[0][:1], path: f[1]}
		f = f[2:]
		if x.letter == "R" {
			x.old, x.path, f = x.path, f[0], f[1:]
		}
		all = append(all, x)
	}
	return all
}

// empty reports whether a head has nothing that its base has not.
func (d *Double) empty(h, from *hosted, head, base string) bool {
	to := from.commit(head)
	if from != h {
		d.run(nil, h.dir, "fetch", "--quiet", from.dir, to)
	}
	out := d.run(nil, h.dir, "rev-list", "--count", h.commit(base)+".."+to)
	return strings.TrimSpace(out) == "0"
}
