package redistest

// Stride is for tests that let a call fail, the first call in the first round, the next in
// the next round, until no call is left. It is the distance between the calls of two rounds:
// 1, and more under the race detector, which takes each round several times as long.
const Stride = stride
