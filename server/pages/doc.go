// Package pages serves the embedded web pages of package web, their scripts and styles, and the kit.
//
// A request selects a page in a locale (by ?lang or Accept-Language) and a form (gzip or plain), and gets 304 if
// its ETag matches. The site parses each template once for each locale, and compresses each file once.
// It fills a page in with what its reader knows, and answers from that for a second.
//
// Scripts, styles and the documentation are files of web/dist, ready for browsers; see package web.
//
//	pages.go        paths of the pages, redirects
//	template.go     templates and their data
//	filler.go       what a page shows before its script runs, as its reader knows it: ranks, portraits, names
//	                and scores as the scripts write them, and room for what the scripts add
//	reader.go       what anonymous viewers may read
//	story.go        the story of a board
//	overlay.go      the overlay, and the page that builds overlays
//	member.go       a member and its boards
//	board_view.go   a board and its first rows, as the element shows them
//	portrait.go     the circle of a member
//	static.go       files, compression, ETags
//	policy.go       what pages may load, and who may frame them
//	paths.go        paths of boards and cards
//	locale.go       the languages
//	notfound.go     the page for unknown addresses
//	docs.go         the documentation
package pages
