package client

import (
	"bytes"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Columns are the values of the columns of a score, on a board that is defined with columns: those of an answer from the left. nil
// on other boards.
type Columns []Column

// Column is the value of one column.
type Column struct {
	Name  string
	Value int64
}

// Value returns the value of a column; 0 without it.
func (c Columns) Value(name string) int64 {
	if i := slices.IndexFunc(c, func(column Column) bool { return column.Name == name }); i >= 0 {
		return c[i].Value
	}
	return 0
}

// String is the form of a parameter: solved:5,penalty:320.
func (c Columns) String() string {
	parts := make([]string, len(c))
	for i, column := range c {
		parts[i] = fmt.Sprintf("%s:%d", column.Name, column.Value)
	}
	return strings.Join(parts, ",")
}

// MarshalJSON writes an object.
func (c Columns) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, column := range c {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = jsontext.AppendQuote(b, column.Name); err != nil {
			return nil, err
		}
		b = strconv.AppendInt(append(b, ':'), column.Value, 10)
	}
	return append(b, '}'), nil
}

// UnmarshalJSON reads an object, or null.
func (c *Columns) UnmarshalJSON(b []byte) error {
	*c = nil
	from := jsontext.NewDecoder(bytes.NewReader(b))
	begin, err := from.ReadToken()
	if err != nil || begin.Kind() == 'n' {
		return err
	}
	if begin.Kind() != '{' {
		return fmt.Errorf("columns are %s; want an object", begin)
	}
	for *c = (Columns{}); from.PeekKind() != '}'; {
		name, err := from.ReadToken()
		if err != nil {
			return err
		}
		column := Column{Name: name.String()} // the next token overwrites name
		value, err := from.ReadToken()
		if err == nil {
			column.Value, err = strconv.ParseInt(value.String(), 10, 64)
		}
		if err != nil {
			return fmt.Errorf("column %q: %w", column.Name, err)
		}
		*c = append(*c, column)
	}
	return nil
}

// set sets a parameter.
func (c Columns) set(v url.Values, name string) {
	if c != nil {
		v.Set(name, c.String())
	}
}
