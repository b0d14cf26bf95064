package account

import (
	"context"

	"tas-service/internal/fault"
)

// Members answers who has a role in a project, for whoever is a member of it.
func (p *People) Members(ctx context.Context, v Viewer, projectID string) ([]Member, error) {
	if _, err := v.In(projectID); err != nil {
		return nil, err
	}
	return p.Records.Members(ctx, projectID)
}

// Invite answers the path of a link that makes whoever opens it a member of a project. An
// e-mail, if given, is the only one that may use it.
func (p *People) Invite(ctx context.Context, v Viewer, projectID string, role Role, email string) (path string, err error) {
	if _, err := v.Administers(projectID); err != nil {
		return "", err
	}
	if role.rank() == 0 {
		return "", noRole()
	}
	if email != "" {
		if email, err = checkEmail(email); err != nil {
			return "", err
		}
	}
	path, err = p.link(ctx, Link{Kind: LinkMember, ProjectID: projectID, Role: role, Email: email, MadeBy: byPerson + v.Person.ID})
	if err != nil {
		return "", err
	}
	return path, p.note(ctx, v, Entry{Act: ActLinkMade, ProjectID: projectID, About: aboutLink(role, email)})
}

// InviteAdministrator answers the path of a link that makes an administrator of the
// installation.
func (p *People) InviteAdministrator(ctx context.Context, v Viewer, email string) (path string, err error) {
	if err := v.MayAdminister(); err != nil {
		return "", err
	}
	if email != "" {
		if email, err = checkEmail(email); err != nil {
			return "", err
		}
	}
	path, err = p.link(ctx, Link{Kind: LinkAdministrator, Email: email, MadeBy: byPerson + v.Person.ID})
	if err != nil {
		return "", err
	}
	return path, p.note(ctx, v, Entry{Act: ActLinkMade, About: aboutLink("administrator of the installation", email)})
}

func aboutLink(role Role, email string) string {
	if email == "" {
		return string(role)
	}
	return string(role) + " for " + email
}

func noRole() error {
	return fault.New(fault.Invalid, "There is no such role.").WithFix("Choose viewer, member or administrator.").At("role", "viewer, member or administrator")
}

// Invitations answers the open invitations to a project; with an empty projectID those
// for administrators of the installation.
func (p *People) Invitations(ctx context.Context, v Viewer, projectID string) ([]Link, error) {
	if projectID == "" {
		if err := v.MayAdminister(); err != nil {
			return nil, err
		}
		return p.Records.Links(ctx, LinkAdministrator, "", p.Clock())
	}
	if _, err := v.Administers(projectID); err != nil {
		return nil, err
	}
	return p.Records.Links(ctx, LinkMember, projectID, p.Clock())
}

// Withdraw ends an open invitation.
func (p *People) Withdraw(ctx context.Context, v Viewer, projectID, linkID string) error {
	err := v.MayAdminister()
	if projectID != "" {
		_, err = v.Administers(projectID)
	}
	if err != nil {
		return err
	}
	had, err := p.Records.DropLink(ctx, projectID, linkID)
	if err != nil {
		return err
	}
	if !had {
		return fault.New(fault.NotFound, "This invitation is over already.").WithFix("Load the page again.")
	}
	return p.note(ctx, v, Entry{Act: ActLinkRevoked, ProjectID: projectID})
}

// SetRole changes a member's role in a project.
func (p *People) SetRole(ctx context.Context, v Viewer, projectID, personID string, role Role) error {
	if _, err := v.Administers(projectID); err != nil {
		return err
	}
	if role.rank() == 0 {
		return noRole()
	}
	who, err := p.Records.Person(ctx, personID)
	if err == nil {
		err = p.Records.SetMembership(ctx, Membership{ProjectID: projectID, PersonID: personID, Role: role})
	}
	if fault.KindOf(err) == fault.NotFound {
		return noMember()
	}
	if err != nil {
		return err
	}
	return p.note(ctx, v, Entry{Act: ActRoleChanged, ProjectID: projectID, About: who.Email + " is " + string(role)})
}

func noMember() error {
	return fault.New(fault.NotFound, "This person is no member of the project.").WithFix("Load the page again, or invite them.")
}

// Remove takes a member out of a project. Members may leave by themselves.
func (p *People) Remove(ctx context.Context, v Viewer, projectID, personID string) error {
	if personID != v.Person.ID {
		if _, err := v.Administers(projectID); err != nil {
			return err
		}
	} else if _, err := v.In(projectID); err != nil {
		return err
	}
	who, err := p.Records.Person(ctx, personID)
	if fault.KindOf(err) == fault.NotFound {
		return noMember()
	}
	if err != nil {
		return err
	}
	had, err := p.Records.DropMembership(ctx, projectID, personID)
	if err != nil {
		return err
	}
	if !had {
		return noMember()
	}
	return p.note(ctx, v, Entry{Act: ActMemberRemoved, ProjectID: projectID, About: who.Email})
}

// All answers everybody who can sign in, for an administrator of the installation.
func (p *People) All(ctx context.Context, v Viewer) ([]Person, error) {
	if err := v.MayAdminister(); err != nil {
		return nil, err
	}
	return p.Records.People(ctx)
}

// SetAdministrator makes a person an administrator of the installation, or no longer. The
// last one stays: fault.Conflict.
func (p *People) SetAdministrator(ctx context.Context, v Viewer, personID string, administrator bool) error {
	if err := v.MayAdminister(); err != nil {
		return err
	}
	var who Person
	err := p.Records.UpdatePerson(ctx, personID, func(x *Person, others int) error {
		if x.Administrator && !administrator && others == 0 {
			return last()
		}
		x.Administrator = administrator
		who = *x
		return nil
	})
	if err != nil {
		return noPerson(err)
	}
	about := who.Email + " is an administrator"
	if !administrator {
		about = who.Email + " is no administrator any more"
	}
	return p.note(ctx, v, Entry{Act: ActAdministrator, About: about})
}

// RemovePerson removes a person with their sessions and roles. The last administrator of
// the installation stays: fault.Conflict.
func (p *People) RemovePerson(ctx context.Context, v Viewer, personID string) error {
	if err := v.MayAdminister(); err != nil {
		return err
	}
	var who Person
	err := p.Records.RemovePerson(ctx, personID, func(x Person, others int) error {
		if x.Administrator && others == 0 {
			return last()
		}
		who = x
		return nil
	})
	if err != nil {
		return noPerson(err)
	}
	return p.note(ctx, v, Entry{Act: ActPersonRemoved, About: who.Email})
}

func last() error {
	return fault.New(fault.Conflict, "This is the last administrator of the installation.").WithFix("Make somebody else an administrator first.")
}

func noPerson(err error) error {
	if fault.KindOf(err) == fault.NotFound {
		return fault.New(fault.NotFound, "This person is not here any more.").WithFix("Load the page again.")
	}
	return err
}

// Audit answers a page of the audit log and whether there is more: of one project for its
// administrators, of all for the installation's.
func (p *People) Audit(ctx context.Context, v Viewer, q AuditQuery) (entries []Entry, more bool, err error) {
	err = v.MayAdminister()
	if q.ProjectID != "" {
		_, err = v.Administers(q.ProjectID)
	}
	if err != nil {
		return nil, false, err
	}
	limit := q.Limit
	q.Limit++
	entries, err = p.Records.Audit(ctx, q)
	if len(entries) > limit {
		return entries[:limit], true, err
	}
	return entries, false, err
}
