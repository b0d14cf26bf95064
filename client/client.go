// Package client is a Go client of the public API of TAS. It imports nothing of the
// service's own.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Client calls one installation with one project's API key. It is safe for concurrent use.
type Client struct {
	BaseURL string // for example http://127.0.0.1:8700
	APIKey  string
	HTTP    *http.Client // nil: a client without a time limit of its own
}

// Problem is an error answer of the API (RFC 9457).
type Problem struct {
	Type      string `json:"type"`
	Title     string `json:"title"`
	Status    int    `json:"status"`
	Detail    string `json:"detail"`
	RequestID string `json:"requestId"`
	Errors    []struct {
		Path    string `json:"path"`
		Message string `json:"message"`
	} `json:"errors"`
}

// Error answers the detail with every wrong place.
func (p *Problem) Error() string {
	s := fmt.Sprintf("%s (HTTP %d)", p.Detail, p.Status)
	for _, e := range p.Errors {
		s += "\n  " + e.Path + ": " + e.Message
	}
	return s
}

// Started is a run that was started.
type Started struct {
	RunID      string  `json:"runId"`
	Name       *string `json:"name"`
	TestRunURL string  `json:"testRunUrl"`
}

// Status is the state of a run.
type Status struct {
	RunID         string    `json:"runId"`
	IsTerminal    bool      `json:"isTerminal"`
	Verdict       string    `json:"verdict"`
	Phase         string    `json:"phase"`
	ExecutedCount int       `json:"executedCount"`
	TotalCount    int       `json:"totalCount"`
	Passed        int       `json:"passed"`
	Failed        int       `json:"failed"`
	Flaky         int       `json:"flaky"`
	Skipped       int       `json:"skipped"`
	Recovered     int       `json:"recovered"`
	Bug           int       `json:"bug"`
	Shards        []Shard   `json:"shards"`
	Warnings      []Warning `json:"warnings"`
	Error         *Warning  `json:"error"`
	DurationMs    *int64    `json:"durationMs"`
	Branch        string    `json:"branch"`
	Commit        string    `json:"commit"`
	Isolation     string    `json:"isolation"`
	TestRunURL    string    `json:"testRunUrl"`
}

// Shard is one of the workers that share a run's tests.
type Shard struct {
	Index         int    `json:"index"`
	Phase         string `json:"phase"` // queued, preparing, running, finished
	ExecutedCount int    `json:"executedCount"`
	TotalCount    int    `json:"totalCount"`
	Lost          bool   `json:"lost"`
}

// Warning is a code with words for people.
type Warning struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Result is what came of one test.
type Result struct {
	ServiceTestID string   `json:"serviceTestId"`
	Title         string   `json:"title"`
	TitlePath     []string `json:"titlePath"`
	File          string   `json:"file"`
	Line          int      `json:"line"`
	Browser       string   `json:"browser"`
	Status        string   `json:"status"`
	Retries       int      `json:"retries"`
	Attempts      []struct {
		Status     string    `json:"status"`
		DurationMs int64     `json:"durationMs"`
		StartedAt  time.Time `json:"startedAt"`
	} `json:"attempts"`
	Error *struct {
		Message  string `json:"message"`
		Code     string `json:"code"`
		Location *struct {
			File   string `json:"file"`
			Line   int    `json:"line"`
			Column int    `json:"column"`
		} `json:"location"`
	} `json:"error"`
}

// Me checks the key and answers the project's name.
func (c *Client) Me(ctx context.Context) (name string, err error) {
	var out struct {
		Name string `json:"name"`
	}
	err = c.do(ctx, http.MethodGet, "/public-api/v1/me", nil, &out)
	return out.Name, err
}

// StartOptions are what every call that starts a run can take.
type StartOptions struct {
	ShardCount int `json:"shardCount,omitempty"` // 2 to 40; 0 for a run in one piece
	Workers    int `json:"workers,omitempty"`    // Playwright workers, in each shard; 0 for the default
}

// RunSuite starts a run of the whole suite.
func (c *Client) RunSuite(ctx context.Context, o StartOptions) (Started, error) {
	var out Started
	return out, c.do(ctx, http.MethodPost, "/public-api/v1/execution/suite", o, &out)
}

// Status answers a run's state, held back up to wait until something changes.
func (c *Client) Status(ctx context.Context, runID string, wait time.Duration) (Status, error) {
	var out Status
	path := "/public-api/v1/execution/status/run/" + url.PathEscape(runID)
	if wait > 0 {
		path += "?wait=" + wait.String()
	}
	return out, c.do(ctx, http.MethodGet, path, nil, &out)
}

// Results answers every result of a run with one of the given statuses, or all.
func (c *Client) Results(ctx context.Context, runID string, statuses ...string) ([]Result, error) {
	var all []Result
	query := url.Values{"limit": {"200"}}
	if len(statuses) > 0 {
		query.Set("status", strings.Join(statuses, ","))
	}
	for {
		var page struct {
			Results    []Result `json:"results"`
			NextCursor *string  `json:"nextCursor"`
		}
		if err := c.do(ctx, http.MethodGet, "/public-api/v1/test-runs/"+url.PathEscape(runID)+"/results?"+query.Encode(), nil, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Results...)
		if page.NextCursor == nil {
			return all, nil
		}
		query.Set("cursor", *page.NextCursor)
	}
}

// ReportURL answers the address of a run's HTML report.
func (c *Client) ReportURL(ctx context.Context, runID string) (string, error) {
	var out struct {
		URL string `json:"url"`
	}
	return out.URL, c.do(ctx, http.MethodGet, "/public-api/v1/test-runs/"+url.PathEscape(runID)+"/report", nil, &out)
}

func (c *Client) do(ctx context.Context, method, path string, in, out any) error {
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
	req.Header.Set("Authorization", "Bearer "+c.APIKey)
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
		p := &Problem{Status: resp.StatusCode, Detail: strings.TrimSpace(string(text))}
		json.Unmarshal(text, p) //nolint:errcheck // then the text itself is the detail
		return p
	}
	return json.Unmarshal(text, out)
}
