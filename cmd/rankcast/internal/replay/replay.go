package replay

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"rankcast/cmd/rankcast/internal/remote"
	"rankcast/cmd/rankcast/internal/term"
	"rankcast/ranking/definition"
	"rankcast/server/client"
)

// Command is rankcast replay: it sends a recording to a server, as updates of a board or as
// events.
type Command struct {
	File  string `arg:"" help:"Recording: CSV, whose first line names the columns, or NDJSON, an object on each line. - is standard input, which a temporary file holds meanwhile. The command checks the whole file before it sends anything."`
	Board string `xor:"target" placeholder:"NAME" help:"Send each line to this board, as an update: its member and score, and its op and id if it has any. Give this or --event."`
	Event string `xor:"target" placeholder:"NAME" help:"Send each line as this event, in place of --board: the event's fields that the line has. In a CSV the event's definition says which fields are numbers."`

	Server remote.Server `embed:""`
	Speed  float64       `placeholder:"N" help:"Send at the recorded times, N times as fast. Each line then needs a time. Without it the command sends as fast as the server accepts."`
	Batch  int           `default:"1000" range:"1..1000" placeholder:"N" help:"Most lines in a request, 1 to 1000 (default ${default}). Events of a request come to at most 4096 updates."`
	From   int           `default:"1" range:"1.." placeholder:"LINE" help:"Go on from this line of the file, which an interrupted run has printed."`
	Format string        `enum:",csv,ndjson" default:"" placeholder:"FORMAT" help:"csv or ndjson. Without it the first bytes of the file decide."`

	Member    string   `default:"member" placeholder:"COLUMN" help:"Column of the member (default ${default})."`
	Score     string   `default:"score" placeholder:"COLUMN" help:"Column of the score (default ${default})."`
	Columns   []string `placeholder:"COLUMNS" help:"Columns of the values on a board with columns, named as there: solved,penalty. In place of --score."`
	Op        string   `placeholder:"COLUMN" help:"Column of the op: sum, best or last (default op, if there)."`
	ID        string   `name:"id" placeholder:"COLUMN" help:"Column of the request id (default id, if there). A line without an id gets one from the file's SHA-256 and the line's number: sent again within ten minutes, it counts once."`
	At        string   `placeholder:"COLUMN" help:"Column of the time (default at): RFC 3339, a date, or milliseconds since 1970."`
	Numbers   []string `placeholder:"COLUMNS" help:"Columns of a CSV that are numbers where the event accepts any JSON, in the data of entries. Without it they are text."`
	KeepTimes bool     `help:"Send the time of each line: on a board with a window the line counts from that time, and the server refuses a time before the window. Each line then needs a time. Without it a line counts from its arrival. To send a file both ways within ten minutes give --id-prefix."`
	IDPrefix  string   `placeholder:"TEXT" help:"Start of generated ids in place of the file's SHA-256, to send the same file again on purpose."`
}

// Help is the text below the usage line of replay --help.
func (r *Command) Help() string {
	return `Needs either --board or --event.

Examples:
  rankcast replay season.csv --board stars --member driver --score points
      Send each line to a board, as an update of it
  rankcast replay gifts.csv --event gift
      Send each line as an event, which counts on all of the event's boards`
}

// Validate checks the flags before Run opens the file.
func (r *Command) Validate() error {
	switch {
	case r.Board == "" && r.Event == "":
		return errors.New("give one of --board=NAME and --event=NAME")
	case r.Speed < 0 || math.IsNaN(r.Speed) || math.IsInf(r.Speed, 0):
		return errors.New("--speed must be a number above 0")
	case len(r.IDPrefix) > 100 || !utf8.ValidString(r.IDPrefix) || strings.ContainsFunc(r.IDPrefix, unicode.IsControl):
		return errors.New("--id-prefix must have at most 100 bytes and no control characters")
	}
	return nil
}

