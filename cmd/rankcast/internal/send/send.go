package send

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rankcast/cmd/rankcast/internal/remote"
	"rankcast/cmd/rankcast/internal/term"
	"rankcast/ranking/definition"
	"rankcast/server/client"
)

// Command is rankcast send.
type Command struct {
	What []string `arg:"" optional:"" name:"what" help:"BOARD MEMBER SCORE; or BOARD MEMBER with --columns; or with --event the event's fields, as NAME=VALUE."`

	Event   string        `placeholder:"NAME" help:"Send this event in place of a score."`
	Columns string        `placeholder:"NAME:VALUE,…" help:"Values of the columns, on a board with columns: solved:1,penalty:20. In place of SCORE."`
	ID      string        `name:"id" placeholder:"ID" help:"Request id: sent again with it within ten minutes, the score counts once. Default a random one."`
	Op      string        `enum:",sum,best,last" default:"" placeholder:"OP" help:"Effect of the score: sum, best or last (default the board's mode)."`
	If      string        `name:"if" enum:",exists,absent" default:"" placeholder:"CONDITION" help:"Change the score only of a member that is on the board (exists), or is not (absent)."`
	Data    string        `placeholder:"JSON" help:"Data to store with the member's entry, up to 256 bytes of JSON. null removes it."`
	At      string        `placeholder:"TIME" help:"Time from which the score counts, on a board with a window: as 2026-11-20T08:00:00Z, or milliseconds since 1970."`
	Server  remote.Server `embed:""`
	JSON    bool          `name:"json" help:"Print the result as a line of JSON."`
}

// Help is the text below the usage line of send --help.
func (Command) Help() string {
	return `Sends one score or one event, and prints a line for each board. While the server does not answer, it tries
again for a minute, always with the same request id, so that the score counts once.

Examples:
  rankcast send points ana 40
      Give ana 40 points
  rankcast send laps ana 61500 --id race-7-ana
      Send a lap time in milliseconds, with a request id of one's own
  rankcast send icpc mit --columns solved:1,penalty:20
      One more problem, and 20 minutes more, on a board with columns
  rankcast send --event gift star=s17 user=mochi flowers=3
      Send an event, which counts on all of its boards`
}

// Validate checks the flags and the number of arguments.
func (s *Command) Validate() error {
	s.unmark()
	if s.Event == "" {
		switch {
		case s.Columns != "" && len(s.What) != 2:
			return fmt.Errorf("got %d arguments; with --columns want BOARD MEMBER, such as icpc mit", len(s.What))
		case s.Columns == "" && len(s.What) != 3:
			return fmt.Errorf("got %d arguments; want BOARD MEMBER SCORE, such as points ana 40, or --columns, or --event", len(s.What))
		}
		return nil
	}
	for _, flag := range []struct{ name, value string }{{"--columns", s.Columns}, {"--op", s.Op}, {"--if", s.If}, {"--data", s.Data}} {
		if flag.value != "" {
			return fmt.Errorf("%s cannot be used with --event, whose definition decides that", flag.name)
		}
	}
	return nil
}

// negative is a number below zero, which looks like a flag.
var negative = regexp.MustCompile(`^-[0-9][0-9.]*$`)

// mark begins an argument that looks like a flag and is none. No argument of a program holds a
// zero byte.
const mark = "\x00"

// Arguments marks the negative numbers among the arguments of rankcast send, so that the parser
// does not take them for flags. args are those of the program. Validate removes the marks.
func Arguments(args []string) []string {
	if len(args) == 0 || args[0] != "send" {
		return args
	}
	args = slices.Clone(args)
	for i, arg := range args {
		if negative.MatchString(arg) {
			args[i] = mark + arg
		}
	}
	return args
}

// unmark removes the marks of Arguments.
func (s *Command) unmark() {
	for i := range s.What {
		s.What[i] = strings.TrimPrefix(s.What[i], mark)
	}
	for _, flag := range []*string{&s.Event, &s.ID, &s.Data, &s.At} {
		*flag = strings.TrimPrefix(*flag, mark)
	}
}

// Run checks and sends the score or the event, and prints a line for each board. It returns an
// error if a board refused it, or if it may not have counted.
func (s *Command) Run(ctx context.Context) error {
	s.ID = cmp.Or(s.ID, rand.Text())
	if err := definition.CheckText("id", s.ID); err != nil {
		return fmt.Errorf("--%w", err)
	}
	var at time.Time
	if s.At != "" {
		var err error
		if at, err = parseAt(s.At); err != nil {
			return fmt.Errorf("--%w", err)
		}
	}
	c, err := s.Server.DialWith(client.Config{CountRanks: true})
	if err != nil {
		return err
	}
	defer c.Close()
	if s.Event != "" {
		return s.sendEvent(ctx, c, at)
	}
	return s.sendScore(ctx, c, at)
}

