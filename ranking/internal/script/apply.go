package script

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Part is a set of parts of apply.lua that only some boards need, see there. A script without a
// part costs Redis less.
type Part uint8

const (
	Tied Part = 1 << iota
	Leaving
	Moderation
	Data
	TakingBack
	Window

	AllParts = Window<<1 - 1
)

// partNames are the names of the parts in apply.lua, in the order of the constants.
var partNames = []string{"tied", "leaving", "moderation", "data", "taking_back", "window"}

// has reports whether the set has one of the parts with these names.
func (p Part) has(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		i := slices.Index(partNames, name)
		if i < 0 {
			panic(fmt.Sprintf("apply.lua names the part %q, which does not exist", name)) // the files are part of the binary
		}
		return p&(1<<i) != 0
	})
}

// WithImplied returns the set together with the parts that its parts need.
func (p Part) WithImplied() Part {
	if p&TakingBack != 0 {
		p |= Leaving
	}
	return p
}

// applyScripts holds the scripts that Apply has made, by their parts.
var applyScripts [AllParts + 1]struct {
	once   sync.Once
	script Script
}

// Apply returns the script apply.lua with some parts, and those that they imply. Apply may be
// called concurrently.
func Apply(parts Part) Script {
	parts = parts.WithImplied()
	made := &applyScripts[parts]
	made.once.Do(func() { made.script = withSharded(newScript("apply", expand("apply", parts))) })
	return made.script
}

// expand returns a template of ranking/lua, with the lines that the parts need. See apply.lua for
// the form of templates.
func expand(name string, parts Part) []byte {
	var src []byte
	var skipped []bool // for each condition that is open, from the outermost on
	for line := range strings.Lines(string(read(name))) {
		word := strings.Fields(line)
		isDirective := len(word) > 1 && word[0] == "--+"
		switch {
		case isDirective && word[1] == "if" && len(word) > 3 && word[2] == "not":
			skipped = append(skipped, parts.has(word[3:]))
		case isDirective && word[1] == "if":
			skipped = append(skipped, !parts.has(word[2:]))
		case isDirective && word[1] == "else":
			skipped[len(skipped)-1] = !skipped[len(skipped)-1]
		case isDirective && word[1] == "end":
			skipped = skipped[:len(skipped)-1]
		case slices.Contains(skipped, true):
		case isDirective && word[1] == "file":
			src = append(src, expand("lib/"+word[2], parts)...)
		default:
			src = append(src, line...)
		}
	}
	return src
}
