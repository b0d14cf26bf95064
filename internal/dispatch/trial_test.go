package dispatch

import (
	"strings"
	"testing"

	"tas-service/internal/attempt"
	"tas-service/internal/fault"
)

// TestEditedIsBounded refuses what no trial can have made.
func TestEditedIsBounded(t *testing.T) {
	long := strings.Repeat("x", maxEditText+1)
	for name, e := range map[string]attempt.Edited{
		"edits": {Edits: make([]attempt.EditDone, maxEdits+1)}, "offences": {Offences: make([]attempt.Offence, maxEdits+1)}, "patch": {Patch: strings.Repeat("x", maxEditPatch+1)},
		"file": {Edits: []attempt.EditDone{{File: long}}}, "before": {Edits: []attempt.EditDone{{}, {Before: long}}}, "why": {Edits: []attempt.EditDone{{Why: long}}},
		"message": {Offences: []attempt.Offence{{Message: long}}},
	} {
		if err := checkEdited(e); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	fits := attempt.Edited{Edits: make([]attempt.EditDone, maxEdits), Patch: strings.Repeat("x", maxEditPatch)}
	fits.Edits[7].After = long[1:]
	if err := checkEdited(fits); err != nil {
		t.Error(err)
	}
}
