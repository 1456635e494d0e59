// Package doctor checks a deployment (rankcast doctor): Redis, and the machine of a node. Package ranking
// makes the checks of Redis; this package makes those of the machine, and prints all of them.
package doctor
