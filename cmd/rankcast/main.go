// Command rankcast is a real-time leaderboard server.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"reflect"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/alecthomas/kong"

	"rankcast/cmd/rankcast/internal/bench"
	"rankcast/cmd/rankcast/internal/credentials"
	"rankcast/cmd/rankcast/internal/define"
	"rankcast/cmd/rankcast/internal/doctor"
	"rankcast/cmd/rankcast/internal/example"
	"rankcast/cmd/rankcast/internal/flags"
	"rankcast/cmd/rankcast/internal/remote"
	"rankcast/cmd/rankcast/internal/replay"
	"rankcast/cmd/rankcast/internal/reveal"
	"rankcast/cmd/rankcast/internal/send"
	"rankcast/cmd/rankcast/internal/status"
	"rankcast/cmd/rankcast/internal/term"
	"rankcast/cmd/rankcast/internal/watch"
)

type commands struct {
	Serve   serve             `cmd:"" help:"Run a server."`
	Ingest  ingestCommand     `cmd:"" help:"Apply updates and events from Redis Streams."`
	Watch   watch.Command     `cmd:"" help:"Show a board, live."`
	Reveal  reveal.Command    `cmd:"" help:"Reveal what a frozen board keeps back, member by member."`
	Replay  replay.Command    `cmd:"" help:"Send a recording to a server."`
	Bench   bench.Command     `cmd:"" help:"Measure a server: rates, latencies, and what they cost."`
	Check   define.Check      `cmd:"" help:"Check a boards file, without a server."`
	Doctor  doctor.Command    `cmd:"" help:"Check Redis and this machine, and say what to change."`
	Status  status.Command    `cmd:"" help:"Show whether all is well: the nodes, Redis, and what to do."`
	Put     define.Put        `cmd:"" help:"Define a board, or all of a boards file, on a running server."`
	Send    send.Command      `cmd:"" help:"Send a score or an event to a server."`
	Reindex reindexCommand    `cmd:"" help:"Build the index of names of a kind of members anew."`
	Key     credentials.Key   `cmd:"" help:"Make a key for the access file of a server."`
	Token   credentials.Token `cmd:"" help:"Make a viewer's token, to try things out."`
	Example example.Command   `cmd:"" help:"Print an example: a boards file, alerts, a dashboard, a deployment."`
	Version showVersion       `cmd:"" help:"Print the version."`

	VersionFlag kong.VersionFlag `name:"version" help:"Print the version."`
}

// Validate checks the bounds of flags. It is called before the checks of each command.
func (*commands) Validate(command *kong.Context) error { return flags.CheckRanges(command) }

const description = `A real-time leaderboard server: game servers send scores by HTTP, and each client
that watches a board sees them at once.

Examples:
  rankcast serve --demo
      Try it: nothing to install, made-up scores, http://127.0.0.1:8080/stars
  rankcast example boards > boards.yaml
      Write a boards file to begin with
  rankcast check boards.yaml
      Check a boards file without a server
  rankcast serve --redis redis://127.0.0.1:6379 --boards boards.yaml
      Serve the boards of a file from a Redis, with any number of nodes
  rankcast serve --data ./scores --boards boards.yaml
      Keep the scores in a folder, by a Redis that the node runs
  rankcast doctor --redis redis://127.0.0.1:6379
      Check a Redis and this machine
  rankcast status
      Show whether all nodes and Redis are well
  rankcast ingest --redis redis://127.0.0.1:6379
      Apply what producers append by XADD to a stream of that Redis
  rankcast put points '{kind: player}'
      Define a board on a running server
  rankcast send points ana 40
      Send a score
  rankcast send --event gift star=s17 user=mochi flowers=3
      Send an event, which counts on many boards
  rankcast watch points --me ana
      Show a board in the terminal, live
  rankcast reveal finale
      Reveal the result of a frozen board, member by member
  rankcast replay laps.csv --board laps
      Send a recording; with --speed 60 an hour of it takes a minute
  rankcast bench updates
      Measure updates on a server and a Redis of its own
  rankcast key new --name ops --scope admin
      Make a key, and its line for the access file of a server
  rankcast token --access access.yaml --sub u4 --board 'fans:*' --event gift
      Make a viewer's token, to try things out`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	var c commands
	parser := kong.Must(&c, kong.Name("rankcast"), kong.Description(description),
		kong.TypeMapper(reflect.TypeFor[time.Duration](), decodeDuration),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.ShortUsageOnError(), kong.Vars{"version": versionLine(), "addr": remote.DefaultAddr}, kong.BindTo(ctx, (*context.Context)(nil)))
	args := send.Arguments(os.Args[1:])
	if len(args) == 0 {
		args = []string{"--help"}
	}
	parser.FatalIfErrorf(checkText(args))
	command, err := parser.Parse(args)
	parser.FatalIfErrorf(nameCommands(err))
	if err := command.Run(parser.Model); errors.Is(err, errLogged) {
		os.Exit(1)
	} else if err != nil {
		for i, line := range strings.Split(err.Error(), "\n") { // the message may have lines of a server
			fmt.Fprintln(os.Stderr, []string{"rankcast:", "         "}[min(i, 1)], term.Printable(line))
		}
		os.Exit(1)
	}
}

// checkText refuses arguments that are not UTF-8. JSON cannot hold such bytes, so a score would count for another member.
func checkText(args []string) error {
	for _, arg := range args {
		if !utf8.ValidString(arg) {
			return fmt.Errorf("%q is not UTF-8: type it on a terminal with a UTF-8 locale, or convert it with iconv", arg)
		}
	}
	return nil
}
