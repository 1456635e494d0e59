// Package faults tests nodes and stores that fail, restart or are killed.
//
// TestFault and the tests named after it are a suite of faults: each has watchers and a load of updates (trial), and compares
// every view with Redis at the end. Their long forms, TestFault…Measured, print the figures of measured.md, see make soak.
// The other tests need no such trial. upgrade_ runs nodes of two versions on one Redis, see make upgrade. attack_ are benchmarks
// of clients that mean harm.
package faults
