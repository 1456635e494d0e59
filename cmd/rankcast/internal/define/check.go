package define

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"rankcast/ranking/definition"
)

// Check is rankcast check: it checks boards files without a server.
type Check struct {
	Files []string `arg:"" name:"file" help:"Boards file (YAML). - is standard input."`
}

// Help is the text below the usage line of check --help.
func (Check) Help() string {
	return `Prints what each file defines. A mistake is an error that names the field by its path.
An event or a union may name a board of another of the files.

Examples:
  rankcast check boards.yaml
  rankcast check boards.yaml events.yaml`
}

// Run checks each file, and the files together. It prints a line for each file without a
// mistake; its error has a line for each mistake.
func (c Check) Run() error {
	var all definition.Set
	var errs []error
	var good []string
	for _, name := range c.Files {
		defs, err := readFile(name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		good = append(good, fmt.Sprintf("%s: %s\n", name, summary(len(defs.Boards), len(defs.Events))))
		all.Boards, all.Events = append(all.Boards, defs.Boards...), append(all.Events, defs.Events...)
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	missing, err := all.CheckReferences()
	if err != nil {
		return inFile(c.names(), err)
	}
	for _, line := range good {
		os.Stdout.WriteString(line)
	}
	for _, m := range missing {
		fmt.Printf("%s: %v: the server must have that board\n", c.names(), m)
	}
	return nil
}

// names are the files in one word, for what is wrong between them.
func (c Check) names() string {
	if names := slices.Compact(slices.Clone(c.Files)); len(names) == 1 {
		return names[0]
	}
	return "these files"
}
