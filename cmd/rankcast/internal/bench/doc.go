// Package bench is rankcast bench: it measures what a server does and what that costs.
//
// A work is what clients do: send gifts, read a board, watch it. A target is a server that the command measures: one
// at a URL, or a node and a Redis that the command starts as child processes. A round prepares nothing: it runs the
// work once against a target and returns figures. The bare work is the same work with commands of Redis alone.
//
// Callers run a closed loop: each sends its next request when the answer has arrived, and a latency begins with the
// send. Updates for watchers run an open loop: each has a scheduled time that no slow answer moves, and a latency
// begins with that time.
package bench
