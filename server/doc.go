// Package server is Rankcast's HTTP server: resources, middleware, errors. Its sub-packages serve
// sockets (live) and pages (pages).
//
//	request ─► middleware ─► handler ─► request.Read… ─► ranking.Store ─► JSON
//	              │              └─ error ─► problem.Of ─► application/problem+json
//	              ├─ /v1/live ─► live.Sessions ─► hub
//	              └─ /, /stars, /docs, /assets, /kit ─► pages.Site
//
// There is one file per resource; routes.go maps each path to its handler: /v1/boards/{board}/top is in
// top.go. A handler reads its request, calls the store and writes the answer.
//
// A handler returns errors; errors.go answers them. The table in internal/problem maps each error to a
// status and a code, for HTTP and for sockets. Package internal/request decodes paths, queries and
// bodies; its errors name the field.
//
// Package access limits what a client may use of the node; limits.go asks it before each handler.
//
// Package client is the Go client. Package webhook delivers the results of closed periods.
// Package servertest runs a node within a test.
package server
