// Command kitpackage makes the npm package of the kit, for `npm pack`: kitpackage VERSION FOLDER writes its files into a
// folder. It runs in the root of the repository; `make kit` calls it.
package main

import (
	"fmt"
	"os"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: kitpackage VERSION FOLDER")
		os.Exit(2)
	}
	if err := writePackage(".", os.Args[2], os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "kitpackage:", err)
		os.Exit(1)
	}
}
