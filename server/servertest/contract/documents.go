//go:build !race

package contract

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v4"

	"rankcast/web"
)

// The documents of the contract, by their names in references.
const (
	httpDocument = "openapi.yaml"
	liveDocument = "asyncapi.yaml"
)

// object is a mapping of a document.
type object = map[string]any

// documents are both documents, decoded.
var documents = sync.OnceValue(func() map[string]object {
	decoded := make(map[string]object)
	for _, name := range []string{httpDocument, liveDocument} {
		var document object
		if err := yaml.Unmarshal(source(name), &document); err != nil {
			panic(fmt.Errorf("decode %s: %w", name, err))
		}
		nameDocument(document, name)
		decoded[name] = document
	}
	return decoded
})

// nameDocument adds the name of the document to all references within it.
func nameDocument(part any, name string) {
	switch part := part.(type) {
	case []any:
		for _, inner := range part {
			nameDocument(inner, name)
		}
	case object:
		if to, ok := part["$ref"].(string); ok && strings.HasPrefix(to, "#") {
			part["$ref"] = name + to
		}
		for _, inner := range part {
			nameDocument(inner, name)
		}
	}
}

// source is the text of a document.
func source(name string) []byte {
	text, err := web.Files.ReadFile("contract/" + name)
	if err != nil {
		panic(err)
	}
	return text
}

// schema is a schema of a document.
type schema struct {
	name string // of the component; "" for a schema within another one
	object
}

// component is a schema by its name.
func component(document, name string) schema {
	schemas := componentsOf(document, "schemas")
	found, ok := schemas[name].(object)
	if !ok {
		panic(fmt.Sprintf("%s has no schema %s", document, name))
	}
	return schema{name, found}.resolved()
}

// componentOf follows a reference to a component of any type.
func componentOf(part object) object {
	reference, ok := part["$ref"].(string)
	if !ok {
		return part
	}
	document, place, _ := strings.Cut(reference, "#")
	found := documents()[document]
	for _, name := range strings.Split(place, "/")[1:] {
		found = found[name].(object)
	}
	return found
}

// components are the names of all schemas of a document, sorted.
func components(document string) []string {
	return slices.Sorted(maps.Keys(componentsOf(document, "schemas")))
}

// componentsOf are the components of a type, such as schemas, by name.
func componentsOf(document, kind string) object {
	return documents()[document]["components"].(object)[kind].(object)
}

// below is a schema within another one.
func below(inner any) schema {
	found, _ := inner.(object)
	return schema{"", found}.resolved()
}

// resolved follows a reference.
func (s schema) resolved() schema {
	reference, ok := s.object["$ref"].(string)
	if !ok {
		return s
	}
	document, place, _ := strings.Cut(reference, "#")
	return component(document, strings.TrimPrefix(place, "/components/schemas/"))
}

// list are the schemas of a keyword such as oneOf.
func (s schema) list(keyword string) []schema {
	all, _ := s.object[keyword].([]any)
	found := make([]schema, len(all))
	for i, one := range all {
		found[i] = below(one)
	}
	return found
}

// properties are the properties of s and of the schemas that it is composed of.
func (s schema) properties() map[string]schema {
	found := make(map[string]schema)
	for _, part := range s.list("allOf") {
		maps.Copy(found, part.properties())
	}
	own, _ := s.object["properties"].(object)
	for name, inner := range own {
		if _, composed := found[name]; !composed { // a composition narrows some that its parts have
			found[name] = below(inner)
		}
	}
	return found
}

// ownProperties are the properties of s, without those of the components that it is composed of.
func (s schema) ownProperties() map[string]schema {
	own, others := s.properties(), make(map[string]schema)
	for _, part := range s.list("allOf") {
		if part.name != "" {
			maps.Copy(others, part.properties())
		}
	}
	maps.DeleteFunc(own, func(name string, _ schema) bool { _, theirs := others[name]; return theirs })
	return own
}

// required are the names of the properties that an object must have.
func (s schema) required() (names []string) {
	for _, part := range s.list("allOf") {
		names = append(names, part.required()...)
	}
	own, _ := s.object["required"].([]any)
	for _, name := range own {
		names = append(names, name.(string))
	}
	return names
}
