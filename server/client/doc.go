// Package client is the Go client of a Rankcast server. Game and gift servers send score updates with
// it; bots and overlays read boards and watch them live.
//
// A member has a score on a board, and a rank, from 1. An update changes one member's score. An event is
// one thing that happened, which the server maps onto updates of many boards. The top of a board are its
// first entries.
//
//	Update, Updates, Event, Events ─► POST, retried with the same ids until acknowledged
//	Top, At, Count, Member(s), …   ─► GET, retried while the server is down
//	Export, Import                 ─► one stream of any length, one attempt
//	DefineBoard, DefineEvent       ─► PUT, retried: the same definition twice is the same as once
//	Watch                          ─► WebSocket: snapshot, deltas ─► show(Board)
//
// Boards have the same names everywhere: stars, fans:s17 (of the family fans:{star}), and a closed
// period as stars@2026-W46 or stars@-1.
//
// # An update counts once
//
// If an update gets no answer, the client cannot know whether the server applied it. Each update
// therefore carries an id, random by default, and the client sends it again with the same id until the
// server acknowledges it. The server counts an id once and answers with the first result. It remembers
// ids for at least ten minutes, so retries end well before that: see Config.RetryFor.
//
// # A watched board is always one that existed
//
// Watch shows only complete states that the board has had, after a first one that may be empty
// (Connecting). If the connection fails, the client reconnects and asks for the changes since its last
// state. It never shows frames that do not build on one another; it subscribes again instead (resync).
// At a rollover it shows the last state of the closed period, then the new period.
package client
