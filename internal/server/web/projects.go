package web

import (
	"context"
	"net/http"

	"tas-service/internal/fault"
	"tas-service/internal/project"
	"tas-service/internal/run"
)

// projectRow is a project with its last run, nil for none.
type projectRow struct {
	Project project.Project
	Last    *run.Run
}

func (a *App) projects(w http.ResponseWriter, r *http.Request, v *visit) error {
	var rows []projectRow
	for _, p := range v.Projects {
		last, err := a.lastRun(r.Context(), v, p.ID)
		if err != nil {
			return err
		}
		rows = append(rows, projectRow{Project: p, Last: last})
	}
	a.show(w, r, http.StatusOK, "accounts/projects", Page{Title: "Projects", Data: rows})
	return nil
}

func (a *App) lastRun(ctx context.Context, v *visit, projectID string) (*run.Run, error) {
	actor, err := v.Viewer.In(projectID)
	if err != nil {
		return nil, err
	}
	rs, _, err := a.Runs.List(ctx, actor, run.Query{Limit: 1})
	if err != nil || len(rs) == 0 {
		return nil, err
	}
	return &rs[0], nil
}

// projectForm is what the form of a new project holds.
type projectForm struct {
	Project project.Project
	Trouble *fault.Error
}

func (a *App) newProjectPage(w http.ResponseWriter, r *http.Request, v *visit) error {
	if err := v.Viewer.MayAdminister(); err != nil {
		return err
	}
	a.show(w, r, http.StatusOK, "accounts/newproject", Page{Title: "New project", Crumbs: []Crumb{{"Projects", "/"}, {"New project", ""}}, Data: projectForm{}})
	return nil
}

func (a *App) newProject(w http.ResponseWriter, r *http.Request, v *visit) error {
	f := projectForm{Project: project.Project{Name: r.PostFormValue("name")}}
	repositoryOf(r, &f.Project.Repository)
	p, err := a.Settings.Create(r.Context(), *v.Viewer, f.Project)
	if fault.KindOf(err) == fault.Invalid && err != nil {
		f.Trouble = fault.As(err)
		a.show(w, r, http.StatusBadRequest, "accounts/newproject", Page{Title: "New project", Crumbs: []Crumb{{"Projects", "/"}, {"New project", ""}}, Data: f})
		return nil
	}
	if err != nil {
		return err
	}
	done(w, r, projectURL(p.Slug)+"/settings", "The project is there. Check its tests repository, then start a run.")
	return nil
}
