// Package server is Rankcast over HTTP and WebSockets. It knows requests,
// sockets and pages, and leaves scores to package ranking and frames to package
// hub.
//
// A handler reads its request, calls one method of the store, and writes the
// answer; whatever is wrong becomes a problem (RFC 9457) in one place, see
// problem.go. A WebSocket is a session, which has one goroutine that reads, and
// a socket, through which the hub's shards write.
package server
