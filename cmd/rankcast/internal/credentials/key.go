package credentials

import (
	"errors"
	"fmt"
	"io"
	"os"

	"rankcast/server/access"
)

// Key is rankcast key.
type Key struct {
	New NewKey `cmd:"" help:"Make a key, and its line for the access file."`
}

// NewKey is rankcast key new: it makes a key, and the line of the access file that lets it in.
type NewKey struct {
	Name    string   `required:"" placeholder:"NAME" help:"Name of the key, which the audit shows."`
	Scope   []string `required:"" placeholder:"SCOPE" help:"What the key may do: read, write, moderate, metrics or admin. Repeatable."`
	Board   []string `sep:"none" placeholder:"PATTERN" help:"Boards that it may use, with their periods: stars, or 'fans:*'. Repeatable."`
	Event   []string `sep:"none" placeholder:"PATTERN" help:"Events whose feed it may read, and which it may send with the scope write. Repeatable."`
	Kind    []string `sep:"none" placeholder:"PATTERN" help:"Kinds of members whose profiles it may use. Repeatable."`
	Rate    string   `placeholder:"N/s" help:"Updates and requests that each node accepts: 5000/s, or 30/m. Default: any number."`
	KeyFile string   `placeholder:"FILE" help:"Write the key to this new file, readable by its owner only, and print the line for the access file alone."`
}

// Help is the text below the usage line of key new --help.
func (*NewKey) Help() string {
	return `Prints the key once: the access file has its hash only. A program sends it as Authorization: Bearer.

Examples:
  rankcast key new --name ops --scope admin
      Make a key that may do anything
  rankcast key new --name game-server --scope write --board stars --event gift --rate 5000/s
      Make a key that may write one board and send one event
  echo keys: > access.yaml
  rankcast key new --name ops --scope admin --key-file ops.key >> access.yaml
      Begin an access file`
}

// Run makes the key. It makes none if a flag is not valid.
func (k *NewKey) Run() error {
	key := access.NewKey()
	line, err := access.CheckKeyLine(k.Name, access.HashKey(key), k.Scope, k.Board, k.Event, k.Kind, k.Rate)
	if err != nil {
		return err
	}
	for _, warning := range access.Warnings([]byte("keys:\n  - " + line)) { // beside the output, which becomes the access file
		fmt.Fprintf(os.Stderr, "rankcast: warning: %s (--board, --event, --kind); the key may do nothing with them until then\n", warning)
	}
	if k.KeyFile == "" {
		_, err = fmt.Printf("The key, which nothing can show again:\n%s\n\nIts line for the access file, below keys:\n  - %s\n", key, line)
		return err
	}
	if err := writeSecret(k.KeyFile, key+"\n"); err != nil {
		return fmt.Errorf("--key-file: %w", err)
	}
	_, err = fmt.Printf("  - %s\n", line)
	return err
}

// writeSecret writes a new file that its owner alone may read. It leaves none behind on an error.
func writeSecret(name, text string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s exists; a key never replaces another file", name)
	}
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, text)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}
