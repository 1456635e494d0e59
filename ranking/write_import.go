package ranking

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"rankcast/ranking/definition"
)

// importBatch is the number of rows of an import in one call of Apply.
const importBatch = 1000

// MaxRowErrors is the number of refused rows that an import reports.
const MaxRowErrors = 10

// Row is one member of an import.
type Row struct {
	Line    int64  // line in the imported data, for errors
	Member  string // as in Update, like Score, Columns and Data
	Score   int64
	Columns map[string]int64
	Data    string
}

// RowError says why a row was refused.
type RowError struct {
	Line int64
	Err  error
}

func (e *RowError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

func (e *RowError) Unwrap() error { return e.Err }

// Imported is the result of an import.
type Imported struct {
	Period  string      // the period in which it counted; "" on a board without periods, and without accepted rows
	Rows    int64       // number of accepted rows
	Refused int64       // number of rows out of range or with a wrong member, without the row at which the import ended
	First   []*RowError // the first MaxRowErrors of the refused rows
}

// Import sets the scores of members, in the order of the rows that next returns, until next
// returns io.EOF. A row sets its member's score, whatever the board's mode, within the
// board's min and max; max_change applies only to updates. Data work as in an update: a row
// without data keeps the present data.
//
// A score that differs from the member's present score counts as reached at that moment. So
// among equals the order of the rows is the order of the board; an export gives the order
// of its board. A member that already has its row's score keeps its place, ahead of the
// members that come. A row that changes nothing has no effect, so a second import completes
// one that broke off. There is as much room among equals as for updates. At scores beyond
// 2^40 some equals may be ordered by member, and late in the period there is room for
// fewer. On a board with shards, equals of one shard have the order of the rows, and those of several shards that of 1,000
// rows each. The parts that an export lacks (request ids, the time at which a member entered)
// begin anew.
//
// A row whose score is out of range, or whose member is not one that may be created, is
// refused. next may refuse a row too, by a *RowError for one of these reasons. The import
// continues. At any other wrong row the import ends, and the rows before it are applied. With any other error of next or of Redis, some
// of the last thousand rows may be applied. The error is ErrNotOpen for a name with a
// period, and ErrConflict for a board with a window. It is ErrConflict too when the period
// rolls over during the import. Imported always holds the work done until then.
func (s *Store) Import(ctx context.Context, board string, next func() (Row, error)) (Imported, error) {
	im := importer{store: s, board: board}
	if err := s.checkImport(ctx, board); err != nil { // before the first row is read
		return im.done, err
	}
	for {
		row, err := next()
		var refused *RowError
		switch {
		case err == nil:
			u := definition.Update{Member: row.Member, Score: row.Score, Columns: row.Columns, Data: row.Data}
			err := u.Check()
			im.rows = append(im.rows, importRow{row.Line, u, err})
		case errors.As(err, &refused):
			im.rows = append(im.rows, importRow{line: refused.Line, err: refused.Err})
		case err == io.EOF:
			return im.done, im.flush(ctx)
		default:
			// When next fails, ctx has mostly ended too; the rows before are complete.
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

// checkImport refuses a board that takes no updates, and one with a window, whose scores follow from its events.
func (s *Store) checkImport(ctx context.Context, board string) error {
	n, err := definition.ParseName(board)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	to, err := s.writable(ctx, n, time.Now())
	if err == nil && to.rule.IsWindowed() {
		err = conflict("board",
			"%q has a window, in which each update counts for a limited time: send updates, each with the time at which it happened", board)
	}
	return err
}

// importer is an import under way.
type importer struct {
	store *Store
	board string
	rows  []importRow // rows that wait for Apply
	done  Imported
}

type importRow struct {
	line   int64
	update definition.Update
	err    error // why the row is refused; nil: not known to be refused
}

// stop reports whether the import ends at the last row.
func (im *importer) stop() bool {
	err := im.rows[len(im.rows)-1].err
	return err != nil && !refusesOneRow(err)
}

// refusesOneRow reports whether an import goes on after a row with this error.
func refusesOneRow(err error) bool {
	var wrong *definition.FieldError
	return errors.Is(err, definition.ErrOutOfRange) || errors.As(err, &wrong) && wrong.Field == "member"
}

// flush applies the waiting rows, and returns the error that ends the import.
func (im *importer) flush(ctx context.Context) error {
	rows := im.rows
	im.rows = im.rows[:0]
	var updates []definition.Update
	for _, r := range rows {
		if r.err == nil {
			updates = append(updates, r.update)
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
		if err := im.count(r.line, o); end == nil {
			end = err
		}
	}
	return end
}

// count takes the outcome of a row, and returns the error that ends the import.
func (im *importer) count(line int64, o Outcome) error {
	d := &im.done
	switch {
	case o.Err != nil:
		refused := &RowError{line, o.Err}
		if !refusesOneRow(o.Err) {
			return refused
		}
		d.Refused++
		if len(d.First) < MaxRowErrors {
			d.First = append(d.First, refused)
		}
	case d.Rows > 0 && o.Result.Period != d.Period:
		return &RowError{line,
			conflict("board", "%q rolled over from period %s to %s during the import; this row and the rows after it are for the new period",
				im.board, d.Period, o.Result.Period)}
	default:
		d.Period = o.Result.Period
		d.Rows++
	}
	return nil
}
