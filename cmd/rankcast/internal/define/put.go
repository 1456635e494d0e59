package define

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rankcast/cmd/rankcast/internal/remote"
	"rankcast/cmd/rankcast/internal/term"
	"rankcast/ranking/definition"
	"rankcast/server/client"
)

// Put is rankcast put: it defines one board, or all boards and events of a file, on a running
// server.
type Put struct {
	Board      string        `arg:"" optional:"" help:"Board to define: stars, or a family fans:{star}, in quotes."`
	Definition string        `arg:"" optional:"" help:"Its fields as in a boards file, in quotes: '{mode: best, order: asc}'. Fields left out have their defaults, also on a board that is there already."`
	File       string        `placeholder:"FILE" help:"Define all boards and events of this boards file instead. - is standard input."`
	Server     remote.Server `embed:""`
	JSON       bool          `name:"json" help:"Print the server's answer: each definition as a line of JSON."`
}

// Help is the text below the usage line of put --help.
func (Put) Help() string {
	return `Creates a board, or changes its definition; scores stay. Checks the whole definition, or the whole file, before it sends anything.

Examples:
  rankcast put points
      Define a board with all defaults
  rankcast put laps '{mode: best, order: asc, display: {format: time_ms}}'
      Define a board of lap times
  rankcast put --file boards.yaml
      Define all boards and events of a file`
}

// Validate checks the flags.
func (p *Put) Validate() error {
	switch {
	case p.File != "" && p.Board != "":
		return errors.New("--file and a board cannot be used together")
	case p.File == "" && p.Board == "":
		return errors.New("give a board, or --file=FILE")
	case p.isFile():
		return fmt.Errorf("%q is a file and no board: did you mean --file %s?", p.Board, p.Board)
	}
	return nil
}

// isFile reports whether the board is likely the name of a boards file. A file of a board's own name does not count
// where a definition follows: then the name is that of a board.
func (p *Put) isFile() bool {
	if ending := strings.ToLower(filepath.Ext(p.Board)); ending == ".yaml" || ending == ".yml" {
		return true
	}
	if p.Board == "" || p.Definition != "" {
		return false
	}
	info, err := os.Stat(p.Board)
	return err == nil && info.Mode().IsRegular()
}

// Run checks everything and then sends one definition after the other. It prints a line for
// each. The server keeps the definitions before the one that it refuses.
func (p *Put) Run(ctx context.Context) error {
	defs, err := p.definitions()
	if err != nil {
		return err
	}
	c, err := p.Server.Dial()
	if err != nil {
		return err
	}
	defer c.Close()
	all, err := newPuts(c, defs)
	if err != nil {
		return err
	}
	for i, one := range all {
		line, err := p.put(ctx, one)
		if err != nil {
			return p.explain(ctx, one, err, i, len(all))
		}
		fmt.Println(line)
	}
	return nil
}

// definitions reads and checks what to put.
func (p *Put) definitions() (definition.Set, error) {
	if p.File == "" {
		d, err := definition.ParseBoardYAML(p.Board, []byte(p.Definition))
		if err != nil {
			return definition.Set{}, fmt.Errorf("%s: %w", p.Board, definition.Rooted("definition", err))
		}
		return definition.Set{Boards: []definition.Board{d}}, nil
	}
	defs, err := ReadFile(p.File)
	if err != nil {
		return defs, err
	}
	_, err = defs.CheckReferences()
	return defs, inFile(p.File, err)
}

// onePut is one definition to send.
type onePut struct {
	section, name string
	located       interface{ LocateInFile(err error) error } // the definition
	body          jsontext.Value
	read          func(ctx context.Context, name string) (jsontext.Value, error)
	define        func(ctx context.Context, name string, body jsontext.Value) (jsontext.Value, error)
}

// newPuts orders definitions so that each comes after those that it needs: boards, unions of
// them, events for them.
func newPuts(c *client.Client, defs definition.Set) ([]onePut, error) {
	var boards, unions []onePut
	for _, d := range defs.Boards {
		put := onePut{section: definition.SectionBoards, name: d.Name, located: d, read: c.BoardDefinition, define: c.DefineBoard}
		if d.Union == nil {
			boards = append(boards, put)
		} else {
			unions = append(unions, put)
		}
	}
	all := slices.Concat(boards, unions)
	for _, e := range defs.Events {
		all = append(all, onePut{section: definition.SectionEvents, name: e.Name, located: e, read: c.EventDefinition, define: c.DefineEvent})
	}
	for i := range all {
		var err error
		if all[i].body, err = json.Marshal(all[i].located); err != nil {
			return nil, fmt.Errorf("encode %s: %w", all[i].title(), err)
		}
	}
	return all, nil
}

// title is the definition's name in a line of output.
func (o onePut) title() string {
	if o.section == definition.SectionEvents {
		return "event " + o.name
	}
	return o.name
}

// put sends one definition and returns its line of output.
func (p *Put) put(ctx context.Context, one onePut) (string, error) {
	before, err := one.read(ctx, one.name)
	var answer *client.Error
	// A key that may not even read goes on: the next answer names the scope that it needs.
	if err != nil && !(errors.As(err, &answer) && slices.Contains([]string{"unknown_board", "unknown_event", "forbidden"}, answer.Code)) {
		return "", err
	}
	defined, err := one.define(ctx, one.name, one.body)
	switch {
	case err != nil:
		return "", err
	case p.JSON:
		return string(defined), nil
	case before == nil:
		return one.title() + ": created", nil
	case string(before) == string(defined):
		return one.title() + ": unchanged", nil
	}
	return one.title() + ": changed", nil
}

// explain words the error of one of the definitions, and says how many were put before it.
func (p *Put) explain(ctx context.Context, one onePut, err error, done, all int) error {
	unknown := errors.Is(err, client.ErrOutcomeUnknown)
	place := one.title()
	if p.File != "" {
		place = p.File
		err = one.locate(err)
	}
	err = p.Server.Explain(err)
	if ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	text := fmt.Sprintf("%s: %s", place, term.Printable(err.Error()))
	if p.File != "" {
		text += fmt.Sprintf("\n%d of %d definitions were put before this one", done, all)
	}
	if unknown || ctx.Err() != nil {
		text += "\nput it again: the same definition twice is the same as once"
	}
	return errors.New(text)
}

// locate gives the server's refusal of a definition the path that its field has in a boards
// file.
func (o onePut) locate(err error) error {
	var answer *client.Error
	if !errors.As(err, &answer) || answer.Field == "" {
		return err
	}
	reason, ok := strings.CutPrefix(answer.Message, answer.Field+": ")
	if !ok {
		return err
	}
	located := *answer
	located.Message = o.located.LocateInFile(definition.Invalid(answer.Field, reason)).Error()
	return &located
}
