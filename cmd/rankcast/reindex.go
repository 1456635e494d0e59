package main

import (
	"context"
	"fmt"

	"rankcast/cmd/rankcast/internal/remote"
)

// reindexCommand is rankcast reindex: it builds the index of names of a kind anew, on a running server.
type reindexCommand struct {
	Kind   string        `arg:"" help:"Kind of the members, as boards have it: user."`
	Server remote.Server `embed:""`
}

// Help is the text below the usage line of reindex --help.
func (reindexCommand) Help() string {
	return `Compares the index that searches read with the profiles of the kind, and corrects it. Searches and changes of ` +
		`profiles go on meanwhile. An index needs it only after another program has changed it, or after Redis has lost a part of its data.`
}

// Run builds the index, and prints what it has done.
func (r *reindexCommand) Run(ctx context.Context) error {
	c, err := r.Server.Dial()
	if err != nil {
		return err
	}
	defer c.Close()
	done, err := c.Reindex(ctx, r.Kind)
	if err != nil {
		return r.Server.Explain(err)
	}
	fmt.Printf("%s: profiles %d, corrections %d\n", r.Kind, done.Profiles, done.Changed)
	return nil
}
