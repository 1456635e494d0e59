// Package web holds the browser half of Rankcast as embedded files: pages, what they
// load, and what pages of other sites may load.
//
//   - pages/ are templates of html/template: dashboard.html, overlay.html, stars.html. Each
//     is given .Lang ("en" or "zh") and .LangTag, which <html lang> wants; .Root, which leads
//     each path in it; .Writes, whether sockets may send updates; {{text "key"}}, and .Texts
//     for its scripts, all texts of the language as JSON
//   - texts/ are the texts in each language, a flat object of strings that may hold
//     {placeholders}; what depends on a number has a key for each form, members_one and
//     members_other. All languages have the same keys
//   - assets/ are scripts and styles of the pages, among them the <live-leaderboard> element
//     that any page of the same site may use
//   - kit/ is what pages of other sites import
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

// Files holds pages/, texts/, assets/ and kit/. It is read-only and safe for concurrent
// use.
//
//go:embed pages texts assets kit
var Files embed.FS
