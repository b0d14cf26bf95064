// Package fault is the one vocabulary of failure: what kind it is, what to tell
// the person who met it, and how to put it right. Surfaces translate kinds into
// their own form (an HTTP problem, an exit code); reconcilers read from the kind
// whether to try again.
package fault

import (
	"errors"
	"fmt"
	"time"
)

// Kind says what sort of failure an Error is. The zero value is Internal: what is
// unknown must never be mistaken for something the caller may see.
type Kind int

// The kinds, from "ours" to "the caller's".
const (
	Internal        Kind = iota // a defect or an unexpected state of ours; details stay in the log
	Unavailable                 // something we need does not answer now; trying again may help
	Invalid                     // the input is wrong
	Unauthenticated             // who is calling is not known
	Forbidden                   // who is calling is known and may not
	NotFound                    // no such thing, or none that the caller may know of
	Conflict                    // the thing is in a state that does not allow it
	TooLarge                    // the input is too large
	RateLimited                 // too many calls
	Superseded                  // a newer attempt has taken over: stop
	External                    // something outside (a repository, an install) said no, finally
)

var slugs = map[Kind]string{
	Internal: "internal", Unavailable: "unavailable", Invalid: "invalid-request",
	Unauthenticated: "unauthenticated", Forbidden: "forbidden", NotFound: "not-found",
	Conflict: "conflict", TooLarge: "too-large", RateLimited: "rate-limited",
	Superseded: "superseded", External: "external",
}

// String answers the kind's stable slug.
func (k Kind) String() string {
	if s, ok := slugs[k]; ok {
		return s
	}
	return "internal"
}

// Kinds lists every kind, for tables that must be exhaustive.
func Kinds() []Kind {
	return []Kind{Internal, Unavailable, Invalid, Unauthenticated, Forbidden, NotFound,
		Conflict, TooLarge, RateLimited, Superseded, External}
}

// Detail points at one wrong place in an input.
type Detail struct {
	Path    string // for example "body.shardCount"
	Message string
}

// Error is a failure that a person will read. Message says what is wrong, Fix what
// to do about it; Err is the cause, for the log only.
type Error struct {
	Kind    Kind
	Code    string // optional, finer than Kind: "branch-not-found"
	Message string
	Fix     string
	Details []Detail
	// RetryAfter is how long to wait before trying again, where somebody said so; 0 for unknown.
	RetryAfter time.Duration
	Err        error
}

// Error answers message, fix and cause on one line.
func (e *Error) Error() string {
	s := e.Message
	if e.Fix != "" {
		s += " " + e.Fix
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap answers the cause.
func (e *Error) Unwrap() error { return e.Err }

// Public answers what the caller may read: message and fix, never the cause.
func (e *Error) Public() string {
	if e.Fix == "" {
		return e.Message
	}
	return e.Message + " " + e.Fix
}

// New makes an Error of a kind.
func New(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// Wrap makes an Error of a kind with a cause.
func Wrap(err error, kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...), Err: err}
}

// WithFix answers e with the advice set.
func (e *Error) WithFix(format string, args ...any) *Error {
	e.Fix = fmt.Sprintf(format, args...)
	return e
}

// WithCode answers e with the finer code set.
func (e *Error) WithCode(code string) *Error {
	e.Code = code
	return e
}

// At answers e pointing at one place of the input.
func (e *Error) At(path, format string, args ...any) *Error {
	e.Details = append(e.Details, Detail{Path: path, Message: fmt.Sprintf(format, args...)})
	return e
}

// KindOf answers the kind of err: Internal when it is not one of ours.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Internal
}

// As answers err as an Error, or nil.
func As(err error) *Error {
	e, _ := errors.AsType[*Error](err)
	return e
}

// Permanent reports whether trying again cannot help.
func Permanent(err error) bool {
	switch KindOf(err) {
	case Internal, Unavailable, RateLimited:
		return false
	default:
		return true
	}
}
