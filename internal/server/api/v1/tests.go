package v1

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"tas-service/internal/catalog"
	"tas-service/internal/run"
	"tas-service/internal/server/api"
	"tas-service/internal/server/route"
)

func (a *API) mountTests(h huma.API) {
	op := func(id, method, path, summary, tag string, status int, more ...int) huma.Operation {
		if method == http.MethodPost || method == http.MethodPut {
			more = append(more, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
		}
		return huma.Operation{OperationID: id, Method: method, Path: path, Summary: summary, Tags: []string{tag}, DefaultStatus: status, Errors: route.Statuses(more...)}
	}
	huma.Register(h, op("list-tests", http.MethodGet, "/tests", "List the tests that can be run", "Tests", http.StatusOK, http.StatusNotFound), route.Handle(a.listTests))
	huma.Register(h, op("list-collections", http.MethodGet, "/collections", "List the project's collections", "Collections", http.StatusOK), route.Handle(a.listCollections))
	huma.Register(h, op("create-collection", http.MethodPost, "/collections", "Make a collection, by hand or by a rule", "Collections", http.StatusCreated, http.StatusConflict), route.Handle(a.createCollection))
	huma.Register(h, op("replace-collection", http.MethodPut, "/collections/{collectionId}", "Change a collection to what is sent", "Collections", http.StatusOK, http.StatusNotFound, http.StatusConflict), route.Handle(a.replaceCollection))
	huma.Register(h, op("delete-collection", http.MethodDelete, "/collections/{collectionId}", "Remove a collection; runs of it keep their results", "Collections", http.StatusNoContent, http.StatusNotFound), route.Handle(a.dropCollection))
	huma.Register(h, op("run-collection", http.MethodPost, "/execution/collection/{collectionId}", "Run the tests of a collection", "Execution", http.StatusCreated, http.StatusNotFound, http.StatusConflict), route.Handle(a.runCollection))
	huma.Register(h, op("list-quarantine", http.MethodGet, "/quarantine", "List the tests in quarantine, those that are released first first", "Tests", http.StatusOK), route.Handle(a.listQuarantine))
	huma.Register(h, op("quarantine-test", http.MethodPut, "/tests/{serviceTestId}/quarantine", "Keep a test's failures from failing runs for a while", "Tests", http.StatusOK, http.StatusNotFound, http.StatusConflict), route.Handle(a.quarantine))
	huma.Register(h, op("release-test", http.MethodDelete, "/tests/{serviceTestId}/quarantine", "Let a test's failures count again", "Tests", http.StatusNoContent, http.StatusNotFound), route.Handle(a.release))
}

type testsListIn struct {
	Q            string `query:"q" maxLength:"200" doc:"Part of the file, a title or a tag"`
	CollectionID string `query:"collectionId" doc:"Only tests of this collection"`
	Page
}

// Test is a test that can be run.
type Test struct {
	ServiceTestID string      `json:"serviceTestId" format:"uuid"`
	Title         string      `json:"title"`
	TitlePath     []string    `json:"titlePath"`
	File          string      `json:"file"`
	Line          int         `json:"line"`
	Browsers      []string    `json:"browsers" doc:"The Playwright projects that it runs in"`
	Tags          []string    `json:"tags"`
	Owner         *string     `json:"owner"`
	FirstSeenAt   time.Time   `json:"firstSeenAt"`
	LastSeenAt    time.Time   `json:"lastSeenAt"`
	Health        Health      `json:"health"`
	Quarantine    *Quarantine `json:"quarantine" doc:"null when its failures count"`
}

// Health is what a test's latest outcomes on the default branch say.
type Health struct {
	State        string     `json:"state" enum:"unknown,healthy,flaky,broken,outage" doc:"flaky: passes and fails on the same code. broken: fails and does not pass on the same code. outage: failed last together with most of its run"`
	Outcomes     int        `json:"outcomes" doc:"That were looked at, 50 at most"`
	Failures     int        `json:"failures" doc:"Outages aside"`
	Flakes       int        `json:"flakes" doc:"Passes on a retry, and failures on a commit on which it also passed"`
	Outages      int        `json:"outages"`
	FlakeRate    float64    `json:"flakeRate" doc:"Flakes in outcomes, outages aside: from 0 to 1"`
	FailingSince *time.Time `json:"failingSince"`
}

// Quarantine keeps a test's failures from failing runs, for a while.
type Quarantine struct {
	Owner     string    `json:"owner" doc:"Who sees to the test"`
	Reason    string    `json:"reason"`
	CreatedAt time.Time `json:"createdAt"`
	ExpiresAt time.Time `json:"expiresAt"`
}

type testsListOut struct {
	Body struct {
		Tests      []Test  `json:"tests"`
		NextCursor *string `json:"nextCursor"`
	}
}

func (a *API) listTests(ctx context.Context, in *testsListIn) (*testsListOut, error) {
	q := catalog.Query{ProjectID: route.ActorOf(ctx).ProjectID, Text: in.Q, Limit: in.Limit}
	if in.Cursor != "" {
		q.After = &catalog.Cursor{}
		if err := route.ReadCursor(in.Cursor, q.After); err != nil {
			return nil, err
		}
	}
	ts, next, err := a.Tests.List(ctx, q, in.CollectionID)
	if err != nil {
		return nil, err
	}
	out := &testsListOut{}
	out.Body.Tests = make([]Test, 0, len(ts))
	for _, t := range ts {
		out.Body.Tests = append(out.Body.Tests, Test{Health: healthOf(t.Health), Quarantine: quarantineOf(t.Quarantine), ServiceTestID: t.ID, Title: t.Title(), TitlePath: t.TitlePath, File: t.File, Line: t.Line,
			Browsers: some(t.Browsers), Tags: some(t.Tags), Owner: optional(t.Owner), FirstSeenAt: t.FirstSeen, LastSeenAt: t.LastSeen})
	}
	if next != nil {
		out.Body.NextCursor = route.Cursor(next)
	}
	return out, nil
}

func healthOf(h catalog.Health) Health {
	return Health{State: string(h.State), Outcomes: h.Outcomes, Failures: h.Failures, Flakes: h.Flakes, Outages: h.Outages, FlakeRate: h.FlakeRate, FailingSince: h.FailingSince}
}

func quarantineOf(q *catalog.Quarantine) *Quarantine {
	if q == nil {
		return nil
	}
	return &Quarantine{Owner: q.Owner, Reason: q.Reason, CreatedAt: q.CreatedAt, ExpiresAt: q.ExpiresAt}
}

// Rule selects tests by what they are.
type Rule struct {
	Tags  []string `json:"tags,omitempty" doc:"Tests with one of these tags" example:"[\"@smoke\"]"`
	Paths []string `json:"paths,omitempty" doc:"Tests whose file fits one of these; ** stands for any folders" example:"[\"tests/cart/**\"]"`
	Title string   `json:"title,omitempty" doc:"Tests whose describes and title hold this text"`
}

// CollectionInput is a collection as it is sent.
type CollectionInput struct {
	Name        string   `json:"name" doc:"Unique within the project"`
	Description string   `json:"description,omitempty"`
	TestIDs     []string `json:"testIds,omitempty" maxItems:"5000" doc:"serviceTestIds, named by hand"`
	Rule        *Rule    `json:"rule,omitempty" doc:"Tests that fit everything that it gives belong to the collection too"`
}

// Collection is tests that are run together.
type Collection struct {
	ID          string    `json:"id" format:"uuid"`
	Name        string    `json:"name"`
	Description string    `json:"description"`
	TestIDs     []string  `json:"testIds"`
	Rule        *Rule     `json:"rule"`
	TestCount   *int      `json:"testCount,omitempty" doc:"Tests of the default branch that it holds now; only in the list"`
	CreatedAt   time.Time `json:"createdAt"`
	UpdatedAt   time.Time `json:"updatedAt"`
}

// CollectionIn is a collection as it is sent.
type CollectionIn struct{ Body CollectionInput }

// CollectionAt names a collection.
type CollectionAt struct {
	ID string `path:"collectionId" doc:"A collection that GET /collections lists"`
}

type collectionOut struct{ Body Collection }

func (in CollectionInput) collection(ctx context.Context, id string) catalog.Collection {
	c := catalog.Collection{ID: id, ProjectID: route.ActorOf(ctx).ProjectID, Name: in.Name, Description: in.Description, TestIDs: in.TestIDs}
	if in.Rule != nil {
		c.Rule = &catalog.Rule{Tags: in.Rule.Tags, Paths: in.Rule.Paths, Title: in.Rule.Title}
	}
	return c
}

func collectionOf(c catalog.Collection) Collection {
	out := Collection{ID: c.ID, Name: c.Name, Description: c.Description, TestIDs: some(c.TestIDs), CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt}
	if c.Rule != nil {
		out.Rule = &Rule{Tags: c.Rule.Tags, Paths: c.Rule.Paths, Title: c.Rule.Title}
	}
	return out
}

type collectionsOut struct {
	Body struct {
		Collections []Collection `json:"collections"`
	}
}

func (a *API) listCollections(ctx context.Context, _ *struct{}) (*collectionsOut, error) {
	cs, err := a.Tests.ListCollections(ctx, route.ActorOf(ctx).ProjectID)
	if err != nil {
		return nil, err
	}
	out := &collectionsOut{}
	out.Body.Collections = make([]Collection, 0, len(cs))
	for _, c := range cs {
		x := collectionOf(c.Collection)
		x.TestCount = &c.Tests
		out.Body.Collections = append(out.Body.Collections, x)
	}
	return out, nil
}

func (a *API) createCollection(ctx context.Context, in *CollectionIn) (*collectionOut, error) {
	c, err := a.Tests.Create(ctx, route.ActorOf(ctx), in.Body.collection(ctx, ""))
	if err != nil {
		return nil, err
	}
	return &collectionOut{Body: collectionOf(c)}, nil
}

type replaceIn struct {
	CollectionAt
	CollectionIn
}

func (a *API) replaceCollection(ctx context.Context, in *replaceIn) (*collectionOut, error) {
	c, err := a.Tests.Replace(ctx, route.ActorOf(ctx), in.Body.collection(ctx, in.ID))
	if err != nil {
		return nil, err
	}
	return &collectionOut{Body: collectionOf(c)}, nil
}

func (a *API) dropCollection(ctx context.Context, in *CollectionAt) (*struct{}, error) {
	return nil, a.Tests.Drop(ctx, route.ActorOf(ctx), in.ID)
}

type runCollectionIn struct {
	CollectionAt
	SuiteIn
}

func (a *API) runCollection(ctx context.Context, in *runCollectionIn) (*api.Started, error) {
	start := run.StartInput{Selection: run.Selection{Kind: run.SelectCollection, CollectionID: in.ID}}
	if in.Body != nil {
		in.Body.Fill(&start)
		start.AutoHeal = in.Body.AutoHeal.Input()
	}
	return a.start(ctx, in.Origin, start)
}

// QuarantinedTest is a test whose failures do not count.
type QuarantinedTest struct {
	ServiceTestID string `json:"serviceTestId" format:"uuid"`
	Quarantine
}

type quarantineListOut struct {
	Body struct {
		Tests []QuarantinedTest `json:"tests"`
	}
}

func (a *API) listQuarantine(ctx context.Context, _ *struct{}) (*quarantineListOut, error) {
	qs, err := a.Tests.Quarantined(ctx, route.ActorOf(ctx).ProjectID)
	if err != nil {
		return nil, err
	}
	out := &quarantineListOut{}
	out.Body.Tests = make([]QuarantinedTest, 0, len(qs))
	for _, q := range qs {
		out.Body.Tests = append(out.Body.Tests, QuarantinedTest{q.TestID, *quarantineOf(&q)})
	}
	return out, nil
}

type quarantineIn struct {
	TestAt
	Body struct {
		Owner     string    `json:"owner" doc:"Who sees to the test"`
		Reason    string    `json:"reason"`
		ExpiresAt time.Time `json:"expiresAt" doc:"At most 90 days from now"`
	}
}

// TestAt names a test.
type TestAt struct {
	ServiceTestID string `path:"serviceTestId" doc:"A test that GET /tests lists"`
}

type quarantineOut struct{ Body QuarantinedTest }

func (a *API) quarantine(ctx context.Context, in *quarantineIn) (*quarantineOut, error) {
	actor := route.ActorOf(ctx)
	q, err := a.Tests.Quarantine(ctx, actor, catalog.Quarantine{ProjectID: actor.ProjectID, TestID: in.ServiceTestID, Owner: in.Body.Owner, Reason: in.Body.Reason,
		ExpiresAt: in.Body.ExpiresAt})
	if err != nil {
		return nil, err
	}
	return &quarantineOut{Body: QuarantinedTest{q.TestID, *quarantineOf(&q)}}, nil
}

func (a *API) release(ctx context.Context, in *TestAt) (*struct{}, error) {
	return nil, a.Tests.Release(ctx, route.ActorOf(ctx), in.ServiceTestID)
}
