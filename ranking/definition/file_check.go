package definition

import (
	"errors"
	"fmt"
)

// CheckReferences checks the unions and events of defs against the boards of defs. err joins a
// FieldError, with its path in a boards file, for each definition that can never go with its
// boards. missing holds a FieldError for each reference to a board that defs does not define:
// where defs are put, it must be there already.
func (defs Set) CheckReferences() (missing []*FieldError, err error) {
	defined := make(map[string]Board) // by slot
	for _, d := range defs.Boards {
		defined[d.Slot()] = d
	}
	var errs []error
	for _, d := range defs.Boards {
		if d.Union == nil {
			continue
		}
		before := len(missing)
		for i, slot := range d.Union.Slots() {
			if _, there := defined[slot]; !there {
				missing = append(missing, missingBoard(FieldPath(SectionBoards, d.Name)+"."+ItemPath("union.of", i), d.Union.Of[i]))
			}
		}
		if len(missing) == before {
			errs = append(errs, d.LocateInFile(d.Union.CheckSources(defined)))
		}
	}
	for _, e := range defs.Events {
		for i, t := range e.Updates {
			path := ItemPath("updates", i)
			d, there := defined[t.Slot()]
			if !there {
				located, _ := errors.AsType[*FieldError](e.LocateInFile(missingBoard(path+".board", t.Board)))
				missing = append(missing, located)
			} else if _, field, reason := t.Conflict(d); reason != "" {
				errs = append(errs, e.LocateInFile(Invalid(path+field, reason)))
			}
		}
		errs = append(errs, e.LocateInFile(fault(e.freezeFault(defined))))
	}
	return missing, errors.Join(errs...)
}

func missingBoard(path, board string) *FieldError {
	return &FieldError{Field: path, Reason: fmt.Sprintf("is for %s, which is not defined here", Clip(board)), Kind: ErrInvalid}
}
