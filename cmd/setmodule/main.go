// Command setmodule gives the module another path, so that other modules can import its packages once it is
// published: go run ./cmd/setmodule example.org/you/rankcast, in the folder of go.mod.
//
// It changes go.mod, and the imports of all Go files and of all Go examples in Markdown. Nothing else names the
// module's path. It changes all files or, if one of them is not valid, none.
package main

import (
	"errors"
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "setmodule:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return errors.New("give the new path of the module, such as example.org/you/rankcast")
	}
	old, changed, err := rename(".", args[0])
	if err != nil {
		return err
	}
	fmt.Printf("module %s, was %s: %d files changed\n", args[0], old, changed)
	return nil
}
