package server

import (
	"context"

	"tas-service/internal/checkout"
	"tas-service/internal/project"
)

// checker looks at projects' tests repositories for their settings.
type checker struct{ looks checkout.Looks }

// CheckRepository looks as a run would, in a mirror of its own.
func (c checker) CheckRepository(ctx context.Context, projectID string, r project.Repository) []project.Finding {
	seen := c.looks.Look(ctx, checkout.Source{Key: projectID, URL: r.URL, Token: r.Token, Branch: r.Branch}, r.Dir)
	out := make([]project.Finding, 0, len(seen))
	for _, s := range seen {
		out = append(out, project.Finding(s))
	}
	return out
}
