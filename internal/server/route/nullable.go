package route

import (
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// AllowNull has the document say that fields which point to another object, and are not
// left out when they are nil, can be null: huma says so of plain values alone. It is called
// once all operations are registered.
func AllowNull(api huma.API) {
	registry := api.OpenAPI().Components.Schemas
	for name, s := range registry.Map() {
		if t := registry.TypeFromRef("#/components/schemas/" + name); t != nil && t.Kind() == reflect.Struct {
			allowNull(t, s)
		}
	}
}

func allowNull(t reflect.Type, s *huma.Schema) {
	for f := range t.Fields() {
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			if f.Type.Kind() == reflect.Struct {
				allowNull(f.Type, s)
			}
		case f.Type.Kind() != reflect.Pointer || f.Type.Elem().Kind() != reflect.Struct || f.Type.Elem() == reflect.TypeFor[time.Time]() || strings.Contains(rest, "omitempty"):
		case s.Properties[name] != nil && s.Properties[name].Ref != "":
			was := s.Properties[name]
			s.Properties[name] = &huma.Schema{AnyOf: []*huma.Schema{{Ref: was.Ref}, {Type: "null"}}, Description: f.Tag.Get("doc")}
		}
	}
}
