package script

import (
	"bytes"
	"fmt"
)

// Event is event.lua, with the scripts that it calls in front of it, as functions.
var Event = event()

func event() Script {
	var src bytes.Buffer
	for _, of := range []struct {
		name string
		s    Script
	}{{"begin", Begin}, {"publish", Publish}, {"plain", ApplyPlain}, {"whole", ApplyWhole}} {
		fmt.Fprintf(&src, "local %s = function(KEYS, ARGV)\n%send\n", of.name, of.s.Source)
	}
	return load("event", append(src.Bytes(), expand("event", false)...), true)
}
