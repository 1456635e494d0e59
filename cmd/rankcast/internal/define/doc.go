// Package define checks definitions of boards and events (rankcast check), and sends them to a
// server (rankcast put).
package define
