package main

import (
	"bufio"
	"embed"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"tas-service/internal/locator"
	"tas-service/internal/relocate"
)

//go:embed driver
var driverFiles embed.FS

// flow is a test as a tests repository would have it.
type flow struct {
	app   string
	name  string
	setup []request
	steps []step
}

// request is made before the first step: it signs in or brings data.
type request struct {
	Path string            `json:"path"`
	Form map[string]string `json:"form,omitempty"`
	Data map[string]any    `json:"data,omitempty"`
}

// step is one action or assertion.
type step struct {
	Verb    string `json:"verb"`
	Locator string `json:"locator,omitempty"`
	Value   string `json:"value,omitempty"`
}

// readFlows reads an app's flows: "verb locator = value" a line.
func readFlows(app string) (out []*flow, err error) {
	f, err := driverFiles.Open("driver/flows/" + app + ".flow")
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		verb, rest, _ := strings.Cut(line, " ")
		switch {
		case line == "" || line[0] == '#':
			continue
		case verb == "flow":
			out = append(out, &flow{app: app, name: rest})
			continue
		case len(out) == 0:
			return nil, fmt.Errorf("%s: line %d comes before any flow", app, n)
		}
		in := out[len(out)-1]
		words := strings.Fields(rest)
		switch verb {
		case "as":
			in.setup = append(in.setup, request{Path: "/signin", Form: map[string]string{"email": words[0], "password": words[1]}})
		case "has":
			n, err := strconv.Atoi(words[1])
			if err != nil {
				return nil, fmt.Errorf("%s: line %d: %w", app, n, err)
			}
			in.setup = append(in.setup, request{Path: "/api/cart/items", Data: map[string]any{"product": words[0], "quantity": n}})
		default:
			code, value, _ := strings.Cut(" "+rest, " = ")
			in.steps = append(in.steps, step{Verb: verb, Locator: strings.TrimSpace(code), Value: value})
		}
	}
	return out, lines.Err()
}

// positional are steps whose locator counts places: their element is not named by anything.
var positional = regexp.MustCompile(`\.(first|last|nth)\(`)

// changeable reports whether a mutation may aim at a step.
func (s step) changeable() bool {
	return s.Locator != "" && s.Verb != "count" && s.Verb != "hidden" && !positional.MatchString(s.Locator)
}

// styles answers other ways in which authors of tests write a locator for an element; which of
// them find it alone is for the browser to say.
func styles(e *relocate.Element) []string {
	q := locator.Quote
	var out, own []string
	add := func(format string, args ...any) { own = append(own, fmt.Sprintf(format, args...)) }
	if e.TestID != "" {
		add("getByTestId(%s)", q(e.TestID))
	}
	if e.Role != "" && e.Name != "" && len(e.Name) < 60 {
		add("getByRole(%s, { name: %s })", q(e.Role), q(e.Name))
		add("getByRole(%s, { name: %s, exact: true })", q(e.Role), q(e.Name))
		switch e.Tag {
		case "input", "select", "textarea", "output":
			add("getByLabel(%s)", q(e.Name))
			add("getByLabel(%s, { exact: true })", q(e.Name))
		}
	}
	if t := e.OwnText; t != "" && t == e.Text && len(t) < 60 {
		add("getByText(%s)", q(t))
		add("getByText(%s, { exact: true })", q(t))
	}
	if e.Hint != "" {
		add("getByPlaceholder(%s)", q(e.Hint))
	}
	if e.Title != "" {
		add("getByTitle(%s)", q(e.Title))
	}
	out = append(out, own...)
	if region, _, _ := strings.Cut(e.Landmark, " "); region != "" {
		for _, o := range own {
			out = append(out, fmt.Sprintf("getByRole(%s).%s", q(region), o))
		}
	}
	if e.RowKey != "" && len(e.RowKey) < 40 {
		for _, o := range own {
			out = append(out, fmt.Sprintf("getByRole('listitem').filter({ hasText: %s }).%s", q(e.RowKey), o), fmt.Sprintf("getByRole('row').filter({ hasText: %s }).%s", q(e.RowKey), o))
		}
	}
	css := func(s string) { out = append(out, "locator("+q(s)+")") }
	plain := regexp.MustCompile(`^[A-Za-z_][\w-]*$`)
	if plain.MatchString(e.ID) {
		css("#" + e.ID)
		css(e.Tag + "#" + e.ID)
	}
	var classes []string
	for _, c := range strings.Fields(e.Class) {
		if plain.MatchString(c) {
			classes = append(classes, c)
		}
	}
	if len(classes) > 0 {
		css("." + classes[0])
		css(e.Tag + "." + strings.Join(classes, "."))
		css("main ." + classes[0])
	}
	if e.TestID != "" {
		css(`[data-testid="` + e.TestID + `"]`)
	}
	if e.NameAttr != "" {
		css(e.Tag + `[name="` + e.NameAttr + `"]`)
	}
	if e.Type != "" {
		css(e.Tag + `[type="` + e.Type + `"]`)
	}
	if strings.HasPrefix(e.Href, "/") {
		css(`a[href="` + e.Href + `"]`)
	}
	var tags []string
	for _, s := range strings.Split(strings.Trim(e.Path, "/"), "/") {
		tag, _, _ := strings.Cut(s, "[")
		tags = append(tags, tag)
	}
	for n := 2; n <= 4 && n < len(tags); n++ {
		css(strings.Join(tags[len(tags)-n:], " > "))
		css(strings.Join(tags[len(tags)-n:], " "))
	}
	return out
}
