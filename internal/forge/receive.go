package forge

// Delivery is a webhook as it arrived. Nothing of it is to be believed before it is verified.
type Delivery struct {
	Header func(name string) string
	Body   []byte
}

// MaxDelivery bounds the body of a webhook, in bytes.
const MaxDelivery = 5 << 20

// EventKind is what a webhook is about.
type EventKind string

// The kinds. What is none of them is EventOther, which is taken and left alone.
const (
	EventPing    EventKind = "ping"
	EventPush    EventKind = "push"
	EventPull    EventKind = "pull-request"
	EventComment EventKind = "comment"
	EventOther   EventKind = "other"
)

// Event is what a webhook says, in the words of this package.
type Event struct {
	Kind   EventKind
	ID     string // of the delivery, unlike all others of that forge
	Repo   string // "owner/repo"
	Sender User
	// Digest is a hash of the body. No forge signs the delivery's ID, so a copy that somebody
	// sends under another one is known by this.
	Digest string

	// Of EventPush.
	Branch  string // "" where a tag was pushed
	Commit  string // the branch's newest; "" where it was deleted
	Default bool   // of the repository's default branch, as the forge tells

	// Of EventPull, and Number of EventComment.
	Number int
	State  State
	Draft  bool
	Action string // opened, updated, closed, merged, reopened, other

	// Of EventComment: one that is new, under a pull request.
	Comment Comment
}

// The words of Event.Action.
const (
	ActionOpened   = "opened"
	ActionUpdated  = "updated" // its commits, title, body, draft or base
	ActionClosed   = "closed"
	ActionMerged   = "merged"
	ActionReopened = "reopened"
	ActionOther    = "other"
)

// Receiver reads one kind of forge's webhooks. It needs no account there.
type Receiver interface {
	// Peek answers the repository that an unverified delivery claims to be about, so that
	// its secret can be found; fault.Invalid for what is no webhook of this forge.
	Peek(d Delivery) (repo string, err error)
	// Receive verifies the signature in constant time and reads the event. Errors:
	// fault.Unauthenticated for a wrong or missing signature or an empty secret, fault.Invalid for a body
	// that cannot be read.
	Receive(d Delivery, secret string) (Event, error)
}
