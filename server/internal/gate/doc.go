// Package gate is the way from a connection to a caller who may: a request passes, in this order,
//
//	limits of connections ─► TLS ─► CORS headers ─► limits of the address ─► hosts ─► preflights ─► paths
//	─► caller ─► origins ─► rights and rate of the caller ─► turn ─► handler
//
// Each file is one of these steps. What the gate has found of a request (its address, its caller, the tokens that it
// took, the memory that it holds) is an exchange: handlers ask for it with Caller and Client.
//
// A handler returns an error, and the gate answers it with a problem (errors.go).
package gate
