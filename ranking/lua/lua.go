// Package lua embeds the Lua scripts that run in Redis: one file for each verb, and in lib
// the parts that several verbs share. The head of each file gives its purpose, KEYS, ARGV,
// result and cost. Package ranking/internal/script puts them together and calls them.
package lua

import "embed"

// Files holds the scripts by their path, such as apply.lua and lib/sort_key.lua.
//
//go:embed *.lua lib/*.lua
var Files embed.FS
