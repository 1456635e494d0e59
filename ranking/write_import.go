package ranking

import (
	"context"
	"errors"
	"fmt"
	"io"

	"rankcast/ranking/definition"
)

// importBatch is how many rows of an import go to Apply at once.
const importBatch = 1000

// MaxRowErrors is how many of the rows that were refused an import tells of.
const MaxRowErrors = 10

// Row is one member of an import.
type Row struct {
	Line   int64  // where it stands in what is imported, to tell of it
	Member string // as Update's, and so Score and Data
	Score  int64
	Data   string
}

// RowError is why a row was refused.
type RowError struct {
	Line int64
	Err  error
}

func (e *RowError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

func (e *RowError) Unwrap() error { return e.Err }

// Imported is what an import did.
type Imported struct {
	Period  string      // that it counted in; "" on a board without periods, and where nothing was taken
	Rows    int64       // that were taken
	Refused int64       // that were out of range; not the one that it ended at
	First   []*RowError // the first MaxRowErrors of those
}

// Import gives members scores, in the order of the rows that next returns, until that
// returns io.EOF. A row sets its member's score, whatever the board's mode, within the
// board's bounds of a score; max_change is for updates. Data are as an update's: a row
// without leaves what is there.
//
// A score that differs from the member's counts as reached at that moment, so that the
// order of the rows is the order of equals: of an export, that of the board it was made
// of. Who is on the board with that score already stays where it is, before those that
// come; a row that changes nothing has no effect. So an import that broke off is
// completed by making it again. For equals there is as much room as for updates: beyond
// scores of 2^40, fewer the later in the period, some may be ordered by member. What an
// export does not have (request ids, when a member entered) begins anew.
//
// A row whose score is out of range is refused, and so may next refuse one, by a
// *RowError of that kind; the rest goes on. The import ends at any other row that is
// wrong, where the rows before it have been taken, and with any other error of next or
// of Redis, where rows of the last thousand may have been. It is ErrNotOpen for a board
// that is named with its period, ErrConflict for one with a window, and ErrConflict when the period turns on the way.
// Imported is what was done until then.
func (s *Store) Import(ctx context.Context, board string, next func() (Row, error)) (Imported, error) {
	im := importer{store: s, board: board}
	if _, err := s.Apply(ctx, board, nil); err != nil { // before anything is read
		return im.done, err
	}
	if err := s.checkImport(ctx, board); err != nil {
		return im.done, err
	}
	for {
		row, err := next()
		var refused *RowError
		switch {
		case err == nil:
			im.add(row)
		case errors.As(err, &refused):
			im.rows = append(im.rows, importRow{Row{Line: refused.Line}, refused.Err})
		case err == io.EOF:
			return im.done, im.flush(ctx)
		default:
			// Where rows stop to come ctx has mostly ended too, and those before are whole.
			if ended := im.flush(context.WithoutCancel(ctx)); ended != nil {
				err = ended
			}
			return im.done, err
		}
		if im.stop() || len(im.rows) == importBatch {
			if err := im.flush(ctx); err != nil {
				return im.done, err
			}
		}
	}
}

// checkImport refuses a board whose scores are not kept, but made of what happened.
func (s *Store) checkImport(ctx context.Context, board string) error {
	r, err := s.compiledNamed(ctx, board)
	if err == nil && r.IsWindowed() {
		err = conflict("board", "%q has a window, in which each update counts for a time: send updates, with the time that they were at", board)
	}
	return err
}

// importer is an import under way.
type importer struct {
	store *Store
	board string
	rows  []importRow // that wait to be applied
	done  Imported
}

type importRow struct {
	Row
	err error // why it is refused; nil: it is not known to be
}

func (r importRow) update() definition.Update {
	return definition.Update{Member: r.Member, Score: r.Score, Data: r.Data}
}

func (im *importer) add(r Row) {
	row := importRow{Row: r}
	row.err = row.update().Check()
	im.rows = append(im.rows, row)
}

// stop reports whether the last row is one that an import does not go on after.
func (im *importer) stop() bool {
	err := im.rows[len(im.rows)-1].err
	return err != nil && !errors.Is(err, ErrOutOfRange)
}

// flush applies what waits, and returns what the import ends with.
func (im *importer) flush(ctx context.Context) error {
	rows := im.rows
	im.rows = im.rows[:0]
	var updates []definition.Update
	for _, r := range rows {
		if r.err == nil {
			updates = append(updates, r.update())
		}
	}
	outcomes, err := im.store.applyAs(ctx, setting, im.board, updates)
	if err != nil {
		return err
	}
	var end error
	for _, r := range rows {
		var o Outcome
		if o.Err = r.err; r.err == nil {
			o, outcomes = outcomes[0], outcomes[1:]
		}
		if err := im.count(r.Line, o); end == nil {
			end = err
		}
	}
	return end
}

// count takes down what came of a row, and returns what the import ends with.
func (im *importer) count(line int64, o Outcome) error {
	d := &im.done
	switch {
	case o.Err != nil:
		refused := &RowError{line, o.Err}
		if !errors.Is(o.Err, ErrOutOfRange) {
			return refused
		}
		d.Refused++
		if len(d.First) < MaxRowErrors {
			d.First = append(d.First, refused)
		}
	case d.Rows > 0 && o.Result.Period != d.Period:
		return &RowError{line, conflict("board", "%q turned from period %s to %s on the way; this row and those after it are for the new one", im.board, d.Period, o.Result.Period)}
	default:
		d.Period = o.Result.Period
		d.Rows++
	}
	return nil
}
