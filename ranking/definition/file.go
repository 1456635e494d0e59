package definition

import (
	"cmp"
	"errors"
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
// The list of an event means an object with updates alone. An object may also have the sender,
// the rules of fields and what a page shows:
//
//	gift:
//	  sender: user
//	  fields: {flowers: {min: 1, max: 99}, star: {kind: star}}
//	  show: {board: stars}
//	  updates:
//	    - {board: stars, member: "{star}", score: "{flowers}"}
//
// All definitions are normalized. An error joins a FieldError for each definition that is
// wrong (errors.Join). It names the field by its path, such as boards.laps.mode,
// boards["fans:{star}"].period, events.gift[1].score or events.gift.fields.flowers.min. ParseFile
// does not check that the boards of an event or a union are defined; see CheckReferences.
func ParseFile(file []byte) (Set, error) {
	defs, err := parseSet(file)
	return defs, Rooted("file", err)
}

func parseSet(file []byte) (Set, error) {
	var defs Set
	v, err := ParseYAML(file)
	if errors.Is(err, ErrNoYAML) {
		err = v.Refuse("is empty; want boards, events or both")
	}
	if err != nil {
		return defs, err
	}
	if v.Kind != '{' || len(v.Fields) == 0 {
		return defs, v.Refuse("is %s; want boards, events or both", kinds[v.Kind])
	}
	var errs []error
	for _, f := range v.Fields {
		switch f.Name {
		case SectionBoards:
			err = defs.readBoards(f.Value)
		case SectionEvents:
			err = defs.readEvents(f.Value)
		default:
			err = f.unknown("a boards file", "boards or events")
		}
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return Set{}, err
	}
	return defs, nil
}

func (defs *Set) readBoards(v Value) error {
	if v.Kind != '{' || len(v.Fields) == 0 {
		return v.Want("board names with their fields, such as {stars: {}}")
	}
	slots := make(map[string]string)
	var errs []error
	for _, f := range v.Fields {
		d, err := readBoard(f)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if other, taken := slots[d.Slot()]; taken {
			errs = append(errs, f.Refuse("clashes with %s, which has the same name and the same number of placeholders", other))
			continue
		}
		slots[d.Slot()] = d.Name
		defs.Boards = append(defs.Boards, d)
	}
	slices.SortFunc(defs.Boards, func(a, b Board) int { return cmp.Compare(a.Name, b.Name) })
	return errors.Join(errs...)
}

// readBoard reads one board of a file, normalized.
func readBoard(f FieldValue) (Board, error) {
	d := Board{Name: f.Name}
	if f.Kind != 'n' { // a name without fields has the defaults
		if err := d.read(f.Value); err != nil {
			return d, err
		}
	}
	d, err := d.Normalize()
	return d, d.LocateInFile(err)
}

func (defs *Set) readEvents(v Value) error {
	if v.Kind != '{' || len(v.Fields) == 0 {
		return v.Want("event names with their lists of updates")
	}
	var errs []error
	for _, f := range v.Fields {
		e := Event{Name: f.Name}
		err := e.readInFile(f.Value)
		if err == nil {
			e, err = e.Normalize()
			err = e.LocateInFile(err)
		}
		errs = append(errs, err)
		defs.Events = append(defs.Events, e)
	}
	slices.SortFunc(defs.Events, func(a, b Event) int { return cmp.Compare(a.Name, b.Name) })
	return errors.Join(errs...)
}

// readInFile reads an event of a file: a list of updates, or an object.
func (e *Event) readInFile(v Value) error {
	if v.Kind == '{' {
		e.inObject = true
		return e.read(v)
	}
	return e.readUpdates(v)
}

// LocateInFile gives the FieldError of a definition the path that the field has in a boards
// file. There the name of the definition is part of the path. Other errors stay as they are.
func (d Board) LocateInFile(err error) error { return locateInFile(SectionBoards, d.Name, err) }

// LocateInFile is Board.LocateInFile for an event. A list of updates stands directly under the
// name of its event.
func (e Event) LocateInFile(err error) error {
	fe, ok := errors.AsType[*FieldError](err)
	if ok && !e.inObject && e.Sender == "" && e.IDs == 0 && e.FreezeFeed == "" && e.Show == nil && len(e.Rules) == 0 {
		if item, is := strings.CutPrefix(fe.Field, "updates"); is {
			return &FieldError{Field: FieldPath(SectionEvents, e.Name) + item, Reason: fe.Reason, Kind: fe.Kind}
		}
	}
	return locateInFile(SectionEvents, e.Name, err)
}

// locateInFile gives a FieldError its path under a section and the name of a definition.
func locateInFile(section, name string, err error) error {
	fe, ok := errors.AsType[*FieldError](err)
	if !ok {
		return err
	}
	path := FieldPath(section, name)
	if fe.Field != "board" && fe.Field != "event" {
		path += "." + fe.Field
	}
	return &FieldError{Field: path, Reason: fe.Reason, Kind: fe.Kind}
}
