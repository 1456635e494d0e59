package doctor

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"

	"rankcast/cmd/rankcast/internal/accessfile"
	"rankcast/ranking"
	"rankcast/ranking/doctor"
	"rankcast/ranking/localredis"
	"rankcast/server/access"
)

// Command is rankcast doctor: it checks Redis and this machine, and says what to change. rankcast serve has the same
// flags, and more.
type Command struct {
	Redis  string          `env:"RANKCAST_REDIS" placeholder:"URL" help:"Redis or Valkey: redis://host:port, unix:///path, redis-sentinel://host:port,host2:port/master, redis-cluster://host:port; rediss:// and so on by TLS. Without it and --data the command checks this machine only."`
	Data   string          `env:"RANKCAST_DATA" placeholder:"DIR" help:"Directory of a node with --data: its Redis is checked, if the node runs. Not together with --redis."`
	Prefix string          `default:"rc" env:"RANKCAST_PREFIX" help:"Start of all keys and channels in Redis."`
	Boards string          `env:"RANKCAST_BOARDS" type:"existingfile" placeholder:"FILE" help:"Boards file (YAML): it is checked, also against the boards in Redis."`
	Access accessfile.Flag `embed:""`
}

// Help is the text below the usage line of doctor --help.
func (*Command) Help() string {
	return `Prints a line for each check: ok, warning, problem or unknown, and what it found. A line below it says what to change.
It changes nothing. Run it on the machine of the node, with these flags or variables as rankcast serve has them.

It exits with 0 if there is no problem, also with warnings and unknown findings. It exits with 1 if there is a problem.

Examples:
  rankcast doctor --redis redis://127.0.0.1:6379
      Check a Redis and this machine
  rankcast doctor --redis redis://127.0.0.1:6379 --boards boards.yaml --access access.yaml
      Check the files of a node too`
}

// Validate checks the flags. It sends nothing to Redis.
func (c *Command) Validate() error {
	if err := ranking.CheckPrefix(c.Prefix); err != nil {
		return fmt.Errorf("--prefix %w", err)
	}
	if c.Data != "" && c.Redis != "" {
		return localredis.ErrTwoStores
	}
	if c.Redis != "" {
		rdb, err := ranking.Open(c.Redis)
		if err != nil {
			return fmt.Errorf("--redis: %w", err)
		}
		return rdb.Close()
	}
	return nil
}

// Run makes all checks, and prints them. It returns an error if one of them found a problem.
func (c *Command) Run(ctx context.Context) error {
	all, err := c.diagnose(ctx)
	if err := cmp.Or(err, ctx.Err()); err != nil {
		return err
	}
	if err := report(os.Stdout, all); err != nil {
		return err
	}
	if n := count(all, doctor.Problem); n > 0 {
		return fmt.Errorf("this deployment has %s", doctor.Counted(n, "problem"))
	}
	return nil
}

// diagnose makes all checks. It returns an error where a flag is wrong.
func (c *Command) diagnose(ctx context.Context) ([]doctor.Finding, error) {
	all, url := c.findRedis(ctx)
	var store *ranking.Store // nil without a Redis
	if url != "" {
		ranking.LogTo(slog.New(slog.DiscardHandler))
		rdb, err := ranking.Open(url)
		if err != nil {
			return nil, err
		}
		defer rdb.Close()
		store = ranking.New(rdb, ranking.Config{Prefix: c.Prefix})
		defer store.Close()
		all = append(all, doctor.Redis(ctx, url, c.Prefix, store)...)
	}
	all = append(all, openFiles(access.Config{}.Capacity()))
	if c.Access.Given() {
		all = append(all, accessFile(&c.Access))
	}
	if c.Boards != "" {
		all = append(all, boardsFile(ctx, c.Boards, store))
	}
	return all, nil
}

// findRedis returns the URL of the Redis to check, or "" and a finding that says why there is none.
func (c *Command) findRedis(ctx context.Context) (all []doctor.Finding, url string) {
	none := doctor.Finding{Check: doctor.Connection}
	switch {
	case c.Redis != "":
		return nil, c.Redis
	case c.Data == "":
		none.Level, none.Found = doctor.Warning,
			"no --redis and no --data: the embedded store holds all scores in memory and loses them when the node stops"
		none.Fix = "give --redis URL, the Redis that keeps the scores, or --data DIR"
		return []doctor.Finding{none}, ""
	}
	url, err := localredis.Running(ctx, c.Data)
	if err == nil && url == "" {
		_, err = localredis.Find(ctx)
	}
	switch {
	case err != nil:
		none.Level, none.Found, none.Fix = doctor.Problem, err.Error(),
			"install or update redis-server, and run the command as the user of the node, with its --data"
	case url == "":
		none.Level, none.Found, none.Fix = doctor.Unknown, "no Redis runs in "+c.Data, "start the node with --data "+c.Data+", and check again"
	default:
		return nil, url
	}
	return []doctor.Finding{none}, ""
}
