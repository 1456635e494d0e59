package example

import "os"

// Command is rankcast example: it prints the files that the documentation uses.
type Command struct {
	Boards boardsCommand `cmd:"" help:"Print the boards file of all examples, for --boards and rankcast check."`
}

type boardsCommand struct{}

// Run prints the boards file on the standard output.
func (boardsCommand) Run() error {
	_, err := os.Stdout.Write(Boards)
	return err
}
