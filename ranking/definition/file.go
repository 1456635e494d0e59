package definition

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Set holds the definitions of boards and events.
type Set struct {
	Boards []Board // ParseFile sorts them by name
	Events []Event // ParseFile sorts them by name
}

// The sections of a boards file.
const (
	SectionBoards = "boards"
	SectionEvents = "events"
)

// ParseFile reads a boards file, which is YAML:
//
//	boards:
//	  stars:         {period: week, timezone: Asia/Shanghai, kind: star}
//	  "fans:{star}": {period: day, keep: 30, kind: user}
//	  laps:          {mode: best, order: asc, display: {format: time_ms}}
//	  plain:         {}                    # sum, desc, first: the defaults
//	events:
//	  gift:
//	    - {board: stars, member: "{star}", score: "{flowers}"}
//	    - {board: "fans:{star}", member: "{user}", score: "{flowers}"}
//
// All definitions are normalized. An error joins a FieldError for each definition that is
// wrong (errors.Join). It names the field by its path, such as boards.laps.mode,
// boards["fans:{star}"].period or events.gift[1].score. ParseFile does not check that the
// boards of an event or a union are defined; see CheckReferences.
func ParseFile(file []byte) (Set, error) {
	defs, err := parseSet(file)
	return defs, rooted("file", err)
}

func parseSet(file []byte) (Set, error) {
	var defs Set
	v, err := parseYAML(file)
	if err != nil {
		return defs, err
	}
	if v.kind != '{' || len(v.fields) == 0 {
		return defs, v.refuse("is %s; want boards, events or both", kinds[v.kind])
	}
	var errs []error
	for _, f := range v.fields {
		switch f.name {
		case SectionBoards:
			err = defs.readBoards(f.value)
		case SectionEvents:
			err = defs.readEvents(f.value)
		default:
			err = f.unknownSection()
		}
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return Set{}, err
	}
	return defs, nil
}

// unknownSection refuses a name that stands where boards and events belong.
func (f field) unknownSection() error {
	reason := "is not a field of a boards file; want boards or events"
	if f.kind == '{' && baseName.MatchString(f.name) {
		reason += "; a board stands under boards, indented"
	}
	return f.refuse("%s", reason)
}

func (defs *Set) readBoards(v value) error {
	if want := withColon(v.text); want != "" {
		return Invalid(SectionBoards, fmt.Sprintf("lacks a colon%s: %s%s", v.inLine(), quoteLine(v.text), want))
	}
	if v.kind != '{' || len(v.fields) == 0 {
		return v.want("board names with their fields, such as {stars: {}}")
	}
	slots := make(map[string]string)
	var errs []error
	for _, f := range v.fields {
		d, err := readBoard(f)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if other, taken := slots[d.Slot()]; taken {
			errs = append(errs, f.refuse("clashes with %s, which has the same name and the same number of placeholders", other))
			continue
		}
		slots[d.Slot()] = d.Name
		defs.Boards = append(defs.Boards, d)
	}
	slices.SortFunc(defs.Boards, func(a, b Board) int { return cmp.Compare(a.Name, b.Name) })
	return errors.Join(errs...)
}

// readBoard reads one board of a file, normalized.
func readBoard(f field) (Board, error) {
	d := Board{Name: f.name}
	if name, rest, braces := strings.Cut(f.name, " {"); braces && !strings.ContainsAny(name, " {") {
		return d, Invalid(FieldPath(SectionBoards, name), fmt.Sprintf("lacks a colon%s; want %s: {%s: …}", f.inLine(), Clip(name), Clip(rest)))
	}
	if name, rest, braces := strings.Cut(f.name, ":{"); braces && !strings.Contains(rest, "}") {
		return d, Invalid(FieldPath(SectionBoards, name), fmt.Sprintf("lacks a space after the colon%s; want %s: {%s: …}", f.inLine(), Clip(name), Clip(rest)))
	}
	if f.kind != 'n' { // a name without fields has the defaults
		if err := d.read(f.value); err != nil {
			return d, err
		}
	}
	d, err := d.Normalize()
	if err == nil {
		err = d.CheckNew()
	}
	return d, LocateInFile(SectionBoards, f.name, err)
}

func (defs *Set) readEvents(v value) error {
	if v.kind != '{' || len(v.fields) == 0 {
		return v.want("event names with their lists of updates")
	}
	var errs []error
	for _, f := range v.fields {
		e := Event{Name: f.name}
		err := e.readUpdates(f.value)
		if err == nil {
			if e, err = e.Normalize(); err == nil {
				err = e.CheckNew()
			}
			err = LocateInFile(SectionEvents, e.Name, err)
		}
		errs = append(errs, err)
		defs.Events = append(defs.Events, e)
	}
	slices.SortFunc(defs.Events, func(a, b Event) int { return cmp.Compare(a.Name, b.Name) })
	return errors.Join(errs...)
}

// ParseBoardYAML reads the definition of one board from its value in a boards file, such as
// {period: week, timezone: Asia/Shanghai}; a text without a value has the defaults. The result
// is normalized. An error is a FieldError that names the field as ParseBoard does.
func ParseBoardYAML(board, text string) (Board, error) {
	d := Board{Name: board}
	v, err := parseYAML([]byte(text))
	switch {
	case errors.Is(err, errNoYAML):
		err = nil
	case err == nil && v.kind != 'n':
		err = d.read(v)
	}
	if err == nil {
		if d, err = d.Normalize(); err == nil {
			err = d.CheckNew()
		}
	}
	return d, rooted("definition", err)
}

// LocateInFile gives the FieldError of a definition the path that the field has in a boards
// file. There the name of a definition is part of the path, and the updates of an event stand
// directly under its name. Other errors stay as they are.
func LocateInFile(section, name string, err error) error {
	fe, ok := errors.AsType[*FieldError](err)
	if !ok {
		return err
	}
	path := FieldPath(section, name)
	updates, are := strings.CutPrefix(fe.Field, "updates")
	switch {
	case are:
		path += updates
	case fe.Field != "board" && fe.Field != "event":
		path += "." + fe.Field
	}
	return &FieldError{Field: path, Reason: fe.Reason, Kind: fe.Kind}
}
