package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tas-service/internal/fault"
	"tas-service/internal/relocate"
)

// raw is one element as the data has it: properties by name, as text.
type raw map[string]string

// UnmarshalJSON takes numbers and truth values for their text too; null is not known.
func (r *raw) UnmarshalJSON(text []byte) error {
	var properties map[string]json.RawMessage
	if err := json.Unmarshal(text, &properties); err != nil {
		return err
	}
	*r = raw{}
	for name, value := range properties {
		var s string
		switch err := json.Unmarshal(value, &s); {
		case string(value) == "null":
		case err == nil:
			(*r)[name] = s
		case value[0] == '{' || value[0] == '[':
			return fault.New(fault.Invalid, "The property %q is not a text.", name)
		default:
			(*r)[name] = string(value)
		}
	}
	return nil
}

// site is two versions of one page: elements of the old one, and those of the new one.
type site struct {
	App        string `json:"app"`
	Targets    []raw  `json:"targets"`
	Candidates []raw  `json:"candidates"`

	old, now []relocate.Element
	gold     []int // the candidate of each target; none if it is not in the new page
}

const mostOfLine = 64 << 20 // bytes: a page of 100,000 elements

// readAll reads every *.jsonl file of a folder, in the order of their names.
func readAll(dir string) ([]*site, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fault.Wrap(fs.ErrNotExist, fault.NotFound, "there is no *.jsonl file in %s", dir).WithFix("Name the folder of the labelled pairs with -data.")
	}
	slices.Sort(names)
	var all []*site
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		sites, err := read(f, name)
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
		all = append(all, sites...)
	}
	return all, nil
}

// none stands for a gold that is not among the candidates. Such a pair counts, and no answer to
// it is right: leaving it out would flatter.
const none = -1

// read reads one site a line.
func read(r io.Reader, name string) ([]*site, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, mostOfLine)
	var all []*site
	for n := 1; lines.Scan(); n++ {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		s := &site{}
		if err := json.Unmarshal(lines.Bytes(), s); err != nil {
			return nil, fault.Wrap(err, fault.Invalid, "line %d of %s is not a site", n, name).WithFix(`Each line is {"app", "targets", "candidates"}, with properties that are text.`)
		}
		s.prepare()
		all = append(all, s)
	}
	return all, lines.Err()
}

func (s *site) prepare() {
	at := map[string]int{}
	for i, c := range s.Candidates {
		if id := c["widget_id"]; id != "" {
			if _, twice := at[id]; !twice {
				at[id] = i
			}
		}
	}
	for _, t := range s.Targets {
		i, has := at[t["widget_id"]]
		if !has {
			i = none
		}
		s.gold = append(s.gold, i)
	}
	s.old, s.now = elements(s.Targets), elements(s.Candidates)
}

// same says whether a candidate is the gold: entries with its label or its path are.
func (s *site) same(a, gold int) bool {
	if a < 0 || gold < 0 {
		return false
	}
	x, y := s.Candidates[a], s.Candidates[gold]
	return a == gold || x["xpath"] != "" && x["xpath"] == y["xpath"] || x["widget_id"] != "" && x["widget_id"] == y["widget_id"]
}

// tolerated says whether a candidate is the gold, above it or below it.
func (s *site) tolerated(a, gold int) bool {
	if a < 0 || gold < 0 {
		return false
	}
	for g := range s.Candidates {
		if !s.same(g, gold) {
			continue
		}
		x, y := s.Candidates[a]["xpath"], s.Candidates[g]["xpath"]
		if a == g || x != "" && y != "" && (x == y || strings.HasPrefix(x, y+"/") || strings.HasPrefix(y, x+"/")) {
			return true
		}
	}
	return false
}

// without answers the candidates that are left when an element is removed, by their index.
func (s *site) without(gold int) []int {
	var left []int
	for i := range s.Candidates {
		if !s.tolerated(i, gold) {
			left = append(left, i)
		}
	}
	return left
}

func elements(raws []raw) []relocate.Element {
	out := make([]relocate.Element, len(raws))
	for i, r := range raws {
		out[i] = element(r)
		out[i].Key = strconv.Itoa(i)
	}
	return out
}

// element puts the data's properties where the product has them. Labels (widget_id) and the
// order of the candidates are left behind: they would give the answer away.
func element(r raw) relocate.Element {
	e := relocate.Element{
		Tag: r["tag"], ID: r["id"], Class: r["class"], NameAttr: r["name"], Type: r["type"], Href: r["href"],
		Alt: r["alt"], Title: r["title"], Hint: r["placeholder"], Value: r["value"], Text: r["text"], Path: r["xpath"], Anchored: r["idxpath"],
	}
	if e.Text == "" && r["visible_text"] != e.Hint {
		e.Text = r["visible_text"]
	}
	if t := r["neighbor_text"]; t != "" {
		e.Near = []string{t}
	} else {
		for _, side := range []string{"above", "below", "left", "right"} {
			if t := r["neighbor_text_"+side]; t != "" {
				e.Near = append(e.Near, t)
			}
		}
	}
	x, hasX := number(r, "x")
	y, hasY := number(r, "y")
	if hasX && hasY {
		w, _ := number(r, "width")
		h, _ := number(r, "height")
		e.Box = &relocate.Box{X: x, Y: y, Width: w, Height: h}
	}
	return e
}

func number(r raw, key string) (float64, bool) {
	v, err := strconv.ParseFloat(strings.TrimSpace(r[key]), 64)
	return v, err == nil
}
