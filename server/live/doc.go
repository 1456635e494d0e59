// Package live serves the WebSockets and the event streams of a node.
//
// A session is one WebSocket with its subscriptions. One goroutine waits for what the client sends, in a shallow frame. A short-lived
// one then reads the messages that have come, and acts on them. (Over TLS the first one reads too.) A socket is the
// connection below: the session writes replies to it, and the hub's shards write frames. An incoming reads
// the client's frames. It is there only while the client sends, so that an idle socket is small
// (where await does not wait, for as long as the socket).
//
//	handshake ─► Sessions.Accept ─► session.run ─► handle (messages.go) ─► messageTypes ─► subscribe ─► watch ─► Hub.Subscribe
//	                                                   ├────► update, event ─► Updater (socketUpdater in server/live.go)
//	                                                   ├────► auth ─► access.Guard
//	                                                   └────► the answer of each message ─► socket.reply ─► client
//	hub ─► frames ─► socket.Send ─► socket.Flush ─► client
//
// A subscribe message may name a member to follow: its standing comes back as me frames. On a page the client is the kit, see
// package web; in Go it is package server/client.
//
// An event stream is one GET that watches one board and sends nothing:
//
//	GET …/live ─► Sessions.Stream (stream.go) ─► watch (subscribe.go) ─► Hub.Subscribe
//	hub ─► frame ─► stream.Send ─► client
//
// A page of an origin that is not allowed gets no session: Accept closes its socket with 4503 and the
// reason.
//
// A session has a caller, from its handshake or from the last auth. messageTypes lists what each message needs of
// the caller; the session checks that before it looks anything up. Sessions.KeepAlive looks once a second for what
// callers have lost, because a token has expired or the access file has changed. It ends those subscriptions, or
// closes the socket with 4401 or 4503. An event stream ends with an error event. A ticket that is not valid opens no
// session: Accept closes its socket with 4401.
//
// Neither a socket nor an event stream has a queue. It accepts a frame or turns it away (write_lock.go). Once it has room,
// it calls hub.Client.Ready and gets the newest frame (conflation). A client that does not accept
// 2 KiB, or the rest of a frame, within Config.WriteTimeout loses its connection. When too much waits on the node, the
// connections that have waited longest are closed too (access.SocketSlot.Hold).
//
// Sessions.Stop sends each socket a bye and a close frame, and each event stream a bye event. close_codes.go declares the
// codes that a node sends.
package live
