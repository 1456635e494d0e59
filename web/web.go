// Package web holds the browser half of Rankcast as embedded files: the
// dashboard and the <live-leaderboard> element that any page may use.
//
// The scripts are ES modules that are served as they are. They import in one
// direction, dashboard → live-leaderboard → live → subscription → socket →
// frames: frames.js folds what the server sends into a list, socket.js keeps
// the connection up, subscription.js is one board over it, server-clock.js is the
// server's clock, live.js shares these among what is on a page, live-leaderboard.js
// shows one board (row-list.js its list, pinned-row.js the followed member under it,
// own-place.js which of the two, countdown.js when a period ends, announcer.js what is
// said), dashboard.js puts a board and its navigation on a page (family.js the boards
// of a family, names.js what a board's name is made of). All paths between them are
// relative, so the files may be served below any prefix.
package web

import "embed"

// Files holds index.html, the dashboard's page, and assets/, which the page
// loads. It is read-only and safe for concurrent use.
//
//go:embed index.html assets
var Files embed.FS
