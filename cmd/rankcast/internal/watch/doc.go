// Package watch is `rankcast watch`: it shows a board live.
//
// The client of package server/client reads the board and calls back with each state. On
// a terminal a bubbletea program draws the states: model holds what is shown and what
// changed of late, and table.go lays out the rows. With --json each state is a line on
// standard output.
package watch
