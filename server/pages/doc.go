// Package pages serves the embedded web pages of package web, their scripts and styles, and the kit.
//
// New renders each page once for each locale, minifies scripts and styles, and compresses all files. A
// request then selects a locale (by ?lang or Accept-Language) and a form (gzip or plain), and gets 304 if
// its ETag matches. Nothing is rendered for a request, except the "not found" page.
//
//	pages.go     paths of the pages, templates, redirects
//	static.go    files, compression, ETags
//	locale.go    the languages
//	preload.go   the modules that a page preloads
//	notfound.go  the page for unknown addresses
package pages
