package notify

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"tas-service/internal/action"
	"tas-service/internal/fault"
)

// answerKept is how much of an answer is kept, in bytes.
const answerKept = 500

// Do sends a message: Service is the action.Doer of messages. A message whose answer was
// lost is sent again with the same ID, by which receivers can tell.
func (s *Service) Do(ctx context.Context, a action.Action) (json.RawMessage, string, error) {
	var w wish
	if err := json.Unmarshal(a.Wish, &w); err != nil {
		return nil, "", fault.Wrap(err, fault.Invalid, "The message cannot be read as it was recorded.")
	}
	w.Event.ID = w.EventID
	result, answer, err := s.send(ctx, a.ProjectID, w)
	if f := fault.As(err); w.Event.Type == Test && f != nil && f.Kind != fault.Internal && !fault.Permanent(err) {
		// Whoever sent a test looks at the answer, and sends another one.
		return result, answer, fault.Wrap(err, fault.External, "%s", f.Message).WithFix("%s", f.Fix)
	}
	return result, answer, err
}

// send sends an event to the destination that the wish names, as that one is now.
func (s *Service) send(ctx context.Context, projectID string, w wish) (json.RawMessage, string, error) {
	d, err := s.Store.Destination(ctx, projectID, w.Destination)
	switch {
	case fault.KindOf(err) == fault.NotFound:
		return nil, "", fault.New(fault.NotFound, "The destination was removed before this was sent.").WithFix("Add it again if it should hear of what comes.")
	case err != nil:
		return nil, "", err
	case d.Disabled != "" && w.Event.Type != Test:
		return nil, "", fault.New(fault.Conflict, "The destination is off: %s", d.Disabled).WithFix("Save it anew to switch it on, then try again.")
	case d.Kind == Email:
		return s.sendMail(ctx, d, w.Event)
	}
	body, err := Body(d.Kind, w.Event)
	if err != nil {
		return nil, "", err
	}
	c := Call{URL: d.Secrets.URL, Body: body, ID: w.Event.ID, At: s.Clock()}
	if d.Kind == Webhook {
		c.Keys = d.Secrets.keys(c.At)
	}
	reply, err := s.Caller.Call(ctx, c)
	if err != nil {
		return nil, "", err
	}
	answer := strings.TrimSpace(fmt.Sprintf("%d %s", reply.Status, action.Cleanse(hide(reply.Body, d.Secrets), answerKept)))
	return nil, answer, s.judge(ctx, d, reply)
}

// hide keeps what an answer repeats of secrets from being recorded: the address itself, and
// the long parts of it, which are what makes it a secret.
func hide(text string, sec Secrets) string {
	secrets := []string{sec.URL, sec.Key, sec.OldKey}
	if u, err := url.Parse(sec.URL); err == nil {
		secrets = append(secrets, u.RequestURI(), u.RawQuery)
		for _, part := range strings.FieldsFunc(u.RequestURI(), func(r rune) bool { return strings.ContainsRune("/?&=", r) }) {
			if len(part) >= 8 {
				secrets = append(secrets, part)
			}
		}
	}
	for _, s := range secrets {
		if len(s) > 1 {
			text = strings.ReplaceAll(text, s, "…")
		}
	}
	return text
}

// judge says from an answer's status whether the message arrived, and whether to try again.
func (s *Service) judge(ctx context.Context, d Destination, r Reply) error {
	var err *fault.Error
	switch {
	case r.Status >= 200 && r.Status < 300:
		return nil
	case r.Status == 410:
		why := "the receiver answered 410 Gone: it wants to hear no more."
		_, uerr := s.Store.UpdateDestination(ctx, d.ProjectID, d.ID, func(now *Destination, _ int) error {
			if now.Secrets.URL == d.Secrets.URL { // not of an address that was entered since
				now.Disabled = why
			}
			return nil
		})
		if uerr != nil && fault.KindOf(uerr) != fault.NotFound {
			return uerr
		}
		return fault.New(fault.External, "Nothing is sent there any more: %s", why).WithFix("Save the destination anew to switch it on again.")
	case r.Status >= 300 && r.Status < 400:
		return fault.New(fault.External, "The receiver sends elsewhere (%d), and redirects are not followed.", r.Status).WithFix("Enter the address that it sends to.")
	case r.Status == 429:
		err = fault.New(fault.RateLimited, "The receiver wants fewer messages (429).")
	case r.Status == 408 || r.Status == 425 || r.Status >= 500 || d.Kind == Webhook:
		err = fault.New(fault.Unavailable, "The receiver did not take the message (%d).", r.Status)
	default:
		return fault.New(fault.External, "The receiver refuses the message (%d).", r.Status).WithFix("Check the address: the room or the flow may be gone.")
	}
	err.RetryAfter = r.RetryAfter
	return err
}

func (s *Service) sendMail(ctx context.Context, d Destination, e Event) (json.RawMessage, string, error) {
	if s.Mailer == nil {
		return nil, "", fault.New(fault.External, "This installation sends no e-mail any more.").WithFix("Ask whoever runs the service to set TAS_SMTP_HOST.")
	}
	answer, err := s.Mailer.Send(ctx, Letter{ID: e.ID + "." + d.ID, To: d.To, Subject: headline(e), Text: letter(e)})
	return nil, action.Cleanse(answer, answerKept), err
}
