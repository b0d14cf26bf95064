package catalog_test

import (
	"context"
	"testing"
	"time"

	"tas-service/internal/account"
	"tas-service/internal/catalog"
	"tas-service/internal/fault"
)

// TestViewersOnlyLook refuses every change before anything is read: the service here has
// no records.
func TestViewersOnlyLook(t *testing.T) {
	t.Parallel()
	s, ctx := &catalog.Service{Clock: time.Now}, context.Background()
	for name, c := range map[string]struct {
		actor account.Actor
		kind  fault.Kind
	}{
		"viewer":   {account.Actor{ProjectID: "p", Role: account.RoleViewer, Via: account.ViaSession}, fault.Forbidden},
		"stranger": {account.Actor{ProjectID: "other", Role: account.RoleAdministrator, Via: account.ViaSession}, fault.NotFound},
		"nobody":   {account.Actor{}, fault.NotFound},
	} {
		_, create := s.Create(ctx, c.actor, catalog.Collection{ProjectID: "p"})
		_, replace := s.Replace(ctx, c.actor, catalog.Collection{ProjectID: "p"})
		_, hold := s.Quarantine(ctx, c.actor, catalog.Quarantine{ProjectID: "p"})
		for act, err := range map[string]error{"create": create, "replace": replace, "quarantine": hold} {
			if fault.KindOf(err) != c.kind {
				t.Errorf("%s: %s: %v", name, act, err)
			}
		}
	}
	viewer := account.Actor{ProjectID: "p", Role: account.RoleViewer, Via: account.ViaSession}
	for act, err := range map[string]error{"drop": s.Drop(ctx, viewer, "c"), "release": s.Release(ctx, viewer, "t")} {
		if fault.KindOf(err) != fault.Forbidden {
			t.Errorf("%s: %v", act, err)
		}
	}
}
