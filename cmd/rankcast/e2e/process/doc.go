// Package process tests the commands of the program, each run as a user runs it: with e2etest.Run, or in a terminal (startIn).
//
// Files are named by the command that they run. deploy_ runs the deployments of rankcast example, contract_ the clients made
// from the contract, see make check-contract.
package process
