// Package fair shares what is scarce among callers, so that none delays another one by more than its share. It stands
// below all other packages.
//
// Callers of one key, such as an address, wait in their order, and the keys take turns. A turn is the place of a caller in
// such a queue, and then what it may do until it ends its turn. Queue holds values, Semaphore bounds what is under way at
// one time, and Pacer also leaves a pause after each turn. Pause waits for a time, unless a context ends first.
package fair
