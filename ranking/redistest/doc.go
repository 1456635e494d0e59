// Package redistest gives tests the engines that Rankcast runs on, and faults of the network.
//
// The engines are the embedded store, a real [Redis] that the test can kill and start again,
// a real [Cluster], and [Sentinel]. Engines runs a test on the embedded store and on a real Redis. Clocked
// starts an embedded store whose clock the test sets. A [Proxy] simulates a network whose
// connections fall silent or lose answers. All of these stop at the end of the test.
//
// The tests of every package that reaches Redis use it; no other code does. A real Redis needs
// redis-server on the machine. The package knows nothing of boards.
package redistest
