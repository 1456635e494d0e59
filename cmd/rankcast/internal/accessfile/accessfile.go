// Package accessfile has the flag --access of the commands that read the access file of a server.
package accessfile

import (
	"fmt"
	"log/slog"
	"os"

	"rankcast/server/access"
)

// TextVariable is the variable that holds the text of an access file, in place of a file. No flag does: other
// users of the machine see command lines.
const TextVariable = "RANKCAST_ACCESS_TEXT"

// Flag names an access file. The variable RANKCAST_ACCESS_TEXT may hold its text instead.
type Flag struct {
	File string `name:"access" env:"RANKCAST_ACCESS" placeholder:"FILE" help:"Access file (YAML): the keys and tokens that the server accepts, and what each may do. The server reads it again when it changes, and on SIGHUP. RANKCAST_ACCESS_TEXT may hold its text instead. Without one anybody may do anything, so the server listens on loopback only."`

	text string // of TextVariable
}

// Validate checks the flag, and takes the text from the variable.
func (f *Flag) Validate() error {
	f.text = os.Getenv(TextVariable)
	if f.File != "" && f.text != "" {
		return fmt.Errorf("--access and %s cannot be used together: both are access files", TextVariable)
	}
	return nil
}

// Given reports whether there is an access file.
func (f *Flag) Given() bool { return f.File != "" || f.text != "" }

// Guard reads the access file. Its error names the flag or the variable. Without an access file the guard is open.
func (f *Flag) Guard(log *slog.Logger) (*access.Guard, error) {
	if !f.Given() {
		return access.NewOpenGuard(), nil
	}
	g, err := access.NewGuard(access.GuardConfig{File: f.File, Text: f.text, Log: log})
	if err == nil {
		return g, nil
	}
	source := TextVariable
	if f.File != "" {
		source = "--access " + f.File
	}
	return nil, fmt.Errorf("%s: %w", source, err)
}