// parseAt parses a time by the server's rule.
func parseAt(text string) (time.Time, error) {
	if v := jsontext.Value(text); v.IsValid() && v.Kind() == '0' {
		return definition.ParseAt(v)
	}
	quoted, err := jsontext.AppendQuote(nil, text)
	if err != nil {
		return time.Time{}, definition.Invalid("at", "is not valid UTF-8")
	}
	return definition.ParseAt(quoted)
}

func (s *Command) sendScore(ctx context.Context, c *client.Client, at time.Time) error {
	board := s.What[0]
	if _, err := definition.ParseName(board); err != nil { // it becomes a part of the URL
		return err
	}
	u := client.Update{Member: s.What[1], Op: client.Op(s.Op), If: client.Condition(s.If), At: at, ID: s.ID}
	var err error
	if s.Columns != "" {
		u.Columns, err = parseColumns(s.Columns)
	} else {
		u.Score, err = definition.ParseScore("score", s.What[2])
	}
	if err != nil {
		return err
	}
	if s.Data != "" {
		if u.Data = jsontext.Value(s.Data); !u.Data.IsValid() {
			return definition.Invalid("--data", "is not valid JSON")
		}
	}
	r, err := c.Update(ctx, board, u)
	switch {
	case err != nil:
		return s.explain(ctx, board, err)
	case s.JSON:
		return printJSON(r)
	}
	fmt.Println(s.line(r))
	return nil
}

// parseColumns parses the values of columns.
func parseColumns(text string) (client.Columns, error) {
	values, err := definition.ParseColumns("--columns", text)
	if err != nil {
		return nil, err
	}
	var columns client.Columns
	for _, name := range slices.Sorted(maps.Keys(values)) {
		columns = append(columns, client.Column{Name: name, Value: values[name]})
	}
	return columns, nil
}

// scoreText is a score in words: 40, or solved 5, penalty 320.
func scoreText(score int64, columns client.Columns) string {
	if columns == nil {
		return term.Thousands(score)
	}
	parts := make([]string, len(columns))
	for i, c := range columns {
		parts[i] = c.Name + " " + term.Thousands(c.Value)
	}
	return strings.Join(parts, ", ")
}

// printJSON prints v as a line of JSON.
func printJSON(v any) error { return json.MarshalEncode(jsontext.NewEncoder(os.Stdout), v) }

// line is the result of an update in words: points: ana has 40, rank 1 (was 2).
func (s *Command) line(r client.Result) string {
	var b strings.Builder
	member := term.Isolated(r.Member)
	fmt.Fprintf(&b, "%s: ", term.Isolated(r.Board))
	switch {
	case r.Frozen:
		fmt.Fprintf(&b, "the board is frozen, and shows the score of %s later", member)
	case r.Score == nil && s.If != "":
		fmt.Fprintf(&b, "%s has no score; --if %s changed nothing", member, s.If)
	case r.Score == nil:
		fmt.Fprintf(&b, "%s was counted; the board shows no score of it now", member)
	case r.Rank == nil:
		fmt.Fprintf(&b, "%s has %s, and no rank: it is hidden, or a shard of the board does not answer", member,
			scoreText(*r.Score, r.Columns))
	default:
		fmt.Fprintf(&b, "%s has %s, rank %s", member, scoreText(*r.Score, r.Columns), term.Thousands(*r.Rank))
	}
	switch before := r.Previous; {
	case r.TakenBack:
		b.WriteString(" (taken back)")
	case r.Duplicate:
		b.WriteString(" (sent before with this id; counts once)")
	case r.Score == nil || r.Rank == nil:
	case before == nil:
		b.WriteString(" (new)")
	case before.Score == *r.Score && (before.Rank == *r.Rank || before.Rank == 0): // 0: a board with shards
		b.WriteString(" (unchanged)")
	case before.Rank != *r.Rank && before.Rank > 0:
		fmt.Fprintf(&b, " (was %s)", term.Thousands(before.Rank))
	}
	return b.String()
}

// explain words the error of a request to a board or an event.
func (s *Command) explain(ctx context.Context, name string, err error) error {
	var answer *client.Error
	switch unknown := errors.Is(err, client.ErrOutcomeUnknown); {
	case ctx.Err() != nil && !unknown && !errors.As(err, &answer): // also while the client read what to send
		return errors.New("interrupted; the score has not counted")
	case unknown && ctx.Err() != nil:
		return fmt.Errorf("interrupted; the score may have counted: send it again within ten minutes with --id %s", s.ID)
	case ctx.Err() != nil && errors.As(err, &answer):
		return fmt.Errorf("interrupted; the score has not counted: %w", answer)
	case unknown:
		return fmt.Errorf("%w\nthe score may have counted: send it again within ten minutes with --id %s", s.Server.Explain(err), s.ID)
	case errors.As(err, &answer) && answer.Code == "unknown_board" && s.Event == "" && definition.CheckBoard(name) == nil:
		return fmt.Errorf("%w\ncheck the name, or define it with: rankcast put %s\nif it is an event: rankcast send --event %s",
			answer, name, name)
	}
	return s.Server.Explain(err)
}
