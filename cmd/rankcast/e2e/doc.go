// Package e2e tests the program from outside: as a process, and its pages in a browser.
//
// TestMain builds the binary and runs all tests side by side. A test launches the
// servers that it needs (launch), each with a store of its own, and runs commands with
// run or in a terminal (startIn). The browser tests share one Chromium: each opens a
// window with cookies and storage of its own (window). They wait for what the page shows (becomes),
// never for time.
//
// Files are named by what they drive: process_ for servers that fail, restart or are
// killed; fault_ for a suite of faults, each with watchers and a load, that compares every view with
// Redis at the end; upgrade_ for nodes of two versions on one Redis, see make upgrade; deploy_ for the
// deployments of rankcast example, contract_ for clients made from the contract, see make check-contract; attack_ for
// benchmarks of clients that mean harm; demo, replay and watch for those commands; browser_ for pages;
// engines_ for a walk through the pages in three engines of browsers, see make browsers; docs_ for the
// examples of the documentation. The tests of browser_, engines_ and docs_ are left out under the race
// detector, which sees nothing of a browser.
package e2e
