package define

import (
	"errors"
	"fmt"
	"os"

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
	places := make(map[string]string) // the file of each definition
	for _, name := range c.Files {
		defs, err := ReadFile(name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		good = append(good, fmt.Sprintf("%s: %s\n", name, summary(len(defs.Boards), len(defs.Events))))
		errs = append(errs, clashes(places, name, defs))
		all.Boards, all.Events = append(all.Boards, defs.Boards...), append(all.Events, defs.Events...)
	}
	if err := errors.Join(errs...); err != nil {
		return err
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

// clashes refuses each definition of a file that a file before it has too, and adds the others to
// places.
func clashes(places map[string]string, file string, defs definition.Set) error {
	var errs []error
	add := func(section, slot, name string) {
		key := section + " " + slot
		if other, taken := places[key]; taken {
			errs = append(errs, fmt.Errorf("%s: %w", file, definition.Invalid(definition.FieldPath(section, name),
				"clashes with the definition of the same name in "+other)))
			return
		}
		places[key] = file
	}
	for _, d := range defs.Boards {
		add(definition.SectionBoards, d.Slot(), d.Name)
	}
	for _, e := range defs.Events {
		add(definition.SectionEvents, e.Name, e.Name)
	}
	return errors.Join(errs...)
}

// names is the subject of an error that concerns all files together.
func (c Check) names() string {
	if len(c.Files) == 1 {
		return c.Files[0]
	}
	return "these files"
}
