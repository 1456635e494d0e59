// Package rankingtest holds a model of a board, and random histories that happen to a board and
// to its model, for tests.
//
// A [Model] says what a board must be, in the simplest way: lists in Go, without Redis. A
// [History] draws calls of the store with pgregory.net/rapid, sends them to the store and to
// the model, and requires the same outcomes. Families returns the definitions to draw from,
// such that each pair of modes, orders, tie rules, limits and lifetimes occurs.
//
// The tests of the store and of the hub use it. The model must not use code of the store to
// compute ranks or results: it would then share the store's mistakes.
package rankingtest
