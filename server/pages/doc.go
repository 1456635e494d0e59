// Package pages serves the embedded web pages of package web, their scripts and styles, and the kit.
//
// A request selects a page in a locale (by ?lang or Accept-Language) and a form (gzip or plain), and gets 304 if
// its ETag matches. The site parses each template once for each locale, and bundles, minifies and compresses each file
// once. It fills a page in with what a Reader knows, and answers from that for a second.
//
// The documentation is Markdown, web/docs/*.md, for GitHub too. New renders it with goldmark, once for a
// process, and refuses what only one of the two would show right: raw HTML, pictures, and links to pages or
// headings that do not exist. Headings get GitHub's anchors; boards.md#periods becomes boards#periods; a
// link to a file of the repository becomes code. The search box of the pages searches /docs/search.json: a
// section for each heading.
//
//	pages.go        paths of the pages, redirects
//	template.go     templates and their data
//	filler.go       what a page shows before its script runs, as the Reader (reader.go) knows it
//	story.go        the story of a board
//	member.go       a member and its boards
//	board_view.go   a board and its first rows, as the element shows them
//	phrases.go      texts as the scripts write them
//	filled.go       pages that the node has just made
//	static.go       files, compression, ETags
//	policy.go       what pages may load, and who may frame them
//	paths.go        paths of boards and cards
//	locale.go       the languages
//	bundle.go       scripts with the modules that they import
//	notfound.go     the page for unknown addresses
//	docs.go         the documentation: paths, order of the pages, search index
//	docs_parse.go   one page: headings, sections, links, and faults
//	docs_render.go  one page as HTML
package pages
