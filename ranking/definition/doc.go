// Package definition describes boards and events. It decodes their definitions, checks them,
// fills in the defaults, and expands an event into updates.
//
// # Words
//
// A [Board] defines one board, such as stars, or a family of boards, such as fans:{star}. A
// word in braces is a placeholder. A value for each placeholder makes the name of an instance,
// such as fans:s17. An instance is a board with the definition of its family.
//
// A [Name] is the name of a board as a client writes it, with or without a period:
// fans:s17@2026-W46. A slot, such as fans/1, is a base and a number of parts. A name and its
// definition have the same slot, and no two definitions have the same one.
//
// An [Update] changes one member's score. An [Event] maps one thing that happened onto updates
// of many boards: its caller sends the values of the fields, and each [Target] makes an update.
//
// A [Union] builds a board from the scores of other boards, its sources. A window is a rolling
// span of time; a board with a window counts the updates within it. A union, and a window with
// a refresh interval, has a result that a build computes; the interval is its greatest age.
//
// A [Compiled] is a Board with its calendar, bounds and shape computed. Two definitions with
// different shapes order their data differently, so their data must not mix.
//
// # Flow
//
//	boards file, YAML ───► ParseFile ──┐
//	request body, JSON ──► ParseBoard ─┼─► value tree ─► Board ─► Normalize ─► Compile ─► Compiled
//	                       ParseEvent ─┘              └► Event ─► Normalize ─► Expand ──► updates
//
// YAML and JSON become the same tree of values, in which each value has its path. The fields
// of a definition are read from that tree, so both forms follow the same rules. Unknown fields
// and fields that have no meaning on the board are refused. Each error is a [FieldError]: it
// names the field by its path, says what is wrong, and gives the range or an example.
//
// Normalize fills in the defaults and writes durations and times in one form. It is idempotent:
// the JSON of a normalized definition reads back as the same definition.
//
// # Users and limits
//
// The store, the hub, the server and the commands use this package. It also declares the
// errors of the store, which package ranking exports again.
//
// The package is pure. It knows neither Redis nor the network, and it reads no clock: callers
// pass the time of Redis's clock, in µs since 1970. Whether the boards of an event or a union
// are defined is not its knowledge either; a caller passes that to CheckBoards and CheckSources.
package definition
