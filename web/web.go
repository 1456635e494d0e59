// Package web holds the browser half of Rankcast as embedded files: pages, what they
// load, and what pages of other sites may load.
//
//   - pages/ are templates of html/template: dashboard.html, overlay.html, stars.html,
//     missing.html, which stands for pages that there are not, and shared.html, what they have
//     in common. Each is given .Lang ("en" or "zh") and .LangTag, which <html lang> wants;
//     .Root, which leads each path in it, and .Home, the front page; {{text "key"}}; and, but
//     for missing.html, which has no script, .Writes, whether sockets may send updates;
//     .Preloads, the paths of all modules that its script imports; .Texts for its scripts, all
//     texts of the language as JSON
//   - texts/ are the texts in each language, a flat object of strings that may hold
//     {placeholders}; what depends on a number has a key for each form, members_one and
//     members_other. All languages have the same keys
//   - kit/ is what pages of any site may import, and all of what shows a board; rankcast.d.ts
//     tells what it offers
//   - assets/ are scripts and styles of the pages themselves
//
// The scripts are ES modules without a build step; the server sends them without comments
// and spaces. In the kit they import in one direction: rankcast.js (what a page imports, and
// one board as an element; rows.js its list, announcer.js what is said, style.js its look,
// format.js its words and numbers) → connection.js (what goes over a socket: boards, feeds,
// events) → subscription.js (one board: what was asked for and what is held) → socket.js (a
// WebSocket that keeps itself up). A page's script is named after the page: dashboard.js
// (overview.js all boards, board-page.js what stands beside one, family.js the boards of a
// family), overlay.js, stars.js (star-page.js one star, gift-feed.js what comes in,
// gift-button.js and gifts.js what is sent). page.js and texts.js are shared by all. Every path
// between files is relative, so that all of it may be served below any prefix.
package web

import "embed"

// Files holds pages/, texts/, assets/ and kit/. It is read-only and safe for concurrent
// use.
//
//go:embed pages texts assets kit
var Files embed.FS
