package relocate

import (
	"regexp"
	"slices"
	"strings"
)

// Each veto answers why a candidate must not be healed to, whatever its score; "" where nothing
// speaks against it. What is not known never vetoes.

// vetoes answers all that speaks against a candidate.
func vetoes(old, now *prepared, oldPage, page *Page) []string {
	var out []string
	for _, v := range []string{
		destructive(old, now), nothingSaid(old, now), otherRole(old, now), unusable(old, now),
		otherName(old, now, oldPage, page), otherAddress(old, now, page), otherRow(old, now, page), otherForm(old, now, page),
	} {
		if v != "" {
			out = append(out, v)
		}
	}
	return out
}

// harmful answers words of names of controls that cannot be undone.
func harmful() []string {
	return []string{
		"delete", "remove", "destroy", "erase", "wipe", "purge", "discard", "drop", "reset", "revoke", "cancel", "terminate", "deactivate", "disable",
		"unsubscribe", "archive", "uninstall", "clear", "reject", "refund", "pay", "purchase",
		"löschen", "entfernen", "abbrechen", "stornieren", "supprimer", "effacer", "annuler", "eliminar", "borrar", "cancelar", "eliminare", "verwijderen", "excluir", "apagar",
	}
}

// destructive is a word of harm that the old name did not have.
func destructive(old, now *prepared) string {
	had := split(old.label + " " + old.ID + " " + old.TestID + " " + old.Title)
	for _, w := range split(now.label + " " + now.Title) {
		if slices.Contains(harmful(), w) && !slices.Contains(had, w) {
			return "its name has the word “" + w + "”, which the old one had not"
		}
	}
	return ""
}

// empty are names that say that a name is missing: what programs show where they have nothing to
// show, templates that nobody filled in, and keys of translations.
var empty = regexp.MustCompile(`(?i)^(?:undefined|null|nan|none|unknown|n/?a|tbd|todo|error|not (?:available|found)|no (?:results?|data|name|label|title)|missing\b.*|\[?object object\]?|.*(?:\{\{|\}\}|\$\{|%[sd]\b).*|[a-z]+(?:[._][a-z]+){2,})$`)

// nothingSaid is a name that says that a name is missing, where the old one said something.
func nothingSaid(old, now *prepared) string {
	if old.label == now.label || empty.MatchString(old.label) || !empty.MatchString(now.label) {
		return ""
	}
	return "its name “" + now.label + "” is none: the application may have lost it"
}

// otherName is the name of something else of the old page that moved here.
func otherName(old, now *prepared, oldPage, page *Page) string {
	if now.label == "" || now.label == old.label || page.controls(now.labelHash) > oldPage.controls(now.labelHash) {
		return ""
	}
	for _, i := range oldPage.called[now.labelHash] {
		if o := &oldPage.elements[i]; o != old && (o.kind == press || o.kind == field) && !related(o.steps, old.steps) && (old.kind == press || old.kind == field) {
			return "it is called “" + now.label + "”, as something else was"
		}
	}
	return ""
}

// controls counts the controls of a name, without what they are in or hold.
func (p *Page) controls(label word) int {
	var seen []*prepared
	for _, i := range p.called[label] {
		e := &p.elements[i]
		if (e.kind == press || e.kind == field) && !slices.ContainsFunc(seen, func(o *prepared) bool { return related(o.steps, e.steps) }) {
			seen = append(seen, e)
		}
	}
	return len(seen)
}

// otherRole is a role to which the same action means something else: a field is not a button.
// Links and buttons may stand for each other, and so may plain boxes for anything.
func otherRole(old, now *prepared) string {
	a, b := old.kind, now.kind
	conflict := a == field && (b == press || b == heading) || b == field && (a == press || a == heading)
	if a == field && b == field && old.role != now.role {
		toggles := []string{"checkbox", "radio", "switch"}
		conflict = slices.Contains(toggles, old.role) != slices.Contains(toggles, now.role)
	}
	if conflict {
		return "it is a " + now.roleName() + ", the old one a " + old.roleName()
	}
	return ""
}

func (e *prepared) roleName() string {
	if e.role != "" {
		return e.role
	}
	return e.Tag
}

// unusable is an element that nobody can use, where the old one could be used.
func unusable(old, now *prepared) string {
	switch {
	case now.Hidden && !old.Hidden:
		return "it is not visible"
	case now.Disabled && !old.Disabled:
		return "it is disabled"
	}
	return ""
}

// otherAddress is a link to another place while the old place is still linked from the page.
func otherAddress(old, now *prepared, page *Page) string {
	a, b := pathOf(old.href), pathOf(now.href)
	if a == "" || b == "" || a == b {
		return ""
	}
	for i := range page.elements {
		if e := &page.elements[i]; e.href != "" && pathOf(e.href) == a && !related(e.steps, now.steps) {
			return "it leads to " + b + ", and the page still links " + a
		}
	}
	return ""
}

func pathOf(address string) string {
	address, _, _ = strings.Cut(address, "?")
	return address
}

// otherRow is an element of another row while the old row is still there.
func otherRow(old, now *prepared, page *Page) string {
	if old.RowKey == "" || now.RowKey == "" || plain(old.RowKey) == plain(now.RowKey) {
		return ""
	}
	if !page.rows[plain(old.RowKey)] {
		return ""
	}
	return "it is in the row “" + now.RowKey + "”, and the row “" + old.RowKey + "” is still there"
}

// otherForm is an element of another form while the old form is still there.
func otherForm(old, now *prepared, page *Page) string {
	if old.Form == "" || now.Form == "" || old.Form == now.Form {
		return ""
	}
	if !page.forms[old.Form] {
		return ""
	}
	return "it is in the form “" + now.Form + "”, and the form “" + old.Form + "” is still there"
}
