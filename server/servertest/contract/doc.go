// Package contract checks what tests send and get against the contract of the server: web/contract/openapi.yaml for
// HTTP, and web/contract/asyncapi.yaml for sockets and event streams. It also tells what of the contract no test has
// seen, so that the contract has nothing that the server lacks.
//
// All functions may be called concurrently.
package contract
