// Package credentials makes what the access file of a server accepts: keys (rankcast key new) and viewers'
// tokens (rankcast token).
package credentials
