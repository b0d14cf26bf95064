// Package client is a Go client of the public API of TAS. It imports nothing of the
// service's own. Refusals are errors of type *Problem; any other error means that the
// service could not be reached or did not answer as the API does.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Client calls one installation with one project's API key. It is safe for concurrent use.
type Client struct {
	BaseURL string // for example http://127.0.0.1:8700
	APIKey  string
	HTTP    *http.Client // nil: a client without a time limit of its own
}

// Problem is an error answer of the API (RFC 9457). An answer that is no problem document
// (a proxy's page, say) is one as well, with an empty Type.
type Problem struct {
	Type       string         `json:"type"`
	Title      string         `json:"title"`
	Status     int            `json:"status"`
	Detail     string         `json:"detail"`
	RequestID  string         `json:"requestId"`
	Errors     []ProblemField `json:"errors"`
	RetryAfter time.Duration  `json:"-"` // what the header Retry-After asks for; 0 for nothing
}

// ProblemField is one wrong place of what was sent.
type ProblemField struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

// Temporary reports whether the same call may succeed later.
func (p *Problem) Temporary() bool {
	return p.Status == http.StatusTooManyRequests || p.Status >= 500
}

// Error answers the detail with every wrong place.
func (p *Problem) Error() string {
	s := fmt.Sprintf("%s (HTTP %d)", p.Detail, p.Status)
	for _, e := range p.Errors {
		s += "\n  " + e.Path + ": " + e.Message
	}
	return s
}

// Me checks the key and answers the project that it belongs to.
func (c *Client) Me(ctx context.Context) (Project, error) {
	var out Project
	err := c.do(ctx, http.MethodGet, "/public-api/v1/me", nil, nil, &out)
	return out, err
}

// RunSuite starts a run of the whole suite.
func (c *Client) RunSuite(ctx context.Context, o StartOptions) (Started, error) {
	return c.start(ctx, "/public-api/v1/execution/suite", o, o)
}

// RunCollection starts a run of a collection's tests.
func (c *Client) RunCollection(ctx context.Context, collectionID string, o StartOptions) (Started, error) {
	return c.start(ctx, "/public-api/v1/execution/collection/"+url.PathEscape(collectionID), o, o)
}

// RunTests starts a run of the tests with the given IDs.
func (c *Client) RunTests(ctx context.Context, testIDs []string, o StartOptions) (Started, error) {
	return c.start(ctx, "/public-api/v1/execution/tests", o, struct {
		TestIDs []string `json:"testIds"`
		StartOptions
	}{testIDs, o})
}

// RunGrep starts a run of the tests whose name or ID matches a pattern, on any branch and
// with any variables. It is a call of version 2 of the API.
func (c *Client) RunGrep(ctx context.Context, g Grep, o StartOptions) (Started, error) {
	return c.start(ctx, "/public-api/v2/execution/grep", o, struct {
		Grep
		StartOptions
	}{g, o})
}

// RunGrepV1 starts a run by pattern with version 1 of the API, whose body takes nothing
// else: of the options only the trigger and the idempotency key are used.
func (c *Client) RunGrepV1(ctx context.Context, pattern string, o StartOptions) (Started, error) {
	return c.start(ctx, "/public-api/v1/execution/grep", o, Grep{Pattern: pattern})
}

func (c *Client) start(ctx context.Context, path string, o StartOptions, body any) (Started, error) {
	var out Started
	headers := http.Header{}
	if o.Trigger != "" {
		headers.Set("X-TAS-Trigger", o.Trigger)
	}
	if o.IdempotencyKey != "" {
		headers.Set("Idempotency-Key", o.IdempotencyKey)
	}
	err := c.do(ctx, http.MethodPost, path, headers, body, &out)
	return out, err
}

// Status answers a run's state, held back up to wait until something changes.
func (c *Client) Status(ctx context.Context, runID string, wait time.Duration) (Status, error) {
	var out Status
	path := "/public-api/v1/execution/status/run/" + url.PathEscape(runID)
	if wait > 0 {
		path += "?wait=" + wait.String()
	}
	err := c.do(ctx, http.MethodGet, path, nil, nil, &out)
	return out, err
}

// Results answers every result of a run with one of the given statuses, or all.
func (c *Client) Results(ctx context.Context, runID string, statuses ...string) ([]Result, error) {
	q := ResultQuery{RunID: runID, Statuses: statuses, Limit: maxPage}
	return everyPage(q.Cursor, func(cursor string) ([]Result, string, error) {
		q.Cursor = cursor
		return c.ResultsPage(ctx, q)
	})
}

// ResultsPage answers one page of a run's results and the cursor of the next, "" for none.
func (c *Client) ResultsPage(ctx context.Context, q ResultQuery) (page []Result, next string, err error) {
	var out struct {
		Results    []Result `json:"results"`
		NextCursor string   `json:"nextCursor"`
	}
	query := paging(q.Limit, q.Cursor)
	if len(q.Statuses) > 0 {
		query.Set("status", strings.Join(q.Statuses, ","))
	}
	err = c.do(ctx, http.MethodGet, "/public-api/v1/test-runs/"+url.PathEscape(q.RunID)+"/results?"+query.Encode(), nil, nil, &out)
	return out.Results, out.NextCursor, err
}

