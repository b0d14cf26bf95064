package notify

import (
	"context"
	"time"

	"github.com/google/uuid"

	"tas-service/internal/account"
	"tas-service/internal/action"
	"tas-service/internal/bug"
	"tas-service/internal/fault"
	"tas-service/internal/project"
	"tas-service/internal/run"
)

// Service keeps destinations and asks for the messages to them. Safe for concurrent use.
type Service struct {
	Store    Store
	Actions  *action.Service
	Projects project.Store
	Runs     interface {
		Results(ctx context.Context, q run.ResultQuery) ([]run.Result, error)
		Runs(ctx context.Context, q run.Query) ([]run.Run, error)
	}
	Bugs interface {
		Bug(ctx context.Context, projectID string, number int) (bug.Bug, error)
	}
	Notes  action.Notes
	Caller Caller
	Mailer Mailer // nil where the installation sends no e-mail
	// Insecure lets addresses through that are not https: receivers are inside.
	Insecure bool
	RunURL   func(runID string) string
	BugURL   func(b bug.Bug) string
	Clock    func() time.Time
}

// Offered lists the kinds that can be chosen here.
func (s *Service) Offered() []Kind {
	if s.Mailer == nil {
		return []Kind{Webhook, Slack, Teams, Discord}
	}
	return Kinds()
}

// List answers a project's destinations for its administrators, by name, without secrets.
func (s *Service) List(ctx context.Context, v account.Viewer, projectID string) ([]Destination, error) {
	if _, err := v.Administers(projectID); err != nil {
		return nil, err
	}
	ds, err := s.Store.Destinations(ctx, projectID)
	for i := range ds {
		ds[i] = ds[i].veiled()
	}
	return ds, err
}

// Get answers one destination for administrators, without secrets.
func (s *Service) Get(ctx context.Context, v account.Viewer, projectID, id string) (Destination, error) {
	if _, err := v.Administers(projectID); err != nil {
		return Destination{}, err
	}
	d, err := s.Store.Destination(ctx, projectID, id)
	return d.veiled(), unknown(err)
}

func unknown(err error) error {
	if fault.KindOf(err) != fault.NotFound {
		return err
	}
	return fault.New(fault.NotFound, "There is no such destination in this project.").WithFix("The project's notifications list those that there are.")
}

// Save adds a destination (the ID "") or changes one, for administrators. The address is
// Secrets.URL; an empty one keeps the address that there is. What was off is on again. A
// new webhook's key is answered, to be shown this once.
func (s *Service) Save(ctx context.Context, v account.Viewer, in Destination) (Destination, string, error) {
	actor, err := v.Administers(in.ProjectID)
	if err != nil {
		return in, "", err
	}
	key := ""
	d, err := s.Store.UpdateDestination(ctx, in.ProjectID, in.ID, func(d *Destination, others int) error {
		key = ""
		if in.ID == "" {
			if others >= MaxDestinations {
				return fault.New(fault.Conflict, "The project has %d destinations already, and that is the most.", MaxDestinations).WithFix("Remove one that is not used.")
			}
			d.Kind, d.CreatedBy = in.Kind, actor.By()
			if d.Kind == Webhook {
				key = newKey()
				d.Secrets.Key = key
			}
			if d.Kind == Email && s.Mailer == nil {
				return fault.New(fault.Invalid, "This installation sends no e-mail.").WithFix("Ask whoever runs the service to set TAS_SMTP_HOST, or choose another kind.").At("kind", "not offered here")
			}
		}
		d.Name, d.To, d.Filter, d.Disabled = in.Name, in.To, in.Filter, ""
		if in.Secrets.URL != "" {
			d.Secrets.URL = in.Secrets.URL
		}
		return d.Check(s.Insecure)
	})
	if err != nil {
		return in, "", unknown(err)
	}
	if err := s.Notes.Note(ctx, v, account.ActSettings, in.ProjectID, "notifications to "+d.Name); err != nil {
		return d.veiled(), key, err
	}
	if in.Secrets.URL != "" {
		err = s.Notes.Note(ctx, v, account.ActSecretSet, in.ProjectID, d.Name+": address")
	}
	return d.veiled(), key, err
}

// overlap is how long the key before signs too.
const overlap = 24 * time.Hour

// Rotate gives a webhook a new key and answers it, to be shown this once. The key before
// signs as well for a day, so that receivers can change without missing anything.
func (s *Service) Rotate(ctx context.Context, v account.Viewer, projectID, id string) (string, error) {
	if _, err := v.Administers(projectID); err != nil {
		return "", err
	}
	key := newKey()
	d, err := s.Store.UpdateDestination(ctx, projectID, id, func(d *Destination, _ int) error {
		if d.Kind != Webhook {
			return fault.New(fault.Conflict, "Only webhooks have a key.").WithFix("Enter the new address of this destination instead.")
		}
		until := s.Clock().UTC().Add(overlap)
		d.Secrets.OldKey, d.Secrets.OldUntil, d.Secrets.Key = d.Secrets.Key, &until, key
		return nil
	})
	if err != nil {
		return "", unknown(err)
	}
	return key, s.Notes.Note(ctx, v, account.ActSecretSet, projectID, d.Name+": signing key")
}

// Remove forgets a destination; what is still to be sent there is not.
func (s *Service) Remove(ctx context.Context, v account.Viewer, projectID, id string) error {
	if _, err := v.Administers(projectID); err != nil {
		return err
	}
	d, err := s.Store.Destination(ctx, projectID, id)
	if err != nil {
		return unknown(err)
	}
	if err := s.Store.DropDestination(ctx, projectID, id); err != nil {
		return unknown(err)
	}
	return s.Notes.Note(ctx, v, account.ActSettings, projectID, "no more notifications to "+d.Name)
}

// SendTest asks for a test message and answers its action, whose answer comes soon.
func (s *Service) SendTest(ctx context.Context, v account.Viewer, projectID, id string) (action.Action, error) {
	actor, err := v.Administers(projectID)
	if err != nil {
		return action.Action{}, err
	}
	d, err := s.Store.Destination(ctx, projectID, id)
	if err != nil {
		return action.Action{}, unknown(err)
	}
	p, err := s.Projects.Project(ctx, projectID)
	if err != nil {
		return action.Action{}, err
	}
	e := Event{ID: eventID(string(Test), uuid.NewString()), Type: Test, Timestamp: s.Clock().UTC().Truncate(time.Millisecond),
		Data: Data{Project: Project{p.ID, p.Name}, Message: "This is a test. Whoever reads it will hear of this project."}}
	return s.ask(ctx, d, e, actor.By())
}

// Deliveries answers the last messages to a destination, for administrators.
func (s *Service) Deliveries(ctx context.Context, v account.Viewer, projectID, id string, limit int) ([]action.Action, error) {
	if _, err := v.Administers(projectID); err != nil {
		return nil, err
	}
	return s.Actions.Store.Actions(ctx, action.Query{ProjectID: projectID, Serial: Serial(id), Limit: limit})
}
