package storetest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"tas-service/internal/account"
	"tas-service/internal/fault"
	"tas-service/internal/project"
	"tas-service/internal/store"
)

func somebody(email string, administrator bool) account.Person {
	return account.Person{ID: uuid.NewString(), Email: email, Name: "N " + email, Administrator: administrator, CreatedAt: time.Now()}
}

// links are used once, by whoever is first.
func links(t *testing.T, db, other *store.DB) {
	ctx, now := context.Background(), time.Now()
	p, _, err := db.CreateProject(ctx, project.Project{Name: "Case"})
	must(t, err)
	link := func(l account.Link) string {
		_, hash := account.NewToken()
		l.ID, l.TokenHash, l.CreatedAt, l.ExpiresAt = uuid.NewString(), hash, now, now.Add(time.Hour)
		must(t, db.AddLink(ctx, l))
		return hash
	}
	// Everybody at once, through two links and two services: one becomes the first.
	race := func(hashes ...string) (joined []account.Person) {
		var wait sync.WaitGroup
		var mu sync.Mutex
		for i := range 12 {
			wait.Go(func() {
				who := somebody(fmt.Sprintf("%s@example.com", uuid.NewString()), false)
				err := []*store.DB{db, other}[i%2].UseLink(ctx, hashes[i/2%len(hashes)], now, func(account.Link) (account.Join, error) {
					return account.Join{Person: who, New: true, Password: "x"}, nil
				})
				switch fault.KindOf(err) {
				case fault.NotFound:
				default:
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					joined = append(joined, who)
					mu.Unlock()
				}
			})
		}
		wait.Wait()
		return joined
	}
	one, two := link(account.Link{Kind: account.LinkFirst}), link(account.Link{Kind: account.LinkFirst})
	first := race(one, two)
	if len(first) != 1 {
		t.Fatalf("%d became the first administrator", len(first))
	}
	if who, err := other.Person(ctx, first[0].ID); err != nil || !who.Administrator {
		t.Errorf("%+v, %v", who, err)
	}
	if _, err := db.LinkByToken(ctx, two, now); fault.KindOf(err) != fault.NotFound {
		t.Errorf("the other link of the first administrator is open: %v", err)
	}
	invitation := link(account.Link{Kind: account.LinkMember, ProjectID: p.ID, Role: account.RoleMember})
	if joined := race(invitation); len(joined) != 1 {
		t.Errorf("%d used one invitation", len(joined))
	}
	if ms, err := db.Members(ctx, p.ID); err != nil || len(ms) != 1 || ms[0].Role != account.RoleMember {
		t.Errorf("members: %+v, %v", ms, err)
	}
	// A smaller role takes nothing away, a larger one is given.
	for _, c := range []struct{ give, has account.Role }{{account.RoleAdministrator, account.RoleAdministrator}, {account.RoleViewer, account.RoleAdministrator}} {
		must(t, db.UseLink(ctx, link(account.Link{Kind: account.LinkMember, ProjectID: p.ID, Role: c.give}), now, func(account.Link) (account.Join, error) {
			return account.Join{Person: first[0]}, nil
		}))
		if ms, err := db.Memberships(ctx, first[0].ID); err != nil || len(ms) != 1 || ms[0].Role != c.has {
			t.Errorf("%s gives %+v, %v", c.give, ms, err)
		}
	}
	// What is refused leaves the link open; what has expired is not there.
	again := link(account.Link{Kind: account.LinkMember, ProjectID: p.ID, Role: account.RoleViewer})
	if err := db.UseLink(ctx, again, now, func(account.Link) (account.Join, error) {
		return account.Join{Person: somebody(first[0].Email, false), New: true}, nil
	}); fault.KindOf(err) != fault.Conflict {
		t.Errorf("an e-mail was taken twice: %v", err)
	}
	if _, err := db.LinkByToken(ctx, again, now); err != nil {
		t.Errorf("a refused link is gone: %v", err)
	}
	if _, err := db.LinkByToken(ctx, again, now.Add(2*time.Hour)); fault.KindOf(err) != fault.NotFound {
		t.Errorf("an expired link is open: %v", err)
	}
}