// Tests answers every test of the project whose file, title or tag contains query.
func (c *Client) Tests(ctx context.Context, query string) ([]Test, error) {
	q := TestQuery{Text: query, Limit: maxPage}
	return everyPage(q.Cursor, func(cursor string) ([]Test, string, error) {
		q.Cursor = cursor
		return c.TestsPage(ctx, q)
	})
}

// TestsPage answers one page of the project's tests and the cursor of the next, "" for none.
func (c *Client) TestsPage(ctx context.Context, q TestQuery) (page []Test, next string, err error) {
	var out struct {
		Tests      []Test `json:"tests"`
		NextCursor string `json:"nextCursor"`
	}
	query := paging(q.Limit, q.Cursor)
	if q.Text != "" {
		query.Set("q", q.Text)
	}
	err = c.do(ctx, http.MethodGet, "/public-api/v1/tests?"+query.Encode(), nil, nil, &out)
	return out.Tests, out.NextCursor, err
}

// Collections answers the project's collections by name.
func (c *Client) Collections(ctx context.Context) ([]Collection, error) {
	var out struct {
		Collections []Collection `json:"collections"`
	}
	err := c.do(ctx, http.MethodGet, "/public-api/v1/collections", nil, nil, &out)
	return out.Collections, err
}

// Bugs answers every bug of the project that fits, the newest first.
func (c *Client) Bugs(ctx context.Context, q BugQuery) ([]Bug, error) {
	q.Limit = maxPage
	return everyPage(q.Cursor, func(cursor string) ([]Bug, string, error) {
		q.Cursor = cursor
		return c.BugsPage(ctx, q)
	})
}

// BugsPage answers one page of the project's bugs and the cursor of the next, "" for none.
func (c *Client) BugsPage(ctx context.Context, q BugQuery) (page []Bug, next string, err error) {
	var out struct {
		Bugs       []Bug  `json:"bugs"`
		NextCursor string `json:"nextCursor"`
	}
	query := paging(q.Limit, q.Cursor)
	for name, v := range map[string]string{"status": strings.Join(q.Statuses, ","), "severity": strings.Join(q.Severities, ","), "serviceTestId": q.ServiceTestID} {
		if v != "" {
			query.Set(name, v)
		}
	}
	err = c.do(ctx, http.MethodGet, "/public-api/v1/health-dashboard/bugs?"+query.Encode(), nil, nil, &out)
	return out.Bugs, out.NextCursor, err
}

// SubmitVerdicts judges results of a finished run: all of them are taken or none.
func (c *Client) SubmitVerdicts(ctx context.Context, runID string, verdicts []Verdict) (Judged, error) {
	var out Judged
	err := c.do(ctx, http.MethodPost, "/public-api/v1/test-runs/"+url.PathEscape(runID)+"/report/verdicts", nil, map[string]any{"verdicts": verdicts}, &out)
	return out, err
}

// maxPage is the most that a page of any list holds.
const maxPage = 200

// everyPage reads a list from a cursor ("" for its beginning) to its last page.
func everyPage[T any](cursor string, read func(cursor string) (page []T, next string, err error)) ([]T, error) {
	var all []T
	for {
		page, next, err := read(cursor)
		if err != nil {
			return nil, err
		}
		all = append(all, page...)
		if next == "" {
			return all, nil
		}
		cursor = next
	}
}

func paging(limit int, cursor string) url.Values {
	q := url.Values{}
	if limit > 0 {
		q.Set("limit", strconv.Itoa(limit))
	}
	if cursor != "" {
		q.Set("cursor", cursor)
	}
	return q
}

// Report answers the address of a run's HTML report, which opens without sign-in until it
// expires. It is refused with status 409 while there is none.
func (c *Client) Report(ctx context.Context, runID string) (Report, error) {
	var out Report
	err := c.do(ctx, http.MethodGet, "/public-api/v1/test-runs/"+url.PathEscape(runID)+"/report", nil, nil, &out)
	return out, err
}

// ReportURL answers the address alone.
func (c *Client) ReportURL(ctx context.Context, runID string) (string, error) {
	r, err := c.Report(ctx, runID)
	return r.URL, err
}

func (c *Client) do(ctx context.Context, method, path string, headers http.Header, in, out any) error {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.BaseURL, "/")+path, body)
	if err != nil {
		return err
	}
	for name, values := range headers {
		req.Header[name] = values
	}
	req.Header.Set("Authorization", "Bearer "+c.APIKey)
	req.Header.Set("Accept", "application/json")
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	client := c.HTTP
	if client == nil {
		client = http.DefaultClient
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // read below
	text, err := io.ReadAll(io.LimitReader(resp.Body, 64<<20))
	if err != nil {
		return err
	}
	if resp.StatusCode >= 300 {
		return problem(resp, text)
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("%s does not answer as TAS does: %w", req.URL.Redacted(), err)
	}
	return nil
}

// problem reads an error answer, also one that some proxy made.
func problem(resp *http.Response, text []byte) *Problem {
	p := &Problem{}
	if json.Unmarshal(text, p) != nil || p.Detail == "" {
		p = &Problem{Title: http.StatusText(resp.StatusCode), Detail: resp.Status + " without a reason from the service itself"}
		if to := resp.Header.Get("Location"); to != "" {
			p.Detail = "The address moved to " + to
		}
	}
	p.Status = resp.StatusCode
	if n, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && n > 0 {
		p.RetryAfter = time.Duration(n) * time.Second
	}
	return p
}
