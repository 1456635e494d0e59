package request

import (
	"bytes"
	"errors"
	"io"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// objectScanner splits an object into its fields. It takes half the time of a json.Unmarshal into a map, and copies
// no value.
type objectScanner struct {
	text    bytes.Buffer
	decoder jsontext.Decoder
}

// scanners hold objectScanners, each of which keeps a stack of names for the next object.
var scanners = sync.Pool{New: func() any { return new(objectScanner) }}

// errNotObject stops a scan. ParseObject words the error for the client.
var errNotObject = errors.New("not a JSON object")

// scanObject returns the object that b is, whose values are parts of b; nil for anything else.
func scanObject(b []byte) Object {
	s := scanners.Get().(*objectScanner)
	s.text = *bytes.NewBuffer(b)
	s.decoder.Reset(&s.text)
	o := make(Object)
	err := s.scan(b, o)
	s.text = bytes.Buffer{} // a pool must not keep a body
	s.decoder.Reset(&s.text)
	scanners.Put(s)
	if err != nil {
		return nil
	}
	return o
}

// scan adds the fields of the object in b to o.
func (s *objectScanner) scan(b []byte, o Object) error {
	d := &s.decoder
	if d.PeekKind() != '{' {
		return errNotObject
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() != '}' {
		token, err := d.ReadToken()
		if err != nil {
			return err
		}
		name := token.String() // the next read makes the token invalid
		value, err := d.ReadValue()
		if err != nil {
			return err
		}
		end := int(d.InputOffset())
		o[name] = b[end-len(value) : end : end]
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return errNotObject
	}
	return nil
}
