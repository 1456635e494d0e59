package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/alecthomas/kong"

	"rankcast/cmd/rankcast/internal/remote"
	"rankcast/cmd/rankcast/internal/term"
)

// Command is rankcast bench: it measures a server, or a node and a Redis of its own.
type Command struct {
	Gifts   Gifts   `cmd:"" help:"Events with an id, each of which counts on five boards."`
	Updates Updates `cmd:"" help:"Updates with an id of one board."`
	Reads   Reads   `cmd:"" help:"Reads of the first ten entries of one board."`
	Ranks   Ranks   `cmd:"" help:"Reads of the rank of a member of one board, another one at each call."`
	Fanout  Fanout  `cmd:"" help:"Updates of one board that many sockets watch: the time from score to frame."`
	Follow  Follow  `cmd:"" help:"Updates of members whose own rank sockets follow: the time from score to frame."`
	Show    Show    `cmd:"" help:"Gifts of viewers: each watches two boards and the gifts, and follows a rank. Many nodes get the changes."`
	Join    Join    `cmd:"" help:"Sockets that connect and subscribe: the time to the first snapshot, and the memory of each."`

	URL     string `name:"url" placeholder:"URL" help:"Measure the server at this URL, on boards that the command defines and deletes; the key needs the scope admin. Without it the command starts a redis-server and a node of its own."`
	KeyFile string `env:"RANKCAST_KEY_FILE" placeholder:"FILE" help:"File that holds the key for --url. RANKCAST_KEY may hold the key itself instead."`
	Program string `type:"existingfile" placeholder:"PATH" help:"Program rankcast that serves. Default: this one."`
	Versus  string `type:"existingfile" placeholder:"PATH" help:"Another program rankcast to compare with, such as the version before: rounds alternate between the two, each with a Redis of its own."`
	Rounds  *int   `range:"1..1000" placeholder:"N" help:"Rounds of each program; the table has the medians. Default 1, and 3 with --versus."`
	JSON    bool   `name:"json" help:"Print one JSON object with all figures in place of the table."`
}

// Validate checks the flags.
func (c *Command) Validate() error {
	for _, f := range []struct {
		flag  string
		given bool
	}{{"program", c.Program != ""}, {"versus", c.Versus != ""}, {"nodes", c.Show.Nodes > 1}, {"interval", c.Show.Interval != 0}} {
		if f.given && c.URL != "" {
			return fmt.Errorf("--%s has no effect with --url", f.flag)
		}
	}
	return nil
}

// The names of the columns.
const (
	columnOne    = "rankcast"
	columnThis   = "this"
	columnVersus = "versus"
	columnBare   = "bare"
)

// versusRounds is the number of rounds of each program with --versus.
const versusRounds = 3

// Run measures the work that the command line names, and prints the report. It ends what it has started, also when ctx ends,
// which is an error.
func (c *Command) Run(ctx context.Context, command *kong.Context) error {
	r, err := c.measure(ctx, command.Selected().Target.Addr().Interface().(work))
	switch {
	case ctx.Err() != nil && err != nil:
		return errors.New("interrupted")
	case err != nil:
		return err
	}
	r.finish()
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(r)
	}
	_, err = os.Stdout.WriteString(r.table())
	return err
}

// measure runs all rounds. With two programs A and B they are A B B A A B …: what changes on the machine meanwhile
// reaches both.
func (c *Command) measure(ctx context.Context, w work) (r *report, err error) {
	defer term.Status("")
	targets, err := c.open(ctx)
	defer func() {
		for _, t := range targets {
			err = errors.Join(err, t.close())
		}
	}()
	if err != nil {
		return nil, err
	}
	r = &report{about: w.about(), URL: c.URL}
	if c.URL != "" {
		r.Bare = ""
	}
	var run []func(context.Context) (*figures, error) // by column
	for _, t := range targets {
		of, err := w.prepare(ctx, t)
		if err != nil {
			return nil, err
		}
		r.Columns, run = append(r.Columns, &column{Name: t.name, Program: t.program}), append(run, of.measure)
		if len(run) == len(targets) && of.bare != nil && t.own != nil {
			r.Columns, run = append(r.Columns, &column{Name: columnBare}), append(run, of.bare)
		}
	}
	n := map[int]int{1: 1, 2: versusRounds}[len(targets)]
	if c.Rounds != nil {
		n = *c.Rounds
	}
	for round := range n {
		for i := range run {
			if round%2 == 1 && i < len(targets) {
				i = len(targets) - 1 - i
			}
			targets[min(i, len(targets)-1)].round = fmt.Sprintf("round %d of %d, %s: ", round+1, n, r.Columns[i].Name)
			f, err := run[i](ctx)
			if err != nil {
				return nil, err
			}
			r.Columns[i].Rounds = append(r.Columns[i].Rounds, f)
		}
	}
	return r, nil
}

// open opens the targets that the flags name. With an error it returns those that are open.
func (c *Command) open(ctx context.Context) (targets []*target, err error) {
	if c.URL != "" {
		at := remote.Server{URL: c.URL, KeyFile: c.KeyFile}
		key, err := at.Key(ctx)
		if err != nil {
			return nil, err
		}
		t, err := newTarget(columnOne, at, key)
		if err != nil {
			return nil, fmt.Errorf("--url: %w", err)
		}
		return []*target{t}, nil
	}
	program := c.Program
	if program == "" {
		if program, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	columns := []struct{ name, program string }{{columnOne, program}}
	if c.Versus != "" {
		columns = []struct{ name, program string }{{columnThis, program}, {columnVersus, c.Versus}}
	}
	for _, column := range columns {
		t, err := openOwn(ctx, column.name, column.program)
		if err != nil {
			return targets, err
		}
		targets = append(targets, t)
	}
	return targets, nil
}
