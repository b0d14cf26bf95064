package evidence

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Bounds of what is looked at of requests' bodies.
const (
	maxBody   = 1 << 20 // of one
	maxBodies = 200
	maxNames  = 60 // of one request
	maxName   = 60 // bytes
	maxNested = 6  // objects in each other
)

// posted is the body of a request as a trace has it: forms are in it, other bodies in a file of
// their own.
type posted struct {
	Type   string   `json:"mimeType"`
	Params []header `json:"params"`
	Hash   string   `json:"_sha1"`
}

// names gathers the names under which a request carries a value. The values are not kept: people
// type them.
type names map[string]bool

func (n names) add(name, value string) {
	if !named.MatchString(name) {
		name = "{}"
	}
	if name = cut(name, maxName); strings.TrimSpace(value) != "" && name != "" && len(n) < maxNames {
		n[name] = true
	}
}

// named are names that programs give; what else stands in the place of one may have been typed.
var named = regexp.MustCompile(`^[\w$.:{}\[\]?-]+$`)

// property answers the name of a property of JSON, which may be data where objects are maps.
func property(name string) string {
	if !named.MatchString(name) || changing.MatchString(name) {
		return "{}"
	}
	return name
}

func (n names) String() string {
	return strings.Join(slices.Sorted(maps.Keys(n)), ",")
}

func cut(s string, n int) string {
	return strings.ToValidUTF8(s[:min(len(s), n)], "")
}

// query adds the parameters of an address.
func (n names) query(raw string) {
	u, err := url.Parse(raw)
	if err != nil {
		return
	}
	for name, values := range u.Query() {
		n.add("?"+name, strings.Join(values, ""))
	}
}

// body adds the fields of a body: a form's, of whichever encoding, or those of JSON with their
// paths ("items[].id").
func (n names) body(kind string, body []byte) {
	media, params, err := mime.ParseMediaType(kind)
	switch {
	case err != nil:
	case media == "application/x-www-form-urlencoded":
		fields, err := url.ParseQuery(string(body))
		if err != nil {
			return
		}
		for name, values := range fields {
			n.add(name, strings.Join(values, ""))
		}
	case media == "multipart/form-data" && params["boundary"] != "":
		in := multipart.NewReader(bytes.NewReader(body), params["boundary"])
		for range maxNames {
			p, err := in.NextPart()
			if err != nil {
				return
			}
			some, err := io.ReadAll(io.LimitReader(p, 64))
			if err != nil {
				return
			}
			n.add(p.FormName(), string(some)+p.FileName())
		}
	case strings.HasSuffix(media, "json"):
		var v any
		if json.Unmarshal(body, &v) == nil {
			n.json("", v, 0)
		}
	}
}

func (n names) json(path string, v any, depth int) {
	switch x := v.(type) {
	case map[string]any:
		if depth == maxNested {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(x)) {
			n.json(strings.TrimPrefix(path+"."+property(name), "."), x[name], depth+1)
		}
	case []any:
		if depth == maxNested {
			return
		}
		for _, each := range x[:min(len(x), maxNames)] {
			n.json(path+"[]", each, depth+1)
		}
	case string:
		n.add(path, x)
	case nil:
	default:
		n.add(path, "is there")
	}
}

// fill says of each request under which names it carried values.
func (t *tracing) fill(z *zip.Reader) {
	bodies := map[string]*zip.File{}
	for _, f := range z.File {
		if name, is := strings.CutPrefix(f.Name, "resources/"); is {
			bodies[name] = f
		}
	}
	read := 0
	for i := range t.went {
		r := &t.went[i]
		all := names{}
		all.query(r.address)
		for _, p := range r.body.Params {
			all.add(p.Name, p.Value)
		}
		if f := bodies[r.body.Hash]; f != nil && len(r.body.Params) == 0 && f.UncompressedSize64 <= maxBody && read < maxBodies {
			read++
			if text, err := unzip(f, maxBody); err == nil {
				all.body(r.body.Type, text)
			}
		}
		r.Filled = all.String()
	}
}

// unzip reads a file of a zip, and no more of it than so many bytes.
func unzip(f *zip.File, most int64) ([]byte, error) {
	in, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer in.Close() //nolint:errcheck // it was only read
	return io.ReadAll(io.LimitReader(in, most))
}
