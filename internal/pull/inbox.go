package pull

import (
	"context"
	"errors"
	"strings"
	"time"

	"tas-service/internal/fault"
	"tas-service/internal/forge"
)

// rememberFor is how long it is known which webhooks were taken; forges send one again for
// hours, not days.
const rememberFor = 14 * 24 * time.Hour

// Take takes a webhook in. It is believed only where a project that is connected to the
// repository has the secret that it is signed with; whether there is such a project is not
// told. A webhook that was taken already changes nothing. Errors: fault.NotFound for a kind
// that sends none, fault.Unauthenticated for one that nobody's secret fits, fault.Invalid
// for what cannot be read; any other means that it is to be sent again.
func (s *Service) Take(ctx context.Context, kind forge.Kind, d forge.Delivery) error {
	receiver, ok := s.Receivers[kind]
	if !ok {
		return fault.New(fault.NotFound, "There is no forge of this kind.").WithFix("Use the address that the settings of pull requests show.")
	}
	if len(d.Body) > forge.MaxDelivery {
		return fault.New(fault.TooLarge, "The webhook is larger than %d MiB.", forge.MaxDelivery>>20)
	}
	repo, err := receiver.Peek(d)
	if err != nil {
		return err
	}
	believed, errs, err := s.believe(ctx, kind, receiver, d, repo)
	if err != nil {
		return err
	}
	for _, x := range believed {
		errs = append(errs, s.take(ctx, x.Link, x.event))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if len(believed) == 0 {
		return fault.New(fault.Unauthenticated, "No project takes this webhook: none is connected to the repository with the secret that it is signed with.").
			WithFix("Compare the secret at the forge with the one in the settings of pull requests, and check that the repository is the project's tests repository or listed there.")
	}
	return nil
}

// believedAtOnce bounds the webhooks whose secret is looked for: everybody can send some.
const believedAtOnce = 4

// believed is an event with the project that it is for.
type believed struct {
	Link
	event forge.Event
}

// believe answers the projects that a webhook is for, which nobody has proved before. errs
// is why some could not be asked.
func (s *Service) believe(ctx context.Context, kind forge.Kind, receiver forge.Receiver, d forge.Delivery, repo string) (out []believed, errs []error, err error) {
	s.mu.Lock()
	if s.looking == nil {
		s.looking = make(chan struct{}, believedAtOnce)
	}
	looking := s.looking
	s.mu.Unlock()
	select {
	case looking <- struct{}{}:
		defer func() { <-looking }()
	case <-ctx.Done():
		return nil, nil, fault.Wrap(ctx.Err(), fault.Unavailable, "There are too many webhooks at once.").WithFix("Send it again later.")
	}
	projects, err := s.Projects.Projects(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range projects {
		if p.Repository.Local() || !p.HasTestsRepo() {
			continue
		}
		l, err := s.way(ctx, p)
		if f := fault.As(err); f != nil && f.Code == noForge {
			continue
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if l.dial.Kind != kind || l.Connection.HookSecret == "" {
			continue
		}
		if _, knows := l.knows(repo); !knows {
			continue
		}
		e, err := receiver.Receive(d, l.Connection.HookSecret)
		if fault.KindOf(err) == fault.Unauthenticated {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		out = append(out, believed{l, e})
	}
	return out, errs, nil
}

// take does what an event of a project is about, once. What it does may be done again
// where it was not noted in time.
func (s *Service) take(ctx context.Context, l Link, e forge.Event) error {
	if e.ID == "" {
		return fault.New(fault.Invalid, "The webhook has no delivery ID.").WithFix("Send it as the forge does.")
	}
	// Forges do not sign the ID, so whoever has kept a webhook could give it another one.
	// Of a push a look at the tests follows, which does no harm twice; and a branch that was
	// moved back and forth says the same twice.
	names := []string{e.ID, "digest/" + e.Digest}
	if e.Kind == forge.EventPush {
		names = names[:1]
	}
	for _, name := range names {
		if seen, err := s.Store.TakenDelivery(ctx, l.dial.Kind, l.Project.ID, name); err != nil || seen {
			return err
		}
	}
	if err := s.heed(ctx, l, e); err != nil {
		return err
	}
	now := s.Clock().UTC()
	for _, name := range names {
		if err := s.Store.TakeDelivery(ctx, l.dial.Kind, l.Project.ID, name, now, now.Add(-rememberFor)); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) heed(ctx context.Context, l Link, e forge.Event) error {
	ofTests := strings.EqualFold(e.Repo, l.Repo)
	switch e.Kind {
	case forge.EventPush:
		usual := l.Project.Repository.Branch
		if ofTests && e.Branch != "" && e.Commit != "" && (e.Branch == usual || usual == "" && e.Default) {
			return s.Refresh.Ask(ctx, l.Project.ID)
		}
	case forge.EventPull:
		if e.State == forge.Merged || e.State == forge.Closed {
			return s.settled(ctx, l.Project.ID, e.Repo, e.Number, e.State)
		}
	case forge.EventComment:
		return s.hear(ctx, l, e)
	case forge.EventPing, forge.EventOther:
	}
	return nil
}

func (s *Service) settled(ctx context.Context, projectID, repo string, number int, state forge.State) error {
	var errs []error
	for _, hear := range s.Settled {
		errs = append(errs, hear(ctx, projectID, repo, number, state))
	}
	return errors.Join(errs...)
}
