package doctor

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"rankcast/cmd/rankcast/internal/accessfile"
	"rankcast/ranking"
	"rankcast/ranking/diagnosis"
)

// Command is rankcast doctor: it checks Redis and this machine, and says what to change. Its flags are those of
// rankcast serve.
type Command struct {
	Redis  string          `env:"RANKCAST_REDIS" placeholder:"URL" help:"Redis or Valkey: redis://host:port, rediss://, unix:///path, redis-cluster://host:port. Without it the command checks this machine only."`
	Prefix string          `default:"rc" env:"RANKCAST_PREFIX" help:"Start of all keys and channels in Redis."`
	Boards string          `env:"RANKCAST_BOARDS" type:"existingfile" placeholder:"FILE" help:"Boards file (YAML): it is checked, also against the boards in Redis."`
	Access accessfile.Flag `embed:""`
}

// Help is the text below the usage line of doctor --help.
func (*Command) Help() string {
	return `Prints a line for each check: ok, warning, problem or unknown, and what it found. A line below it says what to change.
It changes nothing. Give it the flags and variables of rankcast serve, on the machine of the node.

It exits with 0 if there is no problem, warnings or not, and with 1 if there is one.

Examples:
  rankcast doctor --redis redis://127.0.0.1:6379
      Check a Redis and this machine
  rankcast doctor --redis redis://127.0.0.1:6379 --boards boards.yaml --access access.yaml
      Check the files of a node too`
}

// Validate checks the flags.
func (c *Command) Validate() error {
	if err := ranking.CheckPrefix(c.Prefix); err != nil {
		return fmt.Errorf("--prefix %w", err)
	}
	return nil
}

// Run makes all checks, and prints them. It returns an error if one of them found a problem.
func (c *Command) Run(ctx context.Context) error {
	all, err := c.diagnose(ctx)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	if err := report(os.Stdout, all); err != nil {
		return err
	}
	if n := count(all, diagnosis.Problem); n > 0 {
		return fmt.Errorf("this deployment has %s", diagnosis.Counted(n, "problem"))
	}
	return nil
}

// diagnose makes all checks. It returns an error where a flag is wrong.
func (c *Command) diagnose(ctx context.Context) ([]diagnosis.Finding, error) {
	boards, set := readBoards(c.Boards)
	zones := zonesOf(set.Boards)
	var all []diagnosis.Finding
	if c.Redis == "" {
		all = append(all, diagnosis.Finding{Check: diagnosis.Connection, Level: diagnosis.Warning,
			Found: "no --redis: the embedded store holds all scores in memory and loses them when the node stops", Fix: "give --redis URL, the Redis that keeps the scores"})
	} else {
		ranking.LogTo(slog.New(slog.DiscardHandler))
		rdb, err := ranking.Open(c.Redis)
		if err != nil {
			return nil, err
		}
		defer rdb.Close()
		store := ranking.New(rdb, ranking.Config{Prefix: c.Prefix})
		defer store.Close()
		all = store.Diagnose(ctx)
		defined, err := store.Boards(ctx)
		if err == nil {
			zones = append(zones, zonesOf(defined)...)
		}
		if c.Boards != "" && boards.Level == diagnosis.OK {
			boards = compare(ctx, store, boards, set)
		}
	}
	all = append(all, openFiles(), timeZones(zones))
	if c.Access.Given() {
		all = append(all, accessFile(&c.Access)...)
	}
	if c.Boards != "" {
		all = append(all, boards)
	}
	return all, nil
}
