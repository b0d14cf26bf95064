// Package run is the centre: a Run, the results of its tests, its states and its
// verdict.
//
// States (docs/run-states.md has the picture; TestArrows holds it to the code):
//
//	queued → preparing → running → merging → passed | healed | failed | process-error | cancelled
//
// and process-error or cancelled from every state that is not final. A run is
// terminal exactly when its phase is final, and only then has it a verdict.
package run