// Run checks the whole file and then sends it. It returns nil when the server has taken each
// line. Else the error says how many lines the server refused, or where to go on after an
// interrupt or an outage. Run returns when ctx ends, at the latest stopGrace after it.
func (r *Command) Run(ctx context.Context) error {
	s := &sender{Command: r}
	c, err := r.Server.Client(client.Config{OnRetry: s.reportRetry})
	if err != nil {
		return err
	}
	defer c.Close()
	file, size, err := r.open(ctx)
	if err != nil {
		return err
	}
	defer file.Close()
	s.client = c
	rec := r.newDecoder()
	if r.Event != "" {
		if rec.event, err = s.eventFields(ctx); err != nil {
			return err
		}
		if _, own := rec.event.FieldType(definition.AtField); own && rec.KeepTimes {
			return fmt.Errorf("--keep-times: event %s has a field %s of its own; leave the flag away", r.Event, definition.AtField)
		}
		s.Batch = min(s.Batch, rec.event.batchLimit())
	}

	// Run reads the file twice. To hold it takes too much memory, and to send before the whole
	// file is known to be good leaves half of it done.
	lines, last := 0, 0
	sum := sha256.New()
	err = rec.decode(io.TeeReader(io.LimitReader(file, size), sum), func(line record) error {
		if last = line.line; last >= r.From {
			lines++
		}
		return ctx.Err()
	})
	switch {
	case ctx.Err() != nil:
		return errors.New("interrupted before anything was sent")
	case err != nil:
		return fmt.Errorf("%s: %w; nothing was sent", r.File, err)
	case last == 0:
		return fmt.Errorf("%s: has no lines to send", r.File)
	case lines == 0:
		return fmt.Errorf("%s: nothing to send from line %d on; it ends with line %d", r.File, r.From, last)
	}
	if rec.prefix == "" {
		rec.prefix = hex.EncodeToString(sum.Sum(nil)[:16])
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	s.started, s.next, s.lines = time.Now(), r.From, lines
	before := sum.Sum(nil)
	sum.Reset()
	err = s.play(ctx, func(each func(record) error) error {
		return rec.decode(io.TeeReader(io.LimitReader(file, size), sum), each)
	})
	term.Status("")
	s.printSummary(os.Stdout)
	switch {
	case ctx.Err() != nil && err != nil:
		return fmt.Errorf("interrupted; %s", s.resumeAdvice())
	case err != nil && s.sent+s.refused == 0 && s.unknown == 0:
		return err
	case err != nil:
		return fmt.Errorf("%w\n%s", err, s.resumeAdvice())
	case !bytes.Equal(before, sum.Sum(nil)):
		return fmt.Errorf("%s changed while it was sent; %s of its %s lines were", r.File, term.Thousands(int64(s.sent+s.refused)),
			term.Thousands(int64(lines)))
	case s.refused > 0:
		return fmt.Errorf("%s of %s lines were refused", term.Thousands(int64(s.refused)), term.Thousands(int64(s.sent+s.refused)))
	}
	return nil
}

// open opens the file. What cannot be read twice becomes a temporary file that is gone when it
// is closed.
func (r *Command) open(ctx context.Context) (file *os.File, size int64, err error) {
	if file = os.Stdin; r.File != "-" {
		if file, err = os.Open(r.File); err != nil {
			return nil, 0, err
		}
	}
	info, err := file.Stat()
	if err != nil {
		return nil, 0, err
	}
	if info.IsDir() {
		return nil, 0, fmt.Errorf("%s is a folder", r.File)
	}
	if info.Mode().IsRegular() && r.File != "-" {
		return file, info.Size(), nil
	}
	defer file.Close()
	spool, err := os.CreateTemp("", "rankcast-replay-")
	if err != nil {
		return nil, 0, err
	}
	os.Remove(spool.Name()) // the open file stays readable
	err = term.Interruptible(ctx, func() error {
		size, err = io.Copy(spool, file)
		return err
	})
	if err == nil {
		_, err = spool.Seek(0, io.SeekStart)
	}
	if err != nil {
		spool.Close()
		return nil, 0, fmt.Errorf("keep %s in a temporary file: %w", r.File, err)
	}
	return spool, size, nil
}
