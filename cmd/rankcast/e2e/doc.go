// Package e2e holds the tests of the program from outside: as a process, and its pages in a browser.
//
//   - process: the commands, the flags of serve, and the deployments of rankcast example.
//   - faults: nodes and stores that fail, restart or are killed, with watchers and a load; nodes of two versions on one
//     Redis, see make upgrade; benchmarks of clients that mean harm.
//   - pages: the pages and the kit in a browser; a walk through the pages in three engines of browsers, see make browsers.
//   - docs: the examples of the documentation.
//   - e2etest: what they share.
//
// The race detector sees nothing of a browser, so it leaves out pages and docs.
package e2e
