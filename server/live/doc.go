// Package live serves the WebSockets of a node.
//
// A session is one WebSocket with its subscriptions. One goroutine reads the client's messages. It
// runs each message in a short-lived goroutine and waits for it before it reads the next. A socket is the connection below: the session
// writes replies to it, and the hub's shards write frames.
//
//	handshake ─► Sessions.Accept ─► session.run ─► message ─► subscribe ─► hub.Subscribe
//	                                                   ├────► update, event ─► Updater
//	                                                   └────► reply ─► socket.reply ─► client
//	hub ─► frame ─► socket.Send ─► client
//
// A page of an origin that is not allowed gets no session: Accept closes its socket with 4503 and the
// reason.
//
// A socket has no queue. It accepts a frame or turns it away; once it has room, it calls
// hub.Client.Ready and gets the newest frame (conflation). A client that does not accept
// 2 KiB, or the rest of a frame, within Config.WriteTimeout loses its connection. So do those
// that have waited longest when too much waits on the node (access.SocketSlot.AddWaiting).
//
// Sessions.Stop sends each client a bye and a close frame; close_codes.go declares the codes.
package live
