package script

import (
	"bytes"
	"fmt"
	"math/bits"
	"sync"
)

// PartSets is a set of sets of parts of apply.lua. The zero value is empty.
type PartSets uint64 // the bit 1<<p stands for the set of parts p

// Add adds a set of parts, and those that they imply.
func (s *PartSets) Add(p Part) { *s |= 1 << p.WithImplied() }

// Place returns the place, from 1 on, of a set of parts that s has, in the list apply of event.lua.
func (s PartSets) Place(p Part) int {
	return bits.OnesCount64(uint64(s)&(1<<p.WithImplied()-1)) + 1
}

// eventScripts holds the scripts that Event has made, by PartSets.
var eventScripts sync.Map

// Event returns the script event.lua for boards that need these sets of parts of apply.lua. Event may
// be called concurrently.
func Event(sets PartSets) Script {
	if made, ok := eventScripts.Load(sets); ok {
		return made.(Script)
	}
	var src bytes.Buffer
	writeFunction := func(s Script) {
		fmt.Fprintf(&src, "function(KEYS, ARGV)\n%send", s.Source)
	}
	src.WriteString("local begin = ")
	writeFunction(Begin)
	src.WriteString("\nlocal publish = ")
	writeFunction(Publish)
	src.WriteString("\nlocal apply = {\n")
	for p := range AllParts + 1 {
		if sets&(1<<p) != 0 {
			writeFunction(Apply(p))
			src.WriteString(",\n")
		}
	}
	src.WriteString("}\n")
	src.Write(read("event"))
	made, _ := eventScripts.LoadOrStore(sets, newScript("event", src.Bytes()))
	return made.(Script)
}
