package catalog

import (
	"slices"
	"time"
)

// Sync brings what is known of a project's tests up to a new listing. It answers the
// tests to save (new and changed ones only) and, for each listed test, its ID. newID
// makes identifiers; complete says that the listing covers every file, so that tests
// that are not in it are no longer present.
func Sync(projectID string, known []Test, listed []Listed, renames map[string]string, complete bool, now time.Time, newID func() string) (save []Test, ids []string) {
	of := Identify(known, listed, renames)
	ids = make([]string, len(listed))
	seen := make([]bool, len(known))
	for i, l := range listed {
		t := Test{ID: "", ProjectID: projectID, FirstSeen: now}
		if of[i] >= 0 {
			t = known[of[i]]
			seen[of[i]] = true
		} else {
			t.ID = newID()
		}
		ids[i] = t.ID
		if of[i] < 0 || changed(t, l, now) {
			save = append(save, update(t, l, now))
		}
	}
	if complete {
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
	if p := Place(l.File, l.TitlePath); !slices.Contains(t.Places, p) {
		t.Places = append(slices.Clone(t.Places), p)
	}
	return t
}
