package define

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"rankcast/cmd/rankcast/internal/term"
	"rankcast/ranking/definition"
)

// ReadFile reads a boards file; - is the standard input. Its error has a line for each
// mistake, which begins with the name of the file.
func ReadFile(name string) (definition.Set, error) {
	read := func() ([]byte, error) { return os.ReadFile(name) }
	if name == "-" {
		read = func() ([]byte, error) { return io.ReadAll(os.Stdin) }
	}
	text, err := read()
	if err != nil {
		return definition.Set{}, fmt.Errorf("read the boards file: %w", err)
	}
	defs, err := definition.ParseFile(text)
	return defs, inFile(name, err)
}

// inFile begins each line of an error with the name of a file.
func inFile(name string, err error) error {
	if err == nil {
		return nil
	}
	lines := strings.Split(err.Error(), "\n")
	for i, line := range lines {
		lines[i] = name + ": " + line
	}
	return errors.New(strings.Join(lines, "\n"))
}

// summary says how many boards and events there are: 7 boards, 1 event.
func summary(boards, events int) string {
	var parts []string
	if boards > 0 {
		parts = append(parts, term.Counted(boards, "board"))
	}
	if events > 0 {
		parts = append(parts, term.Counted(events, "event"))
	}
	return strings.Join(parts, ", ")
}
