package script

import (
	"strings"
	"sync"
)

// Part is a set of parts of apply.lua that only some boards need. A script without a part costs
// Redis less. apply.lua describes each part in its file in ranking/lua/lib.
type Part uint8

const (
	Tied       Part = 1 << iota // members may share a rank: ties shared and dense
	Leaving                     // a limit, a member_ttl, or a removal
	Moderation                  // some members are or were hidden
	Data                        // some members have or had data
	TakingBack                  // an update is taken back
	Window                      // the board has a window

	AllParts = Window<<1 - 1
)

// applyFile is a file of lua/lib that goes into apply.lua, in the order of applyFiles.
type applyFile struct {
	name   string
	with   Part   // all of these parts need it
	not    Part   // none of these parts has it
	locals string // names that the other files test, and that are nil without this file
}

var applyFiles = []applyFile{
	{name: "board"},
	{name: "rank", not: Tied},
	{name: "rank_tied", with: Tied},
	{name: "ids"},
	{name: "sort_key"},
	{name: "order", with: Leaving},
	{name: "leaving", with: Leaving, locals: "remove, expire, trim"},
	{name: "window", with: Window, locals: "window"},
	{name: "apply_data", with: Data, locals: "data_of, set_data"},
	{name: "apply_hidden", with: Moderation, locals: "hidden_key"},
	{name: "apply_head"},
	{name: "apply_leaving", with: Leaving, locals: "is_over, is_beyond, EXPIRE, TRIM"},
	{name: "apply_takeback", with: TakingBack, locals: "undone, unchanged"},
	{name: "apply_put"},
	{name: "apply_score", not: Window},
	{name: "apply_window", with: Window},
}

// applyScripts holds the scripts that Apply has made, by their parts.
var applyScripts [AllParts + 1]struct {
	once   sync.Once
	script Script
}

// Apply returns the script apply.lua with some parts. TakingBack brings Leaving with it. Apply may be
// called concurrently.
func Apply(parts Part) Script {
	if parts&TakingBack != 0 {
		parts |= Leaving
	}
	made := &applyScripts[parts]
	made.once.Do(func() {
		var files, absent []string
		for _, f := range applyFiles {
			if parts&f.with == f.with && parts&f.not == 0 {
				files = append(files, f.name)
			} else if f.locals != "" {
				absent = append(absent, f.locals)
			}
		}
		head := ""
		if len(absent) > 0 {
			head = "local " + strings.Join(absent, ", ") + "\n"
		}
		made.script = loadAfter(head, "apply", files...)
	})
	return made.script
}
