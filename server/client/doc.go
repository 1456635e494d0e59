// Package client talks to a Rankcast server: game and gift servers send score
// updates with it, bots and overlays read boards and watch them live.
//
// The words are the server's. A member has a score on a board, and a rank, from
// 1. An update changes one member's score. The top is a board's first entries.
//
//	Update, Updates, Event, Events ─► POST, again with the same ids until acknowledged
//	Top, At, Count, Member(s), …   ─► GET, again while the server is away
//	Export, Import                 ─► one stream, of any length
//	Watch                          ─► one WebSocket: snapshot, deltas ─► show(Board)
//
// A board is named as everywhere: stars, fans:s17 (of the family fans:{star}),
// and what closed before as stars@2026-W46 or stars@-1. An event maps one thing
// that happened onto updates of many boards.
//
// # Counted once
//
// Whether an update that got no answer was applied, nobody can know. So each
// carries an id, made up where the caller gives none, and is sent again with the
// same id until it is acknowledged; the server answers with the first result and
// counts it once. A server remembers ids for ten minutes at least, so retries
// end well before that: see Config.RetryFor.
//
// # Live and right
//
// What Watch shows is always a state that the board has had, whole. When the
// connection is lost it is made anew, and the server asked for what has changed
// since; frames that do not build on one another are never shown, the board is
// asked for again. A board that turns to its next period shows the last of the
// one before, then the new.
package client
