package web

import (
	"net/http"
	"net/url"
	"strings"

	"tas-service/internal/account"
	"tas-service/internal/catalog"
	"tas-service/internal/fault"
)

// previewed is how many of the tests that a collection holds are named.
const previewed = 25

func (a *App) collections(w http.ResponseWriter, r *http.Request, v *visit) error {
	all, err := a.Tests.ListCollections(r.Context(), v.Project.ID)
	if err != nil {
		return err
	}
	a.show(w, r, http.StatusOK, "collections/list", Page{Title: "Collections · " + v.Project.Name, Area: "collections", Data: all})
	return nil
}

// collectionPage is the form of a collection, with what it holds.
type collectionPage struct {
	ID       string // "" for a new one
	Form     url.Values
	ByHand   []catalog.Test
	Error    *problemPage
	Tags     []string
	Holds    []catalog.Test
	N        int
	Nothing  string // why there is no preview
	Previews string // address of one
}

// formOf is a collection as its form has it.
func formOf(c catalog.Collection) url.Values {
	f := url.Values{"name": {c.Name}, "description": {c.Description}, "test": c.TestIDs}
	if c.Rule != nil {
		f["tags"], f["paths"], f["title"] = []string{strings.Join(c.Rule.Tags, " ")}, []string{strings.Join(c.Rule.Paths, "\n")}, []string{c.Rule.Title}
	}
	return f
}

// collectionOf reads the form.
func collectionOf(f url.Values) catalog.Collection {
	c := catalog.Collection{Name: f.Get("name"), Description: strings.TrimSpace(f.Get("description")), TestIDs: f["test"]}
	rule := catalog.Rule{Tags: strings.FieldsFunc(f.Get("tags"), func(r rune) bool { return r == ' ' || r == ',' || r == '\n' || r == '\r' || r == '\t' }), Title: strings.TrimSpace(f.Get("title"))}
	for line := range strings.Lines(f.Get("paths")) {
		if p := strings.TrimSpace(line); p != "" {
			rule.Paths = append(rule.Paths, p)
		}
	}
	if len(rule.Tags)+len(rule.Paths) > 0 || rule.Title != "" {
		c.Rule = &rule
	}
	return c
}

func (a *App) newCollection(w http.ResponseWriter, r *http.Request, v *visit) error {
	return a.collectionForm(w, r, v, "", r.URL.Query(), nil)
}

// collection shows a collection; with a filled-in form in the address, what it would be.
func (a *App) collection(w http.ResponseWriter, r *http.Request, v *visit) error {
	c, err := a.Tests.Collection(r.Context(), v.Project.ID, r.PathValue("collection"))
	if err != nil {
		return err
	}
	form := formOf(c)
	if q := r.URL.Query(); q.Has("name") {
		form = q
	}
	return a.collectionForm(w, r, v, c.ID, form, nil)
}

func (a *App) collectionForm(w http.ResponseWriter, r *http.Request, v *visit, id string, form url.Values, bad *problemPage) (err error) {
	p := collectionPage{ID: id, Form: form, Error: bad, Previews: v.base() + "/collections/new"}
	if id != "" {
		p.Previews = v.base() + "/collections/" + id
	}
	if p.Tags, _, err = a.Tests.Store.Facets(r.Context(), v.Project.ID); err != nil {
		return err
	}
	p.Tags = few(p.Tags, "")
	c := collectionOf(form)
	c.ProjectID = v.Project.ID
	named, err := a.Tests.Named(r.Context(), v.Project.ID, c.TestIDs[:min(len(c.TestIDs), catalog.MaxCollectionIDs)])
	if err != nil {
		return err
	}
	for _, t := range c.TestIDs {
		if x, ok := named[t]; ok {
			p.ByHand = append(p.ByHand, x)
		}
	}
	if p.Holds, p.N, err = a.Tests.Preview(r.Context(), c, previewed); err != nil {
		f := fault.As(err)
		if f == nil || f.Kind != fault.Invalid {
			return err
		}
		for _, d := range f.Details {
			p.Nothing += strings.TrimPrefix(strings.TrimPrefix(d.Path, "body."), "body") + " " + d.Message + ". "
		}
		p.Nothing = strings.TrimSpace(p.Nothing)
	}
	status, title := http.StatusOK, "New collection"
	if id != "" {
		title = "Collection " + form.Get("name")
	}
	if bad != nil {
		status = bad.Status
	}
	a.show(w, r, status, "collections/edit", Page{Title: title, Area: "collections", Data: &p, Crumbs: []Crumb{{"Collections", v.base() + "/collections"}, {Name: title}}})
	return nil
}

func (a *App) saveCollection(w http.ResponseWriter, r *http.Request, v *visit) error {
	if err := v.Actor.MayAs(account.RoleMember, v.Project.ID, "collection"); err != nil {
		return err
	}
	c, id := collectionOf(r.PostForm), r.PathValue("collection")
	c.ProjectID, c.ID = v.Project.ID, id
	var err error
	if id == "" {
		c, err = a.Tests.Create(r.Context(), v.Actor, c)
	} else {
		c, err = a.Tests.Replace(r.Context(), v.Actor, c)
	}
	if bad := badInput(err); bad != nil {
		return a.collectionForm(w, r, v, id, r.PostForm, bad)
	}
	if err != nil {
		return err
	}
	done(w, r, v.base()+"/collections/"+c.ID, "The collection is kept.")
	return nil
}

func (a *App) dropCollection(w http.ResponseWriter, r *http.Request, v *visit) error {
	if err := a.Tests.Drop(r.Context(), v.Actor, r.PathValue("collection")); err != nil {
		return err
	}
	done(w, r, v.base()+"/collections", "The collection is removed. Its runs keep their results.")
	return nil
}
