// Package access decides how much a client may use of a node.
//
// Limits.Listener takes connections. Addresses finds the client of a request: the other end of the
// connection, or the address that a trusted proxy reports. Limits counts what clients use. It refuses what
// exceeds a limit by a Refusal, which says which limit that is, and when to come back. Package problem maps a
// Refusal to its answer.
//
//	Limits.Listener ─► connection ─► request ─► Addresses.Of ─► Limits.AllowRequest ─► handler
//	    ├─ Limits.AcquireExport ─► ExportSlot.Release
//	    └─ Limits.AcquireSocket ─► SocketSlot.AllowMessage …, AddWaiting ─► Wait.End …, Release
//
// A rate is a token bucket: a client that was quiet may use at once what it has saved up. Limits keeps one
// bucket for an address, in a table of bounded size. An address gets half of the
// node's places and memory at most, so that it cannot take the node from the others.
package access