// administrators remove each other at once: one stays.
func administrators(t *testing.T, db, other *store.DB) {
	ctx := context.Background()
	var ids []string
	for i := range 6 {
		p := somebody(fmt.Sprintf("a%d@example.com", i), true)
		must(t, db.AddPerson(ctx, p, &account.Identity{Issuer: "i", Subject: p.Email}))
		ids = append(ids, p.ID)
	}
	var wait sync.WaitGroup
	var refused atomic.Int32
	keep := func(_ account.Person, others int) error {
		if others == 0 {
			return fault.New(fault.Conflict, "the last one")
		}
		return nil
	}
	for i, id := range ids {
		wait.Go(func() {
			db := []*store.DB{db, other}[i%2]
			err := db.RemovePerson(ctx, id, keep)
			if i%3 == 0 {
				err = db.UpdatePerson(ctx, id, func(p *account.Person, others int) error { p.Administrator = false; return keep(*p, others) })
			}
			if fault.KindOf(err) == fault.Conflict {
				refused.Add(1)
			} else if err != nil && fault.KindOf(err) != fault.NotFound {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	ps, err := db.People(ctx)
	must(t, err)
	left := 0
	for _, p := range ps {
		if p.Administrator {
			left++
		}
	}
	if left != 1 || refused.Load() == 0 {
		t.Errorf("%d administrators are left, %d refused", left, refused.Load())
	}
}

// sessions end by time, one by one, and all with the password.
func sessions(t *testing.T, db, other *store.DB) {
	ctx, now := context.Background(), time.Now()
	ada, bob := somebody("ada@example.com", false), somebody("bob@example.com", false)
	must(t, db.AddPerson(ctx, ada, nil))
	must(t, db.AddPerson(ctx, bob, nil))
	add := func(who account.Person, ends time.Duration) account.Session {
		_, hash := account.NewToken()
		s := account.Session{ID: uuid.NewString(), PersonID: who.ID, TokenHash: hash, UserAgent: "a", Address: "b", CreatedAt: now, SeenAt: now, ExpiresAt: now.Add(ends)}
		must(t, db.AddSession(ctx, s))
		return s
	}
	keep, drop, short, his := add(ada, time.Hour), add(ada, time.Hour), add(ada, time.Minute), add(bob, time.Hour)
	if s, err := other.SessionByToken(ctx, keep.TokenHash, now); err != nil || s.ID != keep.ID || s.PersonID != ada.ID {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := db.SessionByToken(ctx, short.TokenHash, now.Add(2*time.Minute)); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a session that is over: %v", err)
	}
	must(t, db.SeeSession(ctx, short.ID, now.Add(time.Second), now.Add(time.Hour)))
	if ss, err := db.Sessions(ctx, ada.ID, now.Add(2*time.Minute)); err != nil || len(ss) != 3 || ss[0].ID != short.ID {
		t.Errorf("%+v, %v", ss, err)
	}
	if had, err := db.DropSession(ctx, bob.ID, drop.ID); err != nil || had {
		t.Errorf("bob ended a session of ada: %v, %v", had, err)
	}
	if had, err := db.DropSession(ctx, ada.ID, drop.ID); err != nil || !had {
		t.Errorf("%v, %v", had, err)
	}
	must(t, db.SetPassword(ctx, ada.ID, "new", keep.ID))
	if ss, err := db.Sessions(ctx, ada.ID, now); err != nil || len(ss) != 1 || ss[0].ID != keep.ID {
		t.Errorf("%+v, %v", ss, err)
	}
	if _, hash, err := other.PersonByEmail(ctx, ada.Email); err != nil || hash != "new" {
		t.Errorf("%q, %v", hash, err)
	}
	if _, err := db.SessionByToken(ctx, his.TokenHash, now); err != nil {
		t.Error(err)
	}
	must(t, db.RemovePerson(ctx, bob.ID, func(account.Person, int) error { return nil }))
	if _, err := db.SessionByToken(ctx, his.TokenHash, now); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a session of who is gone: %v", err)
	}
}

// audit answers pages, the newest first.
func audit(t *testing.T, db, other *store.DB) {
	ctx := context.Background()
	var ids []string
	for i := range 7 {
		id := uuid.Must(uuid.NewV7()).String()
		ids = append(ids, id)
		must(t, db.Note(ctx, account.Entry{ID: id, At: time.Now(), Who: "Ada", Act: account.ActKeyShown, ProjectID: []string{"p", "q"}[i%2]}))
	}
	es, err := other.Audit(ctx, account.AuditQuery{Limit: 3})
	if err != nil || len(es) != 3 || es[0].ID != ids[6] {
		t.Fatalf("%+v, %v", es, err)
	}
	es, err = other.Audit(ctx, account.AuditQuery{ProjectID: "p", Before: es[2].ID, Limit: 10})
	if err != nil || len(es) != 2 || es[0].ID != ids[2] || es[1].ID != ids[0] || es[0].Act != account.ActKeyShown {
		t.Errorf("%+v, %v", es, err)
	}
}

// slugs are given to one project each, also at once.
func slugs(t *testing.T, db, other *store.DB) {
	ctx := context.Background()
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			if _, _, err := []*store.DB{db, other}[i%2].CreateProject(ctx, project.Project{Name: "My Shop"}); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	for i := range 8 {
		slug := "my-shop"
		if i > 0 {
			slug = fmt.Sprintf("my-shop-%d", i+1)
		}
		if p, err := db.ProjectBySlug(ctx, slug); err != nil || p.Slug != slug {
			t.Errorf("%s: %+v, %v", slug, p, err)
		}
	}
	p, key, err := db.CreateProject(ctx, project.Project{Name: "Other", Recovery: true})
	must(t, err)
	if p, err := other.Project(ctx, p.ID); err != nil || !p.Recovery {
		t.Errorf("%+v, %v", p, err)
	}
	must(t, db.UpdateProject(ctx, p.ID, func(p *project.Project) error { p.Recovery = false; return nil }))
	if p, err := other.Project(ctx, p.ID); err != nil || p.Recovery {
		t.Errorf("%+v, %v", p, err)
	}
	if k, plain, err := other.CurrentKey(ctx, p.ID); err != nil || plain != key || k.Hint != account.Hint(key) {
		t.Errorf("the key is %q, not %q: %v", plain, key, err)
	}
	fresh, err := db.RotateKey(ctx, p.ID)
	must(t, err)
	if _, plain, err := other.CurrentKey(ctx, p.ID); err != nil || plain != fresh || plain == key {
		t.Errorf("the key is %q, %v", plain, err)
	}
	if _, err := other.ActiveKey(ctx, account.HashKey(key)); fault.KindOf(err) != fault.NotFound {
		t.Errorf("the old key works: %v", err)
	}
}
