package watch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"

	"rankcast/cmd/rankcast/internal/remote"
	"rankcast/cmd/rankcast/internal/term"
	"rankcast/ranking/definition"
	"rankcast/server/client"
)

// Command is rankcast watch: it shows a board live, on the terminal or as lines of JSON.
type Command struct {
	Board  string        `arg:"" help:"Board to watch: stars, fans:s17 of a family, stars@2026-W46 or stars@-1 for a period that has closed."`
	Top    int           `default:"10" range:"0..1000" help:"How many of the first entries to show, 0 to 1000."`
	Me     string        `placeholder:"ID" help:"Member whose own rank to show too, wherever it is."`
	Around int           `range:"0..20" placeholder:"N" help:"How many neighbours of --me to show on each side, 0 to 20."`
	Server remote.Server `embed:""`
	JSON   bool          `name:"json" help:"Print each state of the board as a line of JSON, for scripts. Needs no terminal."`
}

// Validate checks the flags.
func (w *Command) Validate() error {
	if w.Around > 0 && w.Me == "" {
		return errors.New("--around needs --me")
	}
	return nil
}

// Run shows the board until the user quits, ctx ends, or the server refuses the board, which
// is its error. A server that does not answer is tried again without end.
func (w *Command) Run(ctx context.Context) error {
	c, err := w.Server.Client(client.Config{})
	if err != nil {
		return err
	}
	defer c.Close()
	what := client.Watch{Top: w.Top, Me: w.Me, Around: w.Around}
	if w.Top == 0 {
		what.Top = -1
	}
	if w.JSON {
		// A slow reader blocks the write of a line.
		err := term.Interruptible(ctx, func() error { return w.printJSON(ctx, c, what, os.Stdout) })
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	if !term.Is(os.Stdout) {
		return errors.New("standard output is not a terminal; --json prints the board as lines instead")
	}
	if !signal.Ignored(syscall.SIGHUP) { // from a terminal that is closed
		hungUp, stop := signal.NotifyContext(ctx, syscall.SIGHUP)
		defer stop()
		ctx = hungUp
	}
	if w.Me != "" {
		what.Around = max(what.Around, 1) // the server then sends the distance to the next rank
	}
	return w.runTUI(ctx, c, what)
}

// runTUI shows the board on the terminal and restores the terminal before it returns.
func (w *Command) runTUI(ctx context.Context, c *client.Client, what client.Watch) error {
	// The caller handles signals: they end ctx.
	program := tea.NewProgram(newModel(w.Board, w.Server.Redacted(), w.Me, w.Around), tea.WithoutSignalHandler())
	ctx, cancel := context.WithCancel(ctx)
	var failed error
	var watching sync.WaitGroup
	watching.Go(func() {
		if err := c.Watch(ctx, w.Board, what, func(b client.Board) { program.Send(b) }); ctx.Err() == nil {
			failed = w.Server.Explain(err)
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

// jsonBoard is a line of watch --json.
type jsonBoard struct {
	Board  string         `json:"board"`
	Period string         `json:"period"`
	Ends   *string        `json:"ends"` // null: never
	Final  bool           `json:"final"`
	Frozen *jsonFrozen    `json:"frozen,omitempty"`
	Epoch  string         `json:"epoch"`
	Seq    int64          `json:"seq"`
	Total  int64          `json:"total"`
	State  client.State   `json:"state"`
	AsOf   *string        `json:"as_of"` // null while live
	Top    []client.Entry `json:"top"`
	Me     *client.Me     `json:"me"` // null without --me; its around is null without --around, or while unknown
}

type jsonFrozen struct {
	Since   *string `json:"since"`
	Reveals string  `json:"reveals"`
}

func newJSONBoard(b client.Board) jsonBoard {
	l := jsonBoard{Board: b.Board, Period: b.Period, Ends: definition.FormatTime(b.Ends), Final: b.Final, Epoch: b.Epoch,
		Seq: b.Seq, Total: b.Total, State: b.State, AsOf: definition.FormatTime(b.AsOf), Top: b.Top, Me: b.Me}
	if f := b.Frozen; f != nil {
		l.Frozen = &jsonFrozen{definition.FormatTime(f.Since), f.Reveals}
	}
	if l.Top == nil {
		l.Top = []client.Entry{}
	}
	return l
}

// printJSON prints a line for each state of the board until the reader closes the pipe. It
// prints nothing before the first state.
func (w *Command) printJSON(ctx context.Context, c *client.Client, what client.Watch, out *os.File) error {
	signal.Ignore(syscall.SIGPIPE) // the error of a write reports it
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var watching sync.WaitGroup
	defer watching.Wait()
	defer cancel()
	watching.Go(func() {
		if awaitReaderClosed(ctx, out) {
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
				fmt.Fprintln(os.Stderr, w.Server.RetryLine(remote.UntilItDoes, b.Err))
			}
			return
		}
		text.Reset()
		err := encoder.Encode(newJSONBoard(b))
		if err == nil && !bytes.Equal(text.Bytes(), before.Bytes()) { // the reason of an outage is not part of the line
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
	return w.Server.Explain(err)
}

// readerPoll is how long a closed reader may go unnoticed on a quiet board.
const readerPoll = 200 * time.Millisecond
