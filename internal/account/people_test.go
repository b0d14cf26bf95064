package account_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"tas-service/internal/account"
	"tas-service/internal/fault"
)

func TestPasswords(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h := account.NewHasher(2)
	one, err := h.Hash(ctx, "correct horse battery")
	if err != nil {
		t.Fatal(err)
	}
	two, err := h.Hash(ctx, "correct horse battery")
	if err != nil || one == two || !strings.HasPrefix(one, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Errorf("%q %q %v", one, two, err)
	}
	for name, c := range map[string]struct {
		password, hash string
		fits           bool
	}{
		"right": {"correct horse battery", one, true}, "wrong": {"correct horse batterz", one, false}, "nobody": {"", "", false},
		// Stored by another program, with other costs.
		"smaller costs": {"password", "$argon2id$v=19$m=64,t=1,p=1$c29tZXNhbHRzb21lc2FsdA$" + strings.Repeat("A", 43), false},
	} {
		if fits, err := h.Fits(ctx, c.password, c.hash); err != nil || fits != c.fits {
			t.Errorf("%s: %v, %v", name, fits, err)
		}
	}
	for _, hash := range []string{"x", "$argon2i$v=19$m=64,t=1,p=1$AAAA$AAAA", "$argon2id$v=19$m=4294967295,t=1,p=1$AAAA$" + strings.Repeat("A", 43), "$argon2id$v=19$m=64,t=0,p=1$AAAA$" + strings.Repeat("A", 43)} {
		if fits, err := h.Fits(ctx, "x", hash); err == nil || fits {
			t.Errorf("%q: %v, %v", hash, fits, err)
		}
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	full := account.NewHasher(1)
	var wait sync.WaitGroup
	for range 4 { // more than there is room for, and one of them not willing to wait
		wait.Go(func() {
			if _, err := full.Hash(ctx, "x"); err != nil {
				t.Error(err)
			}
			if _, err := full.Hash(gone, "x"); err != nil && fault.KindOf(err) != fault.Unavailable {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	for password, ok := range map[string]bool{"correct horse battery": true, "short": false, "aaaaaaaaaaaaaa": false, "ada.lovelace@example.com": false, strings.Repeat("ab", 101): false, "éééééééééééé": false, "pässwörter sind gut": true, "": false} {
		if err := account.CheckPassword(password, "Ada.Lovelace@example.com"); (err == nil) != ok {
			t.Errorf("%q: %v", password, err)
		}
	}
}

func TestTries(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	p := &account.People{Tries: account.NewTries(func() time.Time { return now }), Clock: func() time.Time { return now }, Hasher: account.NewHasher(1), Records: nobodyHere{}}
	try := func(email, address string) error {
		_, err := p.SignIn(context.Background(), email, "x", account.Client{Address: address})
		return err
	}
	for range 50 {
		try("", "10.0.0.1")
	}
	if err := try("ada@example.com", "10.0.0.1"); fault.KindOf(err) != fault.RateLimited {
		t.Errorf("from one address: %v", err)
	}
	// That did not use up her own tries.
	for i := range 10 {
		if err := try("ada@example.com", "10.0.0.2"); fault.KindOf(err) != fault.Unauthenticated {
			t.Errorf("try %d: %v", i, err)
		}
	}
	if err := try("ada@example.com", "10.0.0.2"); fault.KindOf(err) != fault.RateLimited {
		t.Errorf("as one person: %v", err)
	}
}

// nobodyHere is the records of nobody.
type nobodyHere struct{ account.Records }

func (nobodyHere) PersonByEmail(context.Context, string) (account.Person, string, error) {
	return account.Person{}, "", fault.New(fault.NotFound, "nobody")
}

func TestRoles(t *testing.T) {
	t.Parallel()
	v := account.Viewer{Projects: []account.Membership{{ProjectID: "p", Role: account.RoleMember}, {ProjectID: "q", Role: "owner"}}}
	if a, err := v.In("p"); err != nil || a.MayAs(account.RoleMember, "p", "run") != nil || fault.KindOf(a.MayAs(account.RoleAdministrator, "p", "run")) != fault.Forbidden {
		t.Errorf("%+v, %v", a, err)
	}
	for _, id := range []string{"q", "", "other"} {
		if _, err := v.In(id); fault.KindOf(err) != fault.NotFound {
			t.Errorf("in %q: %v", id, err)
		}
	}
	key := account.Actor{ProjectID: "p", Via: account.ViaKey}
	if key.MayAs(account.RoleMember, "p", "run") != nil || fault.KindOf(key.MayAs(account.RoleAdministrator, "p", "run")) != fault.Forbidden {
		t.Error("an API key is a member")
	}
}
