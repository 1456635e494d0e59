// Package reveal implements rankcast reveal: a host shows the result of a frozen board, member by member.
package reveal

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"rankcast/cmd/rankcast/internal/remote"
	terminal "rankcast/cmd/rankcast/internal/term"
	"rankcast/ranking/definition"
	"rankcast/server/client"
)

// Command is rankcast reveal.
type Command struct {
	Board  string        `arg:"" help:"The frozen board."`
	All    bool          `help:"Reveal all that is left at once."`
	Server remote.Server `embed:""`
}

// Help is the text below the usage line of reveal --help.
func (*Command) Help() string {
	return `Shows who comes next, and reveals that member when you press Enter or the space bar: members who are not on the
public board first, and then from the last place upwards. q quits, and the rest stays pending. A reveal cannot be undone.
Where the input is no terminal, each line of it is one step. With an access file, the key needs the scope moderate.

Examples:
  rankcast reveal finale
      Reveal the result of the board finale, step by step
  rankcast reveal finale --all
      Reveal all that is left`
}

// Run reveals until nothing is left, the user quits, or the input ends.
func (c *Command) Run(ctx context.Context) error {
	if _, err := definition.ParseName(c.Board); err != nil { // it becomes a part of the URL
		return err
	}
	server, err := c.Server.Dial()
	if err != nil {
		return err
	}
	defer server.Close()
	h := host{client: server, board: c.Board, out: os.Stdout, steps: lines(os.Stdin)}
	if c.All {
		return c.explain(ctx, h.all(ctx))
	}
	if terminal.Is(os.Stdin) {
		stdin := int(os.Stdin.Fd())
		before, err := term.MakeRaw(stdin) // each key counts at once, and shows nothing
		if err != nil {
			return fmt.Errorf("read keys from the terminal: %w", err)
		}
		defer term.Restore(stdin, before)
		h.out, h.steps = rawWriter{os.Stdout}, keys(os.Stdin)
		if err := h.print("Enter or the space bar reveals who is next, q quits. No step can be undone."); err != nil {
			return err
		}
	}
	return c.explain(ctx, h.run(ctx))
}

// explain words an error of the server.
func (c *Command) explain(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return errors.New("interrupted; what is revealed stays public")
	}
	return c.Server.Explain(err)
}

// host reveals a board step by step.
type host struct {
	client *client.Client
	board  string
	out    io.Writer
	steps  func() error // waits for the next step; io.EOF: there is none
}

// run shows who comes next, and reveals that member with the next step, until nothing is left.
func (h *host) run(ctx context.Context) error {
	for {
		p, err := h.client.Pending(ctx, h.board, client.PendingQuery{Limit: 1})
		if err != nil {
			return err
		}
		if p.Frozen == nil {
			return h.print("%s is not frozen.", terminal.Isolated(h.board))
		}
		if len(p.Entries) == 0 {
			err = h.print("Nothing is left. The next step ends the freeze.")
		} else {
			err = h.print("Next, of %s: %s", terminal.Thousands(p.Total), preview(p.Entries[0]))
		}
		if err != nil {
			return err
		}
		if err = terminal.Interruptible(ctx, h.steps); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if len(p.Entries) == 0 {
			return h.all(ctx)
		}
		done, err := h.client.Reveal(ctx, h.board, p.Entries[0].Member)
		if err != nil {
			return err
		}
		for _, r := range done.List { // none: somebody else has revealed it
			if err := h.print("  %s", line(r)); err != nil {
				return err
			}
		}
		if done.Frozen == nil {
			return h.print("All is public.")
		}
	}
}

// all reveals all that is left.
func (h *host) all(ctx context.Context) error {
	done, err := h.client.RevealAll(ctx, h.board)
	if err != nil {
		return err
	}
	return h.print("All is public: %s.", terminal.Counted(done.Count, "member"))
}

func (h *host) print(format string, args ...any) error {
	_, err := fmt.Fprintf(h.out, format+"\n", args...)
	return err
}

// preview says what becomes of a member, for the host alone.
func preview(p client.Pending) string {
	who, now := terminal.Isolated(cmp.Or(p.Name, p.Member)), "not on the board now"
	if p.Public != nil {
		now = fmt.Sprintf("now rank %s with %s", terminal.Thousands(p.Public.Rank), terminal.Thousands(p.Public.Score))
	}
	switch at := p.Pending; {
	case at == nil:
		return fmt.Sprintf("%s leaves the board (%s)", who, now)
	case at.Rank == 0:
		return fmt.Sprintf("%s gets %s (%s)", who, terminal.Thousands(at.Score), now)
	default:
		return fmt.Sprintf("%s gets %s, rank %s in the end (%s)", who, terminal.Thousands(at.Score), terminal.Thousands(at.Rank), now)
	}
}

// line is what everybody sees of a member now: rank 1: Ana with 35 (was 3).
func line(r client.Revealed) string {
	who, was := terminal.Isolated(cmp.Or(r.Name, r.Member)), " (new)"
	if r.Previous != nil {
		was = fmt.Sprintf(" (was %s)", terminal.Thousands(r.Previous.Rank))
	}
	if r.Rank == nil || r.Score == nil {
		return who + " has left the board" + was
	}
	return fmt.Sprintf("rank %s: %s with %s%s", terminal.Thousands(*r.Rank), who, terminal.Thousands(*r.Score), was)
}

// lines returns a function that waits for a line of a file.
func lines(f io.Reader) func() error {
	in := bufio.NewReader(f)
	return func() error {
		if line, err := in.ReadString('\n'); err != nil && line == "" {
			return io.EOF
		}
		return nil
	}
}

// The keys that matter. A terminal in raw mode sends the others of them in place of a signal.
const (
	enter, lineFeed, space = '\r', '\n', ' '
	interrupt, endOfInput  = 3, 4 // Ctrl-C, Ctrl-D
)

// keys returns a function that waits for a key on a terminal in raw mode which reveals or quits.
func keys(f io.Reader) func() error {
	return func() error {
		key := make([]byte, 1)
		for {
			if n, err := f.Read(key); err != nil || n == 0 {
				return io.EOF
			}
			switch key[0] {
			case enter, lineFeed, space:
				return nil
			case 'q', interrupt, endOfInput:
				return io.EOF
			}
		}
	}
}

// rawWriter writes lines to a terminal in raw mode, which needs the return to the first column.
type rawWriter struct{ io.Writer }

func (w rawWriter) Write(b []byte) (int, error) {
	_, err := io.WriteString(w.Writer, strings.ReplaceAll(string(b), "\n", "\r\n"))
	return len(b), err
}
