package run

import "testing"

// TestScope never has a verdict on some tests speak for all of them.
func TestScope(t *testing.T) {
	t.Parallel()
	for want, all := range map[string][]Selection{
		"":             {{Kind: SelectSuite}, {Kind: SelectGrep, Grep: "."}, {Kind: SelectGrep, Grep: ".*"}},
		"selected":     {{Kind: SelectGrep, Grep: "cart"}, {Kind: SelectGrep, Grep: "..."}, {Kind: SelectGrep}, {Kind: SelectTests, TestIDs: []string{"a"}}, {}},
		"collection/c": {{Kind: SelectCollection, CollectionID: "c"}},
	} {
		for _, s := range all {
			if got := s.Scope(); got != want {
				t.Errorf("%+v speaks for %q, want %q", s, got, want)
			}
		}
	}
}
