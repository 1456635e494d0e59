// Package servertest is for tests of a running server: nodes within the test's process (node.go),
// requests (request.go), WebSockets (socket.go), event streams (stream.go) and a receiver of webhooks
// (webhook_receiver.go). Package contract holds requests, answers and frames to the contract.
package servertest
