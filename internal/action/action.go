// Package action is what the service does to the outside: it opens a pull request, keeps a
// comment up to date, sets a commit's status, calls a webhook. Each deed is recorded before
// it is done, waits for a person where the project's policy says so, is carried out by one
// worker at a time, tried again with growing patience, and kept with what came of it.
package action

import (
	"context"
	"encoding/json"
	"time"
)

// Kind is what sort of deed an action is.
type Kind string

// The kinds.
const (
	PullRequest Kind = "pull-request" // open one, or bring its title and body up to date
	Comment     Kind = "comment"      // one sticky comment under a pull request
	Status      Kind = "status"       // of a commit
	Reaction    Kind = "reaction"     // to a comment
	Command     Kind = "command"      // what a comment asks the service for: nothing is said by it
	Message     Kind = "message"      // a webhook call, a chat message, an e-mail
)

// State is where an action is.
type State string

// The states. Of Done, a newer wish brings it back to Pending.
const (
	Waiting  State = "waiting"  // for a person's approval
	Pending  State = "pending"  // to be done, or done again
	Done     State = "done"     // as it was last wished
	Failed   State = "failed"   // given up; a person may have it tried again
	Rejected State = "rejected" // by a person
)

// Kinds lists every kind.
func Kinds() []Kind { return []Kind{PullRequest, Comment, Status, Reaction, Command, Message} }

// States lists every state.
func States() []State { return []State{Waiting, Pending, Done, Failed, Rejected} }

// Policy says which kinds of a project wait for a person.
type Policy string

// The policies.
const (
	NothingWaits      Policy = ""              // all is done at once
	PullRequestsWait  Policy = "pull-requests" // and their comments and statuses do not
	AllButMessageWait Policy = "all"           // everything but messages, and what comments ask for
)

// Policies lists every policy, the loosest first.
func Policies() []Policy { return []Policy{NothingWaits, PullRequestsWait, AllButMessageWait} }

// Waits reports whether actions of a kind begin as Waiting.
func (p Policy) Waits(k Kind) bool {
	switch p {
	case PullRequestsWait:
		return k == PullRequest
	case AllButMessageWait:
		return k != Message && k != Command
	case NothingWaits:
	}
	return false
}

// Event is one thing that happened to an action, for the page that shows it.
type Event struct {
	At      time.Time `json:"at"`
	What    string    `json:"what"` // asked, approved, rejected, done, failed, given up, tried again
	Version int       `json:"version"`
	By      string    `json:"by,omitempty"`     // as account.Actor names itself, or "service"
	Answer  string    `json:"answer,omitempty"` // of a try
}

// Action is one deed: the same key is the same deed. A later wish under the key replaces
// the earlier one, so that what is kept up to date (a comment, a body) never falls behind
// and is never done twice.
type Action struct {
	ID        string
	ProjectID string
	Key       string // unique within the project: "run/<id>/comment"
	Kind      Kind
	Target    string          // where to, for people: "shop/tests#12"; without secrets
	About     string          // one line, for people: "the result of run shop-4f2a"
	Serial    string          // of actions with the same text one is done at a time, in all projects; in a Wish "" is for the key
	Wish      json.RawMessage // what is to be done, in the words of the kind; without secrets
	Version   int             // of the wish: 1, 2, …
	DoneAs    int             // the version that was last done; 0 for none
	State     State
	Tries     int // of this version
	NotBefore time.Time
	Since     *time.Time      // of the first try of this version; nil before it
	Result    json.RawMessage // what is there now: {"number": 12, "url": "…"}; null before
	Answer    string          // what the other side last said, for people; cleansed
	AskedBy   string          // as account.Actor names itself, or "service"
	DecidedBy string          // who approved or rejected
	DecidedAt *time.Time
	CreatedAt time.Time
	ChangedAt time.Time
	DoneAt    *time.Time
	History   []Event // the last ones, oldest first
}

// maxHistory bounds what is told of one action.
const maxHistory = 60

func (a *Action) note(e Event) {
	a.History = append(a.History, e)
	if len(a.History) > maxHistory {
		a.History = a.History[len(a.History)-maxHistory:]
	}
}

// Doer carries out one kind of deed. It may be called again after a crash or a lost answer
// for what it has done already, so it looks first. It is given the action as it was read;
// errors of the kinds fault.Unavailable, fault.RateLimited and fault.Internal are tried
// again, others are final. A result or an answer beside an error is
// kept as well. It ends when ctx does:
// one that does not is left behind, and nothing of the same Serial is begun by this service
// until it has ended.
type Doer interface {
	Do(ctx context.Context, a Action) (result json.RawMessage, answer string, err error)
}

// Wish asks for a deed.
type Wish struct {
	ProjectID string
	Key       string
	Kind      Kind
	Target    string
	About     string
	Serial    string
	AskedBy   string
	Detail    any // becomes Action.Wish as JSON
	// Once says that a later wish under the key changes nothing: a message that was sent
	// is not sent again because what it tells of has changed.
	Once bool
	// Amend, when set, is given the action that is there under the key and answers what to
	// wish of it instead of Detail; false leaves it as it is. It may be called more than once.
	Amend func(known Action) (detail any, ok bool)
}
