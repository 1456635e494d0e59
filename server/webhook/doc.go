// Package webhook sends the results of closed periods to a receiver's URL, as Standard
// Webhooks specifies:
// https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
//
// A delivery is one message about one closed period. The store makes the message (closedJSON in
// ranking/period_settle.go) and keeps the deliveries; every node runs a Webhook, and the nodes share the work:
//
//	Source.Deliveries ─► sign ─► POST ─► 2xx: Source.Delivered
//	                                └─► anything else: Source.Deferred, then another attempt
//
// A claim on a delivery lasts for ranking.DeliverWithin. If a node dies during an attempt,
// another node sends the delivery after that. A message therefore arrives at least once, and
// always under the same webhook-id.
package webhook
