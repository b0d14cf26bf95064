package web

import (
	"context"

	"tas-service/internal/account"
)

// nameOf says whom a record names, a person by the name that they have now.
func (a *App) nameOf(ctx context.Context, by string) string {
	id := account.PersonBy(by)
	switch {
	case by == "":
		return "somebody"
	case by == "service":
		return "the service"
	case by == string(account.ViaOperator):
		return "the operator"
	case account.IsKey(by):
		return "an API key"
	case id == "":
		return by // of before people had IDs in records
	}
	if v := visitOf(ctx); v != nil && v.Viewer != nil && v.Viewer.Person.ID == id {
		return v.Viewer.Person.Name
	}
	if a.People != nil {
		if p, err := a.People.Records.Person(ctx, id); err == nil {
			return p.Name
		}
	}
	return "somebody who is not here any more"
}

// Who says whom a record names, for templates. Each is looked up once.
func (v *view) Who(by string) string {
	name, known := v.names[by]
	if !known {
		name = v.nameOf(by)
		v.names[by] = name
	}
	return name
}
