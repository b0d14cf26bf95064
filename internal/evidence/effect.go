package evidence

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// har is a request as a trace has it, in the way of HAR 1.2.
type har struct {
	Monotonic float64 `json:"_monotonicTime"`
	Request   struct {
		Method  string   `json:"method"`
		URL     string   `json:"url"`
		Headers []header `json:"headers"`
		Body    posted   `json:"postData"`
	} `json:"request"`
	Response struct {
		Status  int `json:"status"`
		Content struct {
			Type string `json:"mimeType"`
		} `json:"content"`
		Failure string `json:"_failureText"`
	} `json:"response"`
}

type header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// request is one that the page's own code made, or that it navigated by.
type request struct {
	at      float64
	address string
	body    posted
	Call
}

// unreached are failures of the network, in the words of Chromium, Firefox and WebKit. That the
// page took a request back is none.
var unreached = regexp.MustCompile(`ERR_(?:CONNECTION|NAME|INTERNET|ADDRESS|NETWORK|PROXY|SSL|CERT|TIMED_OUT|TUNNEL|EMPTY_RESPONSE)|NS_ERROR_(?:CONNECTION|UNKNOWN_HOST|NET|PROXY|OFFLINE)|(?i:could not (?:connect|resolve))`)

// request answers what of a request is kept; false for pictures, styles, scripts and fonts.
func (h har) request() (request, bool) {
	if h.Request.Method == "" {
		return request{}, false
	}
	refused := h.Response.Status <= 0 && unreached.MatchString(h.Response.Failure)
	dest := ""
	for _, x := range h.Request.Headers {
		if strings.EqualFold(x.Name, "Sec-Fetch-Dest") {
			dest = strings.ToLower(x.Value)
		}
	}
	switch dest {
	case "empty", "document", "iframe", "frame":
	case "":
		if refused {
			break // nothing tells what it would have been
		}
		t := h.Response.Content.Type
		if h.Request.Method == "GET" && !strings.Contains(t, "json") && !strings.Contains(t, "html") {
			return request{}, false
		}
	default:
		return request{}, false
	}
	path, ok := Template(h.Request.URL)
	return request{at: h.Monotonic, address: h.Request.URL, body: h.Request.Body, Call: Call{Method: strings.ToUpper(clip(h.Request.Method)), Path: path, Status: max(h.Response.Status, 0), Unreached: refused}}, ok
}

// maxCalls bounds the calls of a step that are kept.
const maxCalls = 50

// effect answers what happened from the begin of a step until the next one began.
func (t *tracing) effect(c *call, next float64) (e Effect) {
	for _, r := range t.went {
		if r.at < c.StartTime || r.at >= next && next > c.StartTime {
			continue
		}
		if len(e.Calls) < maxCalls && !slices.Contains(e.Calls, r.Call) {
			e.Calls = append(e.Calls, r.Call)
		}
	}
	for _, h := range t.events {
		if h.at < c.StartTime || h.at >= next {
			continue
		}
		if h.uncaught {
			e.Uncaught++
		} else {
			e.Dialog = h.dialog
		}
	}
	var before, after string
	for _, s := range t.shots[c.CallID] {
		switch {
		case !s.main:
		case s.phase == "after":
			after = s.url
		case before == "":
			before = s.url
		}
	}
	for _, later := range t.order { // the page may go elsewhere only while a check waits
		if later.StartTime <= c.StartTime || later.StartTime >= next || !later.looks() {
			continue
		}
		for _, s := range t.shots[later.CallID] {
			if s.main {
				after = s.url
			}
		}
	}
	from, _ := Template(before) // "" for about:blank
	if to, ok := Template(after); ok && to != from {
		e.Navigated = to
	}
	return e
}

// changing are parts of a path that name one thing among many.
var changing = regexp.MustCompile(`^(?:\d+|[0-9a-fA-F]{8}-[0-9a-fA-F-]{27,}|[0-9a-fA-F]{16,}|[A-Za-z0-9_-]*\d[A-Za-z0-9_-]{19,}|\d{4}-\d{2}-\d{2})$`)

// Template answers an address without what differs from one run to the next: no port of
// loopback, numbers and IDs as {}, of the query only the names, sorted. false for what is no
// address of a server.
func Template(raw string) (string, bool) {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", false
	}
	host := strings.ToLower(u.Host)
	if h := u.Hostname(); h == "localhost" || strings.HasPrefix(h, "127.") || h == "::1" {
		host = "loopback"
	}
	parts := strings.Split(u.Path, "/")
	for i, p := range parts {
		if changing.MatchString(p) {
			parts[i] = "{}"
		}
	}
	out := host + strings.Join(parts, "/")
	if q := u.Query(); len(q) > 0 {
		names := make([]string, 0, len(q))
		for name := range q {
			names = append(names, name)
		}
		slices.Sort(names)
		out += "?" + strings.Join(names, "&")
	}
	return clip(out), true
}
