package catalog

import (
	"slices"
	"time"
)

// Listing says what a listing stands for.
type Listing struct {
	Default  bool // of the default branch: it says which tests the project has, and where
	Complete bool // it covers every file, so that tests that are not in it are gone
}

// Sync brings what is known of a project's tests up to a new listing. It answers the
// tests to save (new and changed ones only) and, for each listed test, its ID. newID
// makes identifiers. A listing of another branch than the default one changes no test
// that is known; what is new on that branch is known from then on, and not listed until
// the default branch has it, unless nothing is listed yet.
func Sync(projectID string, known []Test, listed []Listed, renames map[string]string, what Listing, now time.Time, newID func() string) (save []Test, ids []string) {
	of := Identify(known, listed, renames)
	ids = make([]string, len(listed))
	seen := make([]bool, len(known))
	follow := what.Default || !slices.ContainsFunc(known, func(t Test) bool { return t.Present })
	for i, l := range listed {
		if of[i] < 0 {
			t := update(Test{ID: newID(), ProjectID: projectID, FirstSeen: now}, l, now)
			t.Present = follow
			ids[i], save = t.ID, append(save, t)
			continue
		}
		t := known[of[i]]
		ids[i], seen[of[i]] = t.ID, true
		switch {
		case follow && changed(t, l, now):
			save = append(save, update(t, l, now))
		case !follow && !slices.Contains(t.Places, Place(l.File, l.TitlePath)):
			save = append(save, placed(t, l))
		}
	}
	if what.Default && what.Complete {
		for i, t := range known {
			if !seen[i] && t.Present {
				t.Present = false
				save = append(save, t)
			}
		}
	}
	return save, ids
}

// seenAgainAfter spares a write for every test of every run.
const seenAgainAfter = time.Hour

func changed(t Test, l Listed, now time.Time) bool {
	return !t.Present || t.File != l.File || t.BodyHash != l.BodyHash || t.Line != l.Line || t.Owner != l.Owner ||
		!slices.Equal(t.TitlePath, l.TitlePath) || !slices.Equal(t.Tags, l.Tags) || !slices.Equal(t.Browsers, l.Browsers) ||
		now.Sub(t.LastSeen) > seenAgainAfter
}

func update(t Test, l Listed, now time.Time) Test {
	t.File, t.TitlePath, t.BodyHash, t.Line = l.File, l.TitlePath, l.BodyHash, l.Line
	t.Tags, t.Owner, t.Browsers, t.Present, t.LastSeen = l.Tags, l.Owner, l.Browsers, true, now
	return placed(t, l)
}

// placed remembers where a test was listed.
func placed(t Test, l Listed) Test {
	if p := Place(l.File, l.TitlePath); !slices.Contains(t.Places, p) {
		t.Places = append(slices.Clone(t.Places), p)
	}
	return t
}
