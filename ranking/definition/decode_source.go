package definition

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v4"
)

// Bounds of a file or a body. No definition has a reason to be nested as deeply as maxDepth.
// maxValues bounds YAML, in which a few aliases can stand for any number of values.
const (
	maxDepth  = 32
	maxValues = 200_000
)

// source reads values from YAML or JSON and counts them.
type source struct {
	json   *jsontext.Decoder // nil for YAML
	values int               // read so far
}

// count counts v and refuses it when it is nested too deeply or has too many values before it.
func (s *source) count(v value, depth int) error {
	s.values++
	switch {
	case depth > maxDepth:
		return v.refuse("is nested more than %d levels deep", maxDepth)
	case s.values > maxValues:
		return v.refuse("comes after %d other values; want fewer values", maxValues)
	}
	return nil
}

// parseJSON reads b, which must be exactly one JSON value. path is the path of that value.
func parseJSON(path string, b []byte) (value, error) {
	// readJSON refuses duplicate names itself: the decoder's error does not give the path.
	s := source{json: jsontext.NewDecoder(bytes.NewBuffer(b), jsontext.AllowDuplicateNames(true))}
	v, err := s.readJSON(value{path: path}, 0)
	if err == nil {
		if _, err = s.json.ReadToken(); err == io.EOF {
			return v, nil
		}
		if err == nil {
			return v, value{path: path}.refuse("has further text after the end of the JSON value")
		}
	}
	var fe *FieldError
	var syntax *jsontext.SyntacticError
	switch {
	case errors.As(err, &fe):
		return v, err
	case errors.As(err, &syntax):
		return v, value{path: path}.refuse("is not valid JSON: %v at byte %d", syntax.Err, syntax.ByteOffset)
	default:
		return v, value{path: path}.refuse("is not valid JSON: it ends early")
	}
}

func (s *source) readJSON(v value, depth int) (value, error) {
	if err := s.count(v, depth); err != nil {
		return v, err
	}
	token, err := s.json.ReadToken()
	if err != nil {
		return v, err
	}
	switch v.kind = token.Kind(); v.kind {
	case '"', '0':
		v.text = token.String()
	case '[':
		for s.json.PeekKind() != ']' {
			item, err := s.readJSON(value{path: ItemPath(v.path, len(v.items))}, depth+1)
			if err != nil {
				return v, err
			}
			v.items = append(v.items, item)
		}
		_, err = s.json.ReadToken()
	case '{':
		names := make(map[string]bool)
		for s.json.PeekKind() != '}' {
			name, err := s.json.ReadToken()
			if err != nil {
				return v, err
			}
			f := field{name: name.String()}
			f.path = FieldPath(v.path, f.name)
			if names[f.name] {
				return v, f.refuse("is given twice")
			}
			names[f.name] = true
			if f.value, err = s.readJSON(f.value, depth+1); err != nil {
				return v, err
			}
			v.fields = append(v.fields, f)
		}
		_, err = s.json.ReadToken()
	}
	return v, err
}

// errNoYAML is the error of parseYAML for a text without a value.
var errNoYAML = Invalid("", "is empty; want boards, events or both")

// parseYAML reads a file that is one YAML document. The document has no path, so the paths of
// its fields are their names.
func parseYAML(file []byte) (value, error) {
	var document, another yaml.Node
	loader, err := yaml.NewLoader(bytes.NewReader(file))
	if err == nil {
		err = loader.Load(&document)
	}
	switch {
	case err == io.EOF:
		return value{}, errNoYAML
	case err != nil:
		return value{}, Invalid("", yamlFault(file, err))
	}
	switch err := loader.Load(&another); {
	case err == nil:
		return value{}, Invalid("", "has more than one YAML document; want one, without a second ---")
	case err != io.EOF:
		return value{}, Invalid("", yamlFault(file, err))
	}
	return new(source).readYAML(value{}, &document, 0)
}

