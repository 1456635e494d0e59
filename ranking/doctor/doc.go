// Package doctor checks a Redis for rankcast doctor and for the start of a node: whether its settings keep scores, and
// whether it allows what a node needs. A [Finding] shows the words of Redis itself, and what to change.
//
// [Settings] asks each master, and makes the checks that need no more than its answers. [Redis] also tries the commands
// of a node, and reads the definitions.
package doctor
