// Package problem describes errors to clients, over HTTP and over sockets. Its table is the one place
// that maps an error to a status and a code.
package problem
