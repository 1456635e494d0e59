// Package status implements rankcast status, which prints the verdict, the problems, and the state of all nodes and of Redis.
package status

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"rankcast/cmd/rankcast/internal/remote"
	"rankcast/cmd/rankcast/internal/term"
	"rankcast/server/client"
)

// Command is rankcast status.
type Command struct {
	Server remote.Server `embed:""`
}

// Help is the text below the usage line of status --help.
func (*Command) Help() string {
	return `Asks one server, which knows of all nodes. With an access file, the key needs the scope admin. Prints what is not well,
and what to do, and then the nodes and Redis. It exits with 1 if not all is well.

Examples:
  rankcast status
      Look at the server on this machine
  rankcast status --server https://scores.example.com --key-file ops.key
      Look at another one`
}

// Run prints the state. It returns an error if not all is well.
func (c *Command) Run(ctx context.Context) error {
	server, err := c.Server.Client(client.Config{RetryFor: -1})
	if err != nil {
		return err
	}
	defer server.Close()
	s, err := server.Status(ctx)
	if err != nil {
		return c.Server.Explain(err)
	}
	if err := report(os.Stdout, s); err != nil {
		return err
	}
	if !s.Well {
		return fmt.Errorf("not all is well: %s", term.Counted(len(s.Problems), "problem"))
	}
	return nil
}

// report prints the verdict, the problems, and a table of the nodes and one of Redis.
func report(w io.Writer, s client.Status) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if s.Well {
		fmt.Fprintln(out, "All is well.")
	} else {
		fmt.Fprintf(out, "Not all is well: %s.\n", term.Counted(len(s.Problems), "problem"))
	}
	for _, p := range s.Problems {
		of := ""
		switch {
		case p.Node != "":
			of = p.Node + " "
		case p.Redis != "":
			of = p.Redis + ": "
		}
		fmt.Fprintf(out, "\n%s\n  %s\n", term.Printable(of+p.Message), term.Printable(p.Advice))
	}
	fmt.Fprintln(out)
	row(out, "NODE", "VERSION", "CLIENTS", "UPDATES/S", "P99 MS", "CPU", "MIB")
	for _, n := range s.Nodes {
		clients := term.Thousands(n.Sockets + n.Streams)
		if n.Role != "serve" {
			clients = n.Role
		}
		row(out, end(n.ID), begin(n.Version), clients, fmt.Sprintf("%.0f", n.Updates), number("%.0f", n.P99), number("%.1f", n.CPU),
			mib(n.Memory))
	}
	fmt.Fprintln(out)
	row(out, "REDIS", "VERSION", "MIB", "OPS/S", "CLIENTS", "PING MS", "REPLICAS")
	for _, r := range s.Redis {
		row(out, end(text(r.Address)), begin(text(r.Version)), mib(r.Memory), number("%d", r.Operations), number("%d", r.Clients),
			number("%.1f", r.Ping), fmt.Sprint(len(r.Replicas)))
	}
	return out.Flush() // which has the error of a write before, too
}

// row prints a row of a table.
func row(w io.Writer, cells ...string) {
	for i, cell := range cells {
		cells[i] = term.Printable(cell)
	}
	fmt.Fprintln(w, strings.Join(cells, "\t"))
}

// unknown stands for a value that is not known.
const unknown = "-"

// The widths of the columns of texts leave a table 80 columns.
const nameWidth, versionWidth = 22, 12

// end is the end of a name that is too long, which tells names apart.
func end(name string) string {
	if runes := []rune(name); len(runes) > nameWidth {
		return "…" + string(runes[len(runes)-nameWidth+1:])
	}
	return name
}

// begin is the beginning of a version that is too long.
func begin(version string) string {
	if runes := []rune(version); len(runes) > versionWidth {
		return string(runes[:versionWidth-1]) + "…"
	}
	if version == "" {
		return unknown
	}
	return version
}

func number[N int64 | float64](format string, n *N) string {
	if n == nil {
		return unknown
	}
	return fmt.Sprintf(format, *n)
}

func mib(bytes *int64) string {
	if bytes == nil {
		return unknown
	}
	return term.Thousands(*bytes >> 20)
}

func text(s *string) string {
	if s == nil {
		return unknown
	}
	return *s
}
