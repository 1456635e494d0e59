// Package access decides what a caller may do, and how much a client may use of a node.
//
// Guard holds the access file, and finds the Caller of a request by its key or token. Caller.Check compares the
// rights of the caller with the Scope and the Resource of the request. Guard.Take applies the caller's rate. While
// a socket or a stream is open, Guard.Renew gives its caller the present rights.
//
//	credentials ─► Guard.Authenticate ─► Guard.Take ─► Caller.Check ─► handler
//	    └─ Caller.EncodeForTicket ─► ticket ─► Guard.FromTicket
//
// Limits.Listener takes connections. Addresses finds the client of a request: the other end of the
// connection, or the address that a trusted proxy reports. Limits counts what clients use. It refuses what
// exceeds a limit by a Refusal, which says which limit that is, and when to come back. Package problem maps a
// Refusal to its answer.
//
//	Limits.Listener ─► connection ─► request ─► Addresses.Of ─► Limits.AllowRequest ─► handler
//	    ├─ Limits.AcquireExport ─► release
//	    └─ Limits.AcquireSocket ─► SocketSlot.AllowMessage …, Hold ─► Held.End …, Release
//
// A rate is a token bucket: a client that was quiet may use at once what it has saved up. Limits keeps one
// bucket for an address, in a table of bounded size. An address gets half of the node's places and memory at most,
// so that it cannot take the node from the others.
package access
