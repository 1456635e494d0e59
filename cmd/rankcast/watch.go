package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/term"

	"rankcast/ranking/definition"
	"rankcast/server/client"
)

// watch shows a board live: on the terminal, or as lines of JSON.
type watch struct {
	Board  string `arg:"" help:"Board to watch: stars, fans:s17 of a family, stars@2026-W46 or stars@-1 for a period that has closed."`
	Top    int    `default:"10" help:"How many of the first entries to show, 0 to 1000."`
	Me     string `placeholder:"ID" help:"A member whose own rank is shown too, wherever it is."`
	Around int    `placeholder:"N" help:"How many neighbours of --me to show on each side, 0 to 20."`
	Server string `default:"http://127.0.0.1:8080" env:"RANKCAST_SERVER" placeholder:"URL" help:"Server to ask (default ${default})."`
	JSON   bool   `name:"json" help:"Print each state of the board as a line of JSON, for scripts. Needs no terminal."`
}

// Validate refuses what no server would show.
func (w *watch) Validate() error {
	switch {
	case w.Top < 0 || w.Top > 1000:
		return errors.New("--top must be from 0 to 1000")
	case w.Around < 0 || w.Around > 20:
		return errors.New("--around must be from 0 to 20")
	case w.Around > 0 && w.Me == "":
		return errors.New("--around needs --me")
	}
	return nil
}

// Run shows the board until the user, a signal or the server ends it.
func (w *watch) Run(ctx context.Context) error {
	c, err := client.New(w.Server, client.Config{})
	if err != nil {
		return err
	}
	defer c.Close()
	what := client.Watch{Top: w.Top, Me: w.Me, Around: w.Around}
	if w.Top == 0 {
		what.Top = -1
	}
	if w.JSON {
		// A reader that stalls holds up the line that is being written.
		err := untilEnd(ctx, func() error { return w.print(ctx, c, what, os.Stdout) })
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	if !term.IsTerminal(int(os.Stdout.Fd())) {
		return errors.New("standard output is not a terminal; --json prints the board as lines instead")
	}
	if !signal.Ignored(syscall.SIGHUP) { // as a terminal that is closed sends
		hungUp, stop := signal.NotifyContext(ctx, syscall.SIGHUP)
		defer stop()
		ctx = hungUp
	}
	if w.Me != "" {
		what.Around = max(what.Around, 1) // for the distance to the next place
	}
	return w.screen(ctx, c, what)
}

// redacted is a URL without the password that it may have.
func redacted(server string) string {
	if u, err := url.Parse(server); err == nil {
		return u.Redacted()
	}
	return server
}

// refused takes the client's words off what a user can read without them.
func refused(err error) error {
	var e *client.Error
	if errors.As(err, &e) {
		return e
	}
	return err
}

// screen shows the board on the terminal. The terminal is as it was when it
// returns.
func (w *watch) screen(ctx context.Context, c *client.Client, what client.Watch) error {
	// (Signals are the caller's: they end ctx.)
	program := tea.NewProgram(newScreen(w.Board, redacted(w.Server), w.Me, w.Around), tea.WithoutSignalHandler())
	ctx, cancel := context.WithCancel(ctx)
	var failed error
	var watching sync.WaitGroup
	watching.Go(func() {
		if err := c.Watch(ctx, w.Board, what, func(b client.Board) { program.Send(b) }); ctx.Err() == nil {
			failed = refused(err)
		}
		program.Quit()
	})
	_, err := program.Run()
	cancel()
	watching.Wait()
	if failed != nil {
		return failed
	}
	return err
}

// line is a board as it is printed.
type line struct {
	Board  string         `json:"board"`
	Period string         `json:"period"`
	Ends   *string        `json:"ends"` // null: never
	Final  bool           `json:"final"`
	Epoch  string         `json:"epoch"`
	Seq    int64          `json:"seq"`
	Total  int64          `json:"total"`
	State  client.State   `json:"state"`
	AsOf   *string        `json:"as_of"` // null while live
	Top    []client.Entry `json:"top"`
	Me     *meLine        `json:"me"` // null where it was not asked for
}

type meLine struct {
	Member string         `json:"member"`
	Seq    int64          `json:"seq"`
	Rank   *int64         `json:"rank"`
	Score  *int64         `json:"score"`
	Total  int64          `json:"total"`
	ToNext *int64         `json:"to_next"`
	Around []client.Entry `json:"around"` // null: not asked for, or not known at this moment
}

func newLine(b client.Board) line {
	l := line{Board: b.Board, Period: b.Period, Ends: wireTime(b.Ends), Final: b.Final, Epoch: b.Epoch, Seq: b.Seq, Total: b.Total,
		State: b.State, AsOf: wireTime(b.AsOf), Top: b.Top}
	if l.Top == nil {
		l.Top = []client.Entry{}
	}
	if m := b.Me; m != nil {
		l.Me = &meLine{m.Member, m.Seq, m.Rank, m.Score, m.Total, m.ToNext, m.Around}
	}
	return l
}

// wireTime is a time as the server writes it; nil for none.
func wireTime(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := t.UTC().Format(definition.TimeForm)
	return &text
}

// print prints a line for each state, until nobody reads them any more. What is
// not known yet is no state.
func (w *watch) print(ctx context.Context, c *client.Client, what client.Watch, out *os.File) error {
	signal.Ignore(syscall.SIGPIPE) // a write tells
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var watching sync.WaitGroup
	defer watching.Wait()
	defer cancel()
	watching.Go(func() {
		if awaitReaderGone(ctx, out) {
			cancel()
		}
	})
	var failed error
	var text, before bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	told := false
	err := c.Watch(ctx, w.Board, what, func(b client.Board) {
		if b.State == client.Connecting || b.Top == nil && b.Epoch == "" && b.State != client.Live {
			if b.Err != nil && !told {
				told = true
				fmt.Fprintf(os.Stderr, "rankcast: %s does not answer, trying again: %s\n", redacted(w.Server), printable(cause(b.Err).Error()))
			}
			return
		}
		text.Reset()
		err := encoder.Encode(newLine(b))
		if err == nil && !bytes.Equal(text.Bytes(), before.Bytes()) { // why it is away may have changed, which is not printed
			before.Reset()
			before.Write(text.Bytes())
			_, err = out.Write(text.Bytes())
		}
		if err != nil {
			if failed = err; errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
				failed = nil
			}
			cancel()
		}
	})
	if failed != nil {
		return fmt.Errorf("print the board: %w", failed)
	}
	if ctx.Err() != nil {
		return nil
	}
	return refused(err)
}

// readerPoll is how long a reader that has gone may go unnoticed while the board
// is quiet.
const readerPoll = 200 * time.Millisecond
