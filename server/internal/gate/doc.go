// Package gate admits a request and finds its caller. A request passes, in this order,
//
//	limits of connections ─► TLS ─► CORS headers ─► limits of the address ─► hosts ─► preflights ─► paths
//	─► caller ─► origins ─► rate, then rights of the caller ─► turn ─► handler
//
// Serve (serve.go) has the first two steps. Gate.Protect (gate.go) puts the others in this order. A read takes its turn
// before its handler. A write takes its turn within its handler, once request.ReadBody has the body, and the gate then
// checks the rights again. A turn is one of the places of the requests at work. A request without a place waits, and the
// addresses that wait take turns.
//
// The gate takes a token of the address for each request (limits.go), and looks at the key after that. A client that tries
// keys therefore soon gets 429.
//
// What the gate has found of a request (its address, its caller, the tokens that it took, the memory that it holds) is an
// exchange: handlers ask for it with Caller and Client.
//
// A handler returns an error, and the gate answers it with a problem (errors.go).
package gate
