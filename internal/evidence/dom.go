package evidence

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

// Bounds of a page.
const (
	maxNodes = 60_000
	maxDepth = 400
)

// node is a node of a snapshot, as the trace has it: a text, an element, or a reference to a
// node of an earlier snapshot of the same frame.
type node struct {
	text  string
	tag   string // "" for a text or a reference
	attrs []attr
	kids  []*node
	ref   bool
	ago   int
	index int
}

type attr struct{ name, value string }

var errSnapshot = errors.New("this is no snapshot")

// UnmarshalJSON reads Playwright's compact form: "text", [[ago, index]] or
// [name, {attributes}, children…].
func (n *node) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return n.read(d, 0)
}

// read reads one node in one pass, however deep it is.
func (n *node) read(d *json.Decoder, depth int) error {
	if depth > maxDepth {
		return errSnapshot
	}
	switch t, err := d.Token(); x := t.(type) {
	case string:
		n.text = x
		return err
	case json.Delim:
		if err != nil || x != '[' || !d.More() {
			return errSnapshot
		}
	default:
		return errSnapshot
	}
	switch t, err := d.Token(); x := t.(type) {
	case json.Delim:
		if err != nil || x != '[' {
			return errSnapshot
		}
		n.ref = true
		for _, into := range []*int{&n.ago, &n.index} {
			t, err := d.Token()
			num, ok := t.(json.Number)
			at, aerr := num.Int64()
			if err != nil || !ok || aerr != nil || at < 0 || at > 1<<30 {
				return errSnapshot
			}
			*into = int(at)
		}
		for range 2 {
			if t, err := d.Token(); err != nil || t != json.Delim(']') {
				return errSnapshot
			}
		}
		return nil
	case string:
		if err != nil || x == "" {
			return errSnapshot
		}
		n.tag = strings.ToLower(x)
	default:
		return errSnapshot
	}
	if d.More() {
		if err := n.readAttrs(d); err != nil {
			return err
		}
	}
	for d.More() {
		kid := &node{}
		if err := kid.read(d, depth+1); err != nil {
			return err
		}
		n.kids = append(n.kids, kid)
	}
	_, err := d.Token()
	return err
}

func (n *node) readAttrs(d *json.Decoder) error {
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errSnapshot
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return errSnapshot
		}
		var value any
		if d.Decode(&value) != nil {
			return errSnapshot
		}
		text, _ := value.(string)
		key, _ := name.(string)
		n.attrs = append(n.attrs, attr{strings.ToLower(key), text})
	}
	_, err := d.Token()
	return err
}

// snapshot is a frame at one moment.
type snapshot struct {
	callID string
	phase  string // "before", "action", "after"
	url    string
	frame  string
	main   bool
	html   *node
	number int     // in its frame
	order  []*node // its own nodes, children first, as references count them
}

// nodes answers the nodes that references can mean.
func (s *snapshot) nodes() []*node {
	if s.order == nil {
		s.order = []*node{}
		var visit func(n *node)
		visit = func(n *node) {
			if n.ref {
				return
			}
			for _, k := range n.kids {
				visit(k)
			}
			s.order = append(s.order, n)
		}
		visit(s.html)
	}
	return s.order
}

// Node is a node of a page with all its references resolved.
type Node struct {
	Tag    string // "" for a text
	Text   string // of a text
	Attrs  map[string]string
	Kids   []*Node
	Parent *Node
	target bool
}

// frames are the snapshots of each frame in their order.
type frames map[string][]*snapshot

func (f frames) add(s *snapshot) {
	s.number = len(f[s.frame])
	f[s.frame] = append(f[s.frame], s)
}

// page resolves a snapshot; false for one that is out of bounds or refers to what is not
// there.
func (f frames) page(s *snapshot) (*Node, bool) {
	count, whole := 0, true
	var build func(n *node, in *snapshot, parent *Node, depth int) *Node
	build = func(n *node, in *snapshot, parent *Node, depth int) *Node {
		for hops := 0; n.ref; hops++ {
			to := in.number - n.ago
			if n.ago < 0 || to < 0 || to >= len(f[in.frame]) || hops > 100 {
				whole = false
				return nil
			}
			in = f[in.frame][to]
			nodes := in.nodes()
			if n.index < 0 || n.index >= len(nodes) {
				whole = false
				return nil
			}
			n = nodes[n.index]
		}
		if count++; count > maxNodes || depth > maxDepth {
			whole = false
			return nil
		}
		out := &Node{Tag: n.tag, Text: n.text, Parent: parent}
		if n.tag == "" {
			return out
		}
		out.Attrs = make(map[string]string, len(n.attrs))
		for _, a := range n.attrs {
			out.Attrs[a.name] = a.value
		}
		_, out.target = out.Attrs[targetMark]
		for _, k := range n.kids {
			if kid := build(k, in, out, depth+1); kid != nil {
				out.Kids = append(out.Kids, kid)
			}
		}
		return out
	}
	root := build(s.html, s, nil, 0)
	return root, whole && root != nil
}

// targetMark is the attribute by which Playwright marks the element of an action.
const targetMark = "__playwright_target__"