func (s *source) readYAML(v value, n *yaml.Node, depth int) (value, error) {
	if err := s.count(v, depth); err != nil {
		return v, err
	}
	tag := n.ShortTag()
	v.line = n.Line
	switch {
	case n.Kind == yaml.DocumentNode:
		return s.readYAML(v, n.Content[0], depth)
	case n.Kind == yaml.AliasNode:
		return s.readYAML(v, n.Alias, depth) // maxDepth ends an alias that contains itself
	case n.Kind == yaml.MappingNode && tag == "!!map":
		v.kind = '{'
		return s.readYAMLFields(v, n, depth)
	case n.Kind == yaml.SequenceNode && tag == "!!seq":
		v.kind = '['
		for _, content := range n.Content {
			item, err := s.readYAML(value{path: ItemPath(v.path, len(v.items))}, content, depth+1)
			if err != nil {
				return v, err
			}
			v.items = append(v.items, item)
		}
		return v, nil
	case n.Kind == yaml.ScalarNode:
		switch tag {
		case "!!null":
			v.kind = 'n'
			return v, nil
		case "!!bool":
			switch strings.ToLower(n.Value) {
			case "true":
				v.kind = 't'
				return v, nil
			case "false":
				v.kind = 'f'
				return v, nil
			}
		case "!!int", "!!float":
			v.kind, v.text = '0', n.Value
			return v, nil
		case "!!str", "!!timestamp", "!!merge": // an unquoted time is a string like any other
			v.kind, v.text = '"', n.Value
			return v, nil
		}
	}
	return v, v.refuse("has the YAML tag %s, which is not allowed for this value; omit the tag", Clip(tag))
}

// readYAMLFields reads the fields of an object. Then it adds the missing ones from the object
// that is merged into it (<<: *other), or from a list of such objects; of the objects in a
// list the earlier one takes precedence.
func (s *source) readYAMLFields(v value, n *yaml.Node, depth int) (value, error) {
	names := make(map[string]bool)
	lines := make(map[string]int)
	var merged []value
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, content := n.Content[i], n.Content[i+1]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		if key.Kind != yaml.ScalarNode || key.ShortTag() == "!!null" {
			return v, v.refuse("has a key that is not a name, in line %d; a name with braces needs quotes, such as \"fans:{star}\"", key.Line)
		}
		f := field{name: key.Value}
		f.path = FieldPath(v.path, f.name)
		if names[f.name] {
			if lines[f.name] == key.Line {
				return v, f.refuse("is given twice, in line %d", key.Line)
			}
			return v, f.refuse("is given twice, in lines %d and %d", lines[f.name], key.Line)
		}
		names[f.name], lines[f.name] = true, key.Line
		merge := key.ShortTag() == "!!merge"
		if merge {
			f.path = v.path // its fields become fields of v
		}
		var err error
		if f.value, err = s.readYAML(f.value, content, depth+1); err != nil {
			return v, err
		}
		switch {
		case merge && f.kind == '[':
			merged = f.items
		case merge:
			merged = []value{f.value}
		default:
			v.fields = append(v.fields, f)
		}
	}
	for _, other := range merged {
		if other.kind != '{' {
			return v, v.refuse("merges %s with <<; want an object", kinds[other.kind])
		}
		for _, f := range other.fields {
			if !names[f.name] {
				names[f.name] = true
				v.fields = append(v.fields, f)
			}
		}
	}
	return v, nil
}

// json appends v to b as compact JSON. It refuses numbers of YAML that JSON does not have.
func (v value) json(b []byte) ([]byte, error) {
	var err error
	switch v.kind {
	case '"':
		quoted, err := v.quote(v.text)
		return append(b, quoted...), err
	case '0':
		if !jsontext.Value(v.text).IsValid() {
			return b, v.refuse("is %s; want a number in the form of JSON, such as 1.5", Clip(v.text))
		}
		return append(b, v.text...), nil
	case '[':
		b = append(b, '[')
		for i, item := range v.items {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = item.json(b); err != nil {
				return b, err
			}
		}
		return append(b, ']'), nil
	case '{':
		b = append(b, '{')
		for i, f := range v.fields {
			if i > 0 {
				b = append(b, ',')
			}
			name, err := f.quote(f.name)
			if err != nil {
				return b, err
			}
			if b, err = f.json(append(append(b, name...), ':')); err != nil {
				return b, err
			}
		}
		return append(b, '}'), nil
	default:
		return append(b, map[jsontext.Kind]string{'n': "null", 't': "true", 'f': "false"}[v.kind]...), nil
	}
}

// quote writes s as a JSON string; an error has the path of v.
func (v value) quote(s string) (string, error) {
	b, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		return "", v.refuse("is not valid UTF-8")
	}
	return string(b), nil
}
