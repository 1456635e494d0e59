package main

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
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"rankcast/server/client"
)

// replay sends what was recorded to a server.
type replay struct {
	File  string `arg:"" help:"Recording: CSV, whose first line names the columns, or NDJSON, an object on each line. - is standard input, which is kept in a temporary file meanwhile. All of it is checked before anything is sent."`
	Board string `xor:"target" placeholder:"NAME" help:"Send each line to this board, as an update: its member and score, and op and id where there are any. This or --event is needed."`
	Event string `xor:"target" placeholder:"NAME" help:"Send each line as this event, in place of --board: what the line has of the event's fields, in a CSV as numbers or text as the event's definition wants them."`

	Server string  `default:"http://127.0.0.1:8080" env:"RANKCAST_SERVER" placeholder:"URL" help:"Server to send to (default ${default})."`
	Speed  float64 `placeholder:"N" help:"Send as it was recorded, N times as fast; 1 is as it happened. Each line needs a time then. Without it: as fast as the server takes it."`
	Batch  int     `default:"1000" placeholder:"N" help:"How many lines to send at once at most, 1 to 1000 (default ${default}); of an event, never more than come to 4096 updates."`
	From   int     `default:"1" placeholder:"LINE" help:"Go on from this line of the file, as a run that was interrupted said."`
	Format string  `enum:",csv,ndjson" default:"" placeholder:"FORMAT" help:"csv or ndjson; without it, what the file looks like."`

	Member    string   `default:"member" placeholder:"COLUMN" help:"Where the member is (default ${default})."`
	Score     string   `default:"score" placeholder:"COLUMN" help:"Where the score is (default ${default})."`
	Op        string   `placeholder:"COLUMN" help:"Where the op is: sum, best or last (default op, if there)."`
	ID        string   `name:"id" placeholder:"COLUMN" help:"Where the request id is (default id, if there). A line without one gets one made of the file's SHA-256 and the line's number, so that a line, sent again within ten minutes, counts once."`
	At        string   `placeholder:"COLUMN" help:"Where the time is (default at): RFC 3339, a date, or milliseconds since 1970."`
	Numbers   []string `placeholder:"COLUMNS" help:"Columns of a CSV that are numbers where an event takes anything, in the data of entries. Without it they are text."`
	KeepTimes bool     `help:"Send each line's time with it: on a board with a window it counts from then on, and is refused where that is longer ago than the window. Each line needs a time then. Without it, a line counts from when it is sent; to send a file both ways within ten minutes give --id-prefix."`
	IDPrefix  string   `placeholder:"TEXT" help:"Start of made-up ids in place of the file's SHA-256, to send the same file anew on purpose."`
}

// Help is what replay --help says more.
func (r *replay) Help() string {
	return `Needs either --board or --event.

Examples:
  rankcast replay season.csv --board stars --member driver --score points
      Send each line to a board, as an update of it
  rankcast replay gifts.csv --event gift
      Send each line as an event, which counts on all of the event's boards`
}

// Validate refuses what makes no sense before the file is opened.
func (r *replay) Validate() error {
	switch {
	case r.Board == "" && r.Event == "":
		return errors.New("give one of --board=NAME and --event=NAME")
	case r.Speed < 0 || math.IsNaN(r.Speed) || math.IsInf(r.Speed, 0):
		return errors.New("--speed must be a number of times, more than 0")
	case r.Batch < 1 || r.Batch > client.MaxUpdates:
		return fmt.Errorf("--batch must be from 1 to %d", client.MaxUpdates)
	case r.From < 1:
		return errors.New("--from must be 1 or more")
	case len(r.IDPrefix) > 100 || !utf8.ValidString(r.IDPrefix) || strings.ContainsFunc(r.IDPrefix, unicode.IsControl):
		return errors.New("--id-prefix must have at most 100 bytes and no control characters")
	}
	return nil
}

func (r *replay) recording() *recording {
	rec := &recording{format: r.Format, timed: r.Speed > 0 || r.KeepTimes, sent: r.KeepTimes, numbers: r.Numbers, prefix: r.IDPrefix,
		member: r.Member, score: r.Score, op: "op", id: "id", at: "at"}
	for _, f := range []struct {
		given string
		name  *string
	}{{r.Op, &rec.op}, {r.ID, &rec.id}, {r.At, &rec.at}} {
		if f.given != "" {
			*f.name = f.given
			rec.given = append(rec.given, f.given)
		}
	}
	return rec
}

// Run sends the file until it ends, the user or a signal ends it, or the server
// stays away.
func (r *replay) Run(ctx context.Context) error {
	s := &sender{replay: r, bar: progressbar.DefaultSilent(0)}
	c, err := client.New(r.Server, client.Config{OnRetry: s.sayRetry})
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
	rec := r.recording()
	if r.Event != "" {
		if rec.event, err = s.eventFields(ctx); err != nil {
			return err
		}
		if rec.sent && slices.Contains(rec.event.names, eventAt) {
			return fmt.Errorf("--keep-times: event %s has a field %s of its own; leave the flag away", r.Event, eventAt)
		}
		s.Batch = min(s.Batch, rec.event.atOnce())
	}

	// Twice over the file: to hold it would take too much memory, and to send
	// some before all is known to be good would leave half of it done.
	lines, last := 0, 0
	sum := sha256.New()
	err = rec.read(io.TeeReader(io.LimitReader(file, size), sum), func(line recorded) error {
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
	s.started, s.next = time.Now(), r.From
	s.bar = progressbar.NewOptions(lines,
		progressbar.OptionSetWriter(os.Stderr), progressbar.OptionSetVisibility(term.IsTerminal(int(os.Stderr.Fd()))),
		progressbar.OptionShowCount(), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	before := sum.Sum(nil)
	sum.Reset()
	err = s.play(ctx, func(each func(recorded) error) error {
		return rec.read(io.TeeReader(io.LimitReader(file, size), sum), each)
	})
	s.bar.Clear()
	s.summary(os.Stdout)
	switch {
	case ctx.Err() != nil && err != nil:
		return fmt.Errorf("interrupted; %s", s.advice())
	case err != nil && s.sent+s.refused == 0 && s.unknown == 0:
		return s.explain(err)
	case err != nil:
		return fmt.Errorf("%w\n%s", s.explain(err), s.advice())
	case !bytes.Equal(before, sum.Sum(nil)):
		return fmt.Errorf("%s changed while it was sent; %s of its %s lines were", r.File, thousands(int64(s.sent+s.refused)), thousands(int64(lines)))
	case s.refused > 0:
		return fmt.Errorf("%s of %s lines were refused", thousands(int64(s.refused)), thousands(int64(s.sent+s.refused)))
	}
	return nil
}

// open opens the file, and what can't be read twice as a copy that is gone when
// it is closed.
func (r *replay) open(ctx context.Context) (file *os.File, size int64, err error) {
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
	os.Remove(spool.Name()) // it lives on as long as it is open
	err = untilEnd(ctx, func() error {
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

// untilEnd does what cannot be interrupted, and is waited for only until ctx ends:
// the program is about to end then.
func untilEnd(ctx context.Context, do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
