// Package faults tests nodes and stores that fail, restart or are killed.
//
// TestFault, which has a subtest for each fault of the table faults, and the tests TestFault… are a suite of faults: each has
// watchers and a load of updates (trial), and compares every view with Redis at the end. The long forms print the figures of
// measured.md, see make soak: TestFaultMeasured has the same subtests as TestFault, in the order of the table, and the other
// long forms are the tests TestFault…Measured.
// The other tests need no such trial. upgrade_ runs nodes of two versions on one Redis, see make upgrade. attack_ are benchmarks
// of clients that mean harm.
package faults
