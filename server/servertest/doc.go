// Package servertest is for tests of a running server: nodes within the test's process (node.go),
// requests (request.go), WebSockets (socket.go), a receiver of webhooks (webhook_receiver.go), and a
// TestMain (main.go).
package servertest
