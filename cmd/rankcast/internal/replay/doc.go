// Package replay is `rankcast replay`: it sends a recording to a server.
//
// A recording is a CSV or NDJSON file. The decoder turns each of its lines into a record:
// an update of a board, or an event. Command checks the whole file first, and sends
// nothing when a line is wrong. The sender then sends records in batches, in the order of
// the file, at full speed or at the recorded times. A record without a request id gets one
// made of the file's SHA-256 and its line, so that a line that is sent twice counts once.
package replay
