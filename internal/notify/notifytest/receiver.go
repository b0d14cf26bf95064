// Package notifytest has doubles of who hears of a project: a receiver of webhooks that
// verifies signatures, chats that refuse what the real ones refuse, and a mail server.
package notifytest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"unicode/utf16"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// Got is one request that came.
type Got struct {
	ID     string // webhook-id
	Header http.Header
	Body   []byte
	Wrong  error // what is wrong with it, nil where nothing is
	Status int   // what was answered
}

// Receiver takes messages at one address.
type Receiver struct {
	*httptest.Server
	// Arrived gets each request after it was answered.
	Arrived chan Got

	mu     sync.Mutex
	check  func(h http.Header, body []byte) error
	answer func(n int) (status int, header map[string]string, body string)
	n      int
}

// NewReceiver starts a receiver that holds requests to check; one that is wrong is answered
// 400, all others 200 until Answer says something else.
func NewReceiver(t testing.TB, check func(h http.Header, body []byte) error) *Receiver {
	t.Helper()
	r := &Receiver{Arrived: make(chan Got, 1000), check: check}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

// Answer has the receiver answer its n-th request, from 1 on, as f says; status 0 is 200.
func (r *Receiver) Answer(f func(n int) (status int, header map[string]string, body string)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = f
}

// Check changes what requests are held to.
func (r *Receiver) Check(check func(h http.Header, body []byte) error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.check = check
}

// ServeHTTP takes one message.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	r.mu.Lock()
	r.n++
	n, check, answer := r.n, r.check, r.answer
	r.mu.Unlock()
	g := Got{ID: q.Header.Get(standardwebhooks.HeaderWebhookID), Header: q.Header, Body: body, Wrong: errors.Join(err, check(q.Header, body)), Status: http.StatusOK}
	if q.Method != http.MethodPost || q.Header.Get("Content-Type") != "application/json" {
		g.Wrong = errors.Join(g.Wrong, fmt.Errorf("%s of %s", q.Method, q.Header.Get("Content-Type")))
	}
	said := "ok"
	switch {
	case g.Wrong != nil:
		g.Status, said = http.StatusBadRequest, g.Wrong.Error()
	case answer != nil:
		status, header, text := answer(n)
		for k, v := range header {
			w.Header().Set(k, v)
		}
		if status != 0 {
			g.Status, said = status, text
		}
	}
	w.WriteHeader(g.Status)
	io.WriteString(w, said) //nolint:errcheck // the caller is gone
	r.Arrived <- g
}

// Signed verifies as a receiver of Standard Webhooks does, with any of its keys.
func Signed(keys ...string) func(h http.Header, body []byte) error {
	return func(h http.Header, body []byte) error {
		var errs []error
		for _, key := range keys {
			w, err := standardwebhooks.NewWebhook(key)
			if err == nil {
				err = w.Verify(body, h)
			}
			if err == nil {
				return nil
			}
			errs = append(errs, err)
		}
		return errors.Join(errs...)
	}
}

type object = map[string]any

func read(body []byte) (object, error) {
	var o object
	return o, json.Unmarshal(body, &o)
}

func length(s string) int { return len(utf16.Encode([]rune(s))) }

// Slack holds a message to what Slack takes: 50 blocks, texts of 3,000 characters, and in
// mrkdwn no mention and no link.
func Slack(_ http.Header, body []byte) error {
	o, err := read(body)
	if err != nil {
		return err
	}
	text, _ := o["text"].(string)
	blocks, _ := o["blocks"].([]any)
	if text == "" || strings.ContainsAny(text, "<>") || len(blocks) == 0 || len(blocks) > 50 {
		return fmt.Errorf("the text %q with %d blocks", text, len(blocks))
	}
	var all int
	for _, leaf := range leaves(o["blocks"]) {
		switch kind := leaf["type"]; kind {
		case "text":
			all += length(fmt.Sprint(leaf["text"]))
		case "link":
			if !strings.HasPrefix(fmt.Sprint(leaf["url"]), "http") {
				return fmt.Errorf("a link to %v", leaf["url"])
			}
		case "rich_text", "rich_text_section":
		default:
			return fmt.Errorf("an element of type %v", kind)
		}
	}
	if all > 3000 {
		return fmt.Errorf("%d characters", all)
	}
	return nil
}

// Teams holds a message to what a Teams workflow takes: 28 KB, an Adaptive Card, and text
// only in runs, which are no markup.
func Teams(_ http.Header, body []byte) error {
	o, err := read(body)
	if err != nil {
		return err
	}
	if len(body) > 28<<10 || o["type"] != "message" {
		return fmt.Errorf("%d bytes of type %v", len(body), o["type"])
	}
	cards := 0
	for _, leaf := range leaves(o["attachments"]) {
		switch kind := leaf["type"]; kind {
		case "AdaptiveCard":
			cards++
		case "RichTextBlock", "TextRun", nil:
		case "Action.OpenUrl":
			if !strings.HasPrefix(fmt.Sprint(leaf["url"]), "http") {
				return fmt.Errorf("a link to %v", leaf["url"])
			}
		default:
			return fmt.Errorf("an element of type %v", kind)
		}
		if kind, ok := leaf["contentType"]; ok && kind != "application/vnd.microsoft.card.adaptive" {
			return fmt.Errorf("content of type %v", kind)
		}
	}
	if cards != 1 {
		return fmt.Errorf("%d cards", cards)
	}
	return nil
}

// Discord holds a message to what Discord takes: an embed's title of 256 characters, its
// description of 4,096, 6,000 in all, and nobody mentioned.
func Discord(_ http.Header, body []byte) error {
	o, err := read(body)
	if err != nil {
		return err
	}
	mentions, _ := o["allowed_mentions"].(object)
	if parse, ok := mentions["parse"].([]any); !ok || len(parse) != 0 {
		return errors.New("it may mention people")
	}
	embeds, _ := o["embeds"].([]any)
	if len(embeds) != 1 {
		return fmt.Errorf("%d embeds", len(embeds))
	}
	e, _ := embeds[0].(object)
	title, _ := e["title"].(string)
	text, _ := e["description"].(string)
	if title == "" || length(title) > 256 || length(text) > 4096 || length(title)+length(text) > 6000 {
		return fmt.Errorf("%d and %d characters", length(title), length(text))
	}
	for _, s := range []string{title, text} {
		plain := strings.NewReplacer(`\\`, "", `\[`, "", `\]`, "", `\@`, "", `\:`, "", `\<`, "", "\\`", "", `\*`, "").Replace(s)
		if strings.ContainsAny(plain, "[]@<`*:") {
			return fmt.Errorf("markup in %q", s)
		}
	}
	return nil
}

// leaves answers every object within a value, itself too.
func leaves(v any) (out []object) {
	switch x := v.(type) {
	case []any:
		for _, y := range x {
			out = append(out, leaves(y)...)
		}
	case object:
		out = append(out, x)
		for k, y := range x {
			if k != "style" {
				out = append(out, leaves(y)...)
			}
		}
	}
	return out
}
