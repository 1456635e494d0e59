package definition

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
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
func (s *source) count(v Value, depth int) error {
	s.values++
	switch {
	case depth > maxDepth:
		return v.Refuse("is nested more than %d levels deep", maxDepth)
	case s.values > maxValues:
		return v.Refuse("comes after %d other values; want fewer values", maxValues)
	}
	return nil
}

// parseJSON reads b, which must be exactly one JSON value. path is the path of that value.
func parseJSON(path string, b []byte) (Value, error) {
	// readJSON refuses duplicate names itself: the decoder's error does not give the path.
	s := source{json: jsontext.NewDecoder(bytes.NewBuffer(b), jsontext.AllowDuplicateNames(true))}
	v, err := s.readJSON(Value{Path: path}, 0)
	if err == nil {
		if _, err = s.json.ReadToken(); err == io.EOF {
			return v, nil
		}
		if err == nil {
			return v, Value{Path: path}.Refuse("has further text after the end of the JSON value")
		}
	}
	var fe *FieldError
	var syntax *jsontext.SyntacticError
	switch {
	case errors.As(err, &fe):
		return v, err
	case errors.As(err, &syntax):
		return v, SyntaxFault(path, b, syntax)
	default:
		return v, Value{Path: path}.Refuse("is not valid JSON: it ends early")
	}
}

// SyntaxFault returns the FieldError about the JSON b at path, which a decoder has refused. If only a text in it is not
// well formed, such as "\ud83d", half of an emoji, the error names the field of that text.
func SyntaxFault(path string, b []byte, err *jsontext.SyntacticError) error {
	anyText := []jsontext.Options{jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)}
	if errors.Is(err, jsontext.ErrDuplicateName) || !jsontext.Value(b).IsValid(anyText...) {
		return Invalid(path, fmt.Sprintf("is not valid JSON: %v at byte %d", err.Err, err.ByteOffset))
	}
	for token := range err.JSONPointer.Tokens() {
		if i, noIndex := strconv.Atoi(token); noIndex == nil {
			path = ItemPath(path, i)
		} else {
			path = FieldPath(path, token)
		}
	}
	return Invalid(path, "is not well-formed text: it has half of a character, as an emoji that was cut in two")
}

func (s *source) readJSON(v Value, depth int) (Value, error) {
	if err := s.count(v, depth); err != nil {
		return v, err
	}
	token, err := s.json.ReadToken()
	if err != nil {
		return v, err
	}
	switch v.Kind = token.Kind(); v.Kind {
	case '"', '0':
		v.Text = token.String()
	case '[':
		for s.json.PeekKind() != ']' {
			item, err := s.readJSON(Value{Path: ItemPath(v.Path, len(v.Items))}, depth+1)
			if err != nil {
				return v, err
			}
			v.Items = append(v.Items, item)
		}
		_, err = s.json.ReadToken()
	case '{':
		names := make(map[string]bool)
		for s.json.PeekKind() != '}' {
			name, err := s.json.ReadToken()
			if err != nil {
				return v, err
			}
			f := FieldValue{Name: name.String()}
			f.Path = FieldPath(v.Path, f.Name)
			if names[f.Name] {
				return v, f.Refuse("is given twice")
			}
			names[f.Name] = true
			if f.Value, err = s.readJSON(f.Value, depth+1); err != nil {
				return v, err
			}
			v.Fields = append(v.Fields, f)
		}
		_, err = s.json.ReadToken()
	}
	return v, err
}

// ErrNoYAML is the error of ParseYAML for a text without a value.
var ErrNoYAML = Invalid("", "is empty")

// ParseYAML reads a file that is one YAML document, also one of another package. An error is a FieldError, with
// the line where the text is no YAML. The document has no path, so the paths of
// its fields are their names.
func ParseYAML(file []byte) (Value, error) { return parseYAML(file, file) }

// ParsePrivateYAML is ParseYAML for a file that may hold secrets: an error about its form shows no long word of
// it. FieldErrors that a caller makes of its values may.
func ParsePrivateYAML(file []byte) (Value, error) {
	return parseYAML(file, longWord.ReplaceAll(file, []byte("…")))
}

// longWord is a word that may be a secret. The names of fields are shorter.
var longWord = regexp.MustCompile(`[A-Za-z0-9_+/=-]{16,}`)

// HideLongWords replaces the long words of a text, which may be secrets.
func HideLongWords(text string) string { return longWord.ReplaceAllString(text, "…") }

// parseYAML is ParseYAML with the lines of shown in errors.
func parseYAML(file, shown []byte) (Value, error) {
	var documents []yaml.Node
	err := yaml.Load(file, &documents, yaml.WithAllDocuments())
	switch {
	case err != nil:
		return Value{}, Invalid("", yamlFault(shown, err))
	case len(documents) == 0:
		return Value{}, ErrNoYAML
	case len(documents) > 1:
		return Value{}, Invalid("", "has more than one YAML document; want one, without a second ---")
	}
	return new(source).readYAML(Value{}, &documents[0], 0)
}

func (s *source) readYAML(v Value, n *yaml.Node, depth int) (Value, error) {
	if err := s.count(v, depth); err != nil {
		return v, err
	}
	tag := n.ShortTag()
	switch {
	case n.Kind == yaml.DocumentNode:
		return s.readYAML(v, n.Content[0], depth)
	case n.Kind == yaml.AliasNode:
		return s.readYAML(v, n.Alias, depth) // maxDepth ends an alias that contains itself
	case n.Kind == yaml.MappingNode && tag == "!!map":
		v.Kind = '{'
		return s.readYAMLFields(v, n, depth)
	case n.Kind == yaml.SequenceNode && tag == "!!seq":
		v.Kind = '['
		for _, content := range n.Content {
			item, err := s.readYAML(Value{Path: ItemPath(v.Path, len(v.Items))}, content, depth+1)
			if err != nil {
				return v, err
			}
			v.Items = append(v.Items, item)
		}
		return v, nil
	case n.Kind == yaml.ScalarNode:
		switch tag {
		case "!!null":
			v.Kind = 'n'
			return v, nil
		case "!!bool":
			switch strings.ToLower(n.Value) {
			case "true":
				v.Kind = 't'
				return v, nil
			case "false":
				v.Kind = 'f'
				return v, nil
			}
		case "!!int", "!!float":
			v.Kind, v.Text = '0', n.Value
			return v, nil
		case "!!str", "!!timestamp", "!!merge": // an unquoted time is a string like any other
			v.Kind, v.Text = '"', n.Value
			return v, nil
		}
	}
	return v, v.Refuse("has the YAML tag %s, which is not allowed for this value; omit the tag", Clip(tag))
}

// readYAMLFields reads the fields of an object. A key << is a name like any other.
func (s *source) readYAMLFields(v Value, n *yaml.Node, depth int) (Value, error) {
	lines := make(map[string]int) // of the names
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, content := n.Content[i], n.Content[i+1]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		if key.Kind != yaml.ScalarNode || key.ShortTag() == "!!null" {
			return v, v.Refuse("has a key that is not a name, in line %d; a name with braces needs quotes, such as \"fans:{star}\"", key.Line)
		}
		f := FieldValue{Name: key.Value}
		f.Path = FieldPath(v.Path, f.Name)
		if first, twice := lines[f.Name]; twice {
			return v, f.Refuse("is given twice, in lines %d and %d", first, key.Line)
		}
		lines[f.Name] = key.Line
		var err error
		if f.Value, err = s.readYAML(f.Value, content, depth+1); err != nil {
			return v, err
		}
		v.Fields = append(v.Fields, f)
	}
	return v, nil
}
