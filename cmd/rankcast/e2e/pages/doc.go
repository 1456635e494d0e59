// Package pages tests the pages and the kit in a browser.
//
// The tests share one Chromium. Each opens a window (window), or one with cookies and storage of its own (ownWindow). They
// wait for what the page shows (becomes), never for time.
//
// Scripts stand in scripts/: page/ are functions that each page has (page.rows(), page.state()…), steps/ are long scripts that
// one test runs (step), and the files .test.js are tests themselves, of the kit and of modules of pages, which TestScripts runs
// on a page each with a stand-in for the server (sockets.js).
//
// Files are named by the page, or by what the tests ask of all pages. engines_ walks through the pages in three engines of
// browsers, see make browsers.
package pages
