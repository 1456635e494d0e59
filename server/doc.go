// Package server is Rankcast's HTTP server: its resources, and what a process needs to run it.
//
//	connection ─► gate ─► handler ─► request.Read… ─► ranking.Store ─► respond.… ─► JSON
//	               ▲        ├─ error ─► gate ─► problem.Of ─► application/problem+json
//	               │        ├─ /v1/live, /v1/boards/{board}/live ─► live.Sessions ─► hub
//	               │        └─ pages, such as / and /boards/{board}; /docs, /assets, /kit ─► pages.Site
//	               └─ routes.go: what each route needs of its caller
//
// There is one file per resource; routes.go maps each path to its handler: /v1/boards/{board}/top is in
// top.go. A handler reads its request, calls the store and writes the answer.
//
// A score: postScores (scores.go; a list: batch.go) ─► Store.Apply, see package ranking. It comes back by packages
// ranking/feed, hub and server/live. On a page, the kit makes rows of the frames: package web.
//
// Package internal/gate admits requests: limits, hosts, callers, origins, rights and turns. It answers the errors that
// handlers return. The table in internal/problem maps each error to a status and a code, for HTTP and for sockets.
// Package internal/request decodes paths, queries and bodies; its errors name the field. Package internal/entry encodes
// entries with the profiles of their members, internal/respond encodes answers.
//
// Package access knows keys, tokens and limits. Package overview reads many boards at once, cards draws pictures of
// boards, live serves sockets and event streams, and pages serves pages.
//
// Package client is the Go client. Package webhook delivers the results of closed periods, and package status tells whether
// all is well. The console, a page of pages.Site, does all by these routes: session.go signs its operator in.
//
// Package servertest runs a node within a test.
package server
