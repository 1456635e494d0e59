// Package server is Rankcast's HTTP server: resources, middleware, errors. Its sub-packages serve
// sockets (live) and pages (pages).
//
//	request ─► middleware ─► handler ─► request.Read… ─► ranking.Store ─► JSON
//	              │              └─ error ─► problem.Of ─► application/problem+json
//	              ├─ /v1/live ─► live.Sessions ─► hub
//	              └─ /, /stars, /assets, /kit ─► pages.Site
//
// There is one file per resource, named after the last part of its path: /v1/boards/{board}/top is in
// top.go. routes.go lists all of them. A handler reads its request, calls one method of the store and
// writes the answer.
//
// A handler returns errors; errors.go answers them. The table in internal/problem maps each error to a
// status and a code, for HTTP and for sockets. Package internal/request decodes paths, queries and
// bodies; its errors name the field.
//
// Sub-packages for others: client is the Go client, webhook delivers the results of closed periods,
// servertest runs a node within a test.
package server
