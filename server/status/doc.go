// Package status tells those who run the boards whether all is well.
//
// The [Reporter] of a process stores a [Node], the report of the process about itself, in Redis every two seconds. Its
// figures come from the metrics of the process (figures.go): the node keeps samples of them, so rates and percentiles are
// differences of two samples. [Read] reads the reports of all nodes and the state of Redis. [Judge] finds the problems
// in them, each with words that say what to do; it is pure.
package status
