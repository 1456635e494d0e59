package definition

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"go.yaml.in/yaml/v4"
)

// ParseBoardYAML reads the definition of one board from its value in a boards file, such as
// {period: week, timezone: Asia/Shanghai}; a text without a value has the defaults. The result
// is normalized. An error is a FieldError that names the field as ParseBoard does; one about the
// whole text names none, see Rooted.
func ParseBoardYAML(board string, text []byte) (Board, error) {
	d := Board{Name: board}
	v, err := ParseYAML(text)
	switch {
	case errors.Is(err, ErrNoYAML):
		err = nil
	case err == nil && v.Kind != 'n':
		err = d.read(v)
	}
	if err == nil {
		d, err = d.Normalize()
	}
	return d, err
}

// ParseEventYAML is ParseBoardYAML for an event, whose value is an object, or the list of its updates.
func ParseEventYAML(event string, text []byte) (Event, error) {
	e := Event{Name: event}
	v, err := ParseYAML(text)
	if err == nil {
		err = e.readInFile(v)
	}
	if fe, ok := errors.AsType[*FieldError](err); ok && v.Kind == '[' && fe.Field != "" {
		err = &FieldError{Field: "updates" + fe.Field, Reason: fe.Reason, Kind: fe.Kind} // as in an object
	}
	if err == nil {
		e, err = e.Normalize()
	}
	return e, err
}

// YAML writes a normalized definition as its value in a boards file; ParseBoardYAML reads it.
func (d Board) YAML() (string, error) { return yamlOf(d, "board") }

// YAML writes a normalized event as its value in a boards file; ParseEventYAML reads it.
func (e Event) YAML() (string, error) { return yamlOf(e, "event") }

// yamlOf writes a definition as YAML, without the field name, which is the key of the definition in a boards file.
func yamlOf(definition any, name string) (string, error) {
	encoded, err := json.Marshal(definition)
	if err != nil {
		return "", fmt.Errorf("encode a definition: %w", err)
	}
	v, err := parseJSON("", encoded)
	if err != nil {
		return "", fmt.Errorf("read an encoded definition: %w", err)
	}
	v.Fields = slices.DeleteFunc(v.Fields, func(f FieldValue) bool { return f.Name == name })
	// Without a bound of lines, the library folds no text.
	text, err := yaml.Dump(v.node(), yaml.WithLineWidth(-1), yaml.WithQuotePreference(yaml.QuoteDouble))
	if err != nil {
		return "", fmt.Errorf("encode a definition as YAML: %w", err)
	}
	return string(text), nil
}

// node is v as the library writes it. A tag makes the library put quotes around a text that YAML would read as something else.
func (v Value) node() *yaml.Node {
	switch v.Kind {
	case '{':
		n := &yaml.Node{Kind: yaml.MappingNode}
		for _, f := range v.Fields {
			n.Content = append(n.Content, textNode(f.Name), f.node())
		}
		return n
	case '[':
		n := &yaml.Node{Kind: yaml.SequenceNode}
		for _, item := range v.Items {
			n.Content = append(n.Content, item.node())
		}
		return n
	case '"':
		return textNode(v.Text)
	case '0':
		return &yaml.Node{Kind: yaml.ScalarNode, Value: v.Text}
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Value: strconv.FormatBool(v.Kind == 't')}
}

func textNode(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
}
