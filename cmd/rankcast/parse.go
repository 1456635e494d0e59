package main

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"rankcast/ranking/definition"
)

// decodeDuration reads the duration of a flag: in Go's form, such as 100ms or 1h30m, or in that of definitions, which
// has days.
var decodeDuration kong.MapperFunc = func(ctx *kong.DecodeContext, target reflect.Value) error {
	var text string
	if err := ctx.Scan.PopValueInto("duration", &text); err != nil {
		return err
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		var ok bool
		if d, ok = definition.ParseDuration(text); !ok {
			return fmt.Errorf("is %q; want a number with its unit, such as 100ms, 5s, 90m, 36h or 7d", text)
		}
	}
	target.SetInt(int64(d))
	return nil
}

// commandError is an error of the parser with a text of its own.
type commandError struct {
	*kong.ParseError
	text string
}

func (e *commandError) Error() string { return e.text }

func (e *commandError) Unwrap() error { return e.ParseError }

// nameCommands makes an error about a command that is missing or unknown list all commands that there are. The parser
// lists five.
func nameCommands(err error) error {
	var fault *kong.ParseError
	if !errors.As(err, &fault) {
		return err
	}
	text, at := fault.Error(), fault.Context.Selected()
	if at == nil {
		at = fault.Context.Model.Node
	}
	isMissing := strings.HasPrefix(text, "expected one of")
	if len(at.Children) == 0 || !isMissing && (!strings.HasPrefix(text, "unexpected argument") || strings.Contains(text, "did you mean")) {
		return err
	}
	var names []string
	for _, child := range at.Children {
		names = append(names, child.Name)
	}
	if isMissing {
		text = "a command is missing"
	}
	return &commandError{fault, fmt.Sprintf("%s; want one of %s", text, strings.Join(names, ", "))}
}
