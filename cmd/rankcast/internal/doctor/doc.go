// Package doctor checks a deployment (rankcast doctor): Redis, by package ranking/doctor, and the files and the limit of
// a node.
package doctor
