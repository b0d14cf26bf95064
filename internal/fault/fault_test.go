package fault

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestKinds(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range Kinds() {
		if slug := k.String(); seen[slug] || slugs[k] == "" {
			t.Errorf("kind %d has the slug %q", k, slug)
		} else {
			seen[slug] = true
		}
		err := fmt.Errorf("around: %w", New(k, "it broke"))
		if KindOf(err) != k || As(err) == nil {
			t.Errorf("%s is %s when it is wrapped", k, KindOf(err))
		}
	}
	if len(seen) != len(slugs) {
		t.Errorf("%d kinds are listed, %d have slugs", len(seen), len(slugs))
	}
	// What is unknown is ours: it is never shown, and may be tried again.
	for _, err := range []error{nil, errors.New("x"), Kind(99).err()} {
		if KindOf(err) == NotFound || Permanent(err) && err != nil && As(err) == nil {
			t.Errorf("%v is %s", err, KindOf(err))
		}
	}
	for kind, permanent := range map[Kind]bool{Internal: false, Unavailable: false, RateLimited: false, Invalid: true, NotFound: true, External: true, Superseded: true, Conflict: true} {
		if Permanent(New(kind, "")) != permanent {
			t.Errorf("%s is permanent: %v", kind, !permanent)
		}
	}
}

func (k Kind) err() error { return New(k, "x") }

func TestCauseStaysInside(t *testing.T) {
	e := Wrap(errors.New("password is hunter2"), External, "The clone failed.").WithFix("Check %s.", "it").WithCode("c").At("body.x", "bad %d", 1)
	if strings.Contains(e.Public(), "hunter2") || e.Public() != "The clone failed. Check it." {
		t.Errorf("public: %q", e.Public())
	}
	if !strings.Contains(e.Error(), "hunter2") || e.Code != "c" || len(e.Details) != 1 || e.Details[0].Message != "bad 1" {
		t.Errorf("error: %+v", e)
	}
}
