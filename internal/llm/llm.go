// Package llm is a language model that can be asked: what is said to it, what it answers, what
// that costs, and what its refusals mean. A package below it for each protocol.
//
// A model is a stranger: what it answers is judged by whoever asked, and never obeyed.
package llm

import (
	"context"
	"encoding/json"
	"time"
)

// Model is one model behind one address. Safe for concurrent use.
type Model interface {
	// Ask puts one question. Errors: fault.Unavailable where trying again may help, with
	// RetryAfter where the other side said when; fault.Forbidden for a key that does not hold,
	// and fault.Invalid for an unknown model or a question that it does not take, which do not
	// mend by themselves; fault.TooLarge for an answer beyond MaxAnswer. No error holds the key.
	Ask(ctx context.Context, r Request) (Reply, error)
	// Name answers what the model is called, for people.
	Name() string
}

// Bounds that every protocol keeps.
const (
	MaxAnswer = 1 << 20          // bytes of an answer as it comes over the wire
	AskFor    = 60 * time.Second // how long an answer is waited for
)

// Role is who said something.
type Role string

// The roles.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Message is one turn of a conversation: of the user a text or results of tools, of the
// assistant a text, calls of tools, or both.
type Message struct {
	Role    Role
	Text    string
	Calls   []Call
	Results []Result
}

// Tool is something that the model may ask to have done.
type Tool struct {
	Name        string // letters, digits, _ and -
	Description string
	Schema      json.RawMessage // JSON Schema of its arguments, an object
}

// Call is a model's wish to have a tool used. Arguments are as the model wrote them: they need
// not fit the tool's schema, nor be JSON.
type Call struct {
	ID        string
	Name      string
	Arguments json.RawMessage
}

// Result is what came of a call.
type Result struct {
	CallID string
	Text   string
	Failed bool
}

// Request is one question. Models are asked at temperature 0, as far as they let it be set.
type Request struct {
	System    string
	Messages  []Message // at least one; the first is the user's
	Tools     []Tool
	MaxTokens int // of the answer
	// Schema, when set, is the JSON Schema of an object that the answer's text is to be. It is
	// a wish: not every server holds its model to it, so the text is still to be checked. Not
	// together with Tools.
	Schema json.RawMessage
}

// Stop is why a model ended its answer.
type Stop string

// The reasons.
const (
	Done    Stop = "done"
	Length  Stop = "length"  // MaxTokens, or its context, was used up
	Calling Stop = "calling" // it waits for the results of its calls
	Refused Stop = "refused" // it, or a filter, does not want to answer
)

// Reply is an answer.
type Reply struct {
	Text  string
	Calls []Call
	Stop  Stop
	Usage Usage
}

// Usage counts tokens.
type Usage struct {
	Input  int64
	Output int64
}

// Price is what a million tokens cost, in dollars; 0 for nothing, or not known.
type Price struct {
	Input  float64
	Output float64
}

// Cost answers what tokens cost, in dollars.
func (p Price) Cost(u Usage) float64 {
	return (float64(u.Input)*p.Input + float64(u.Output)*p.Output) / 1e6
}

// Known reports whether tokens cost anything, as far as it is known.
func (p Price) Known() bool { return p.Input > 0 || p.Output > 0 }

// bytesPerToken is how many bytes of text a token has at least, as a rule.
const bytesPerToken = 3

// Estimate answers how many tokens a question may use up at most, roughly: before it is asked.
func (r Request) Estimate() Usage {
	n := len(r.System) + len(r.Schema)
	for _, m := range r.Messages {
		n += len(m.Text)
		for _, c := range m.Calls {
			n += len(c.Name) + len(c.Arguments)
		}
		for _, x := range m.Results {
			n += len(x.Text)
		}
	}
	for _, t := range r.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	return Usage{Input: int64(n/bytesPerToken + 1), Output: int64(r.MaxTokens)}
}
