package localredis

import (
	"errors"
	"fmt"
	"log/slog"
)

// Fsync says when Redis flushes its writes to the disk (the setting appendfsync of Redis).
type Fsync string

const (
	// EverySecond flushes once a second. A power cut may lose the last second or two.
	EverySecond Fsync = "everysec"
	// Always flushes before each answer.
	Always Fsync = "always"
)

// Config is the configuration of a Server.
type Config struct {
	// Dir is the directory, which Start creates if it is missing. Required. The path of the socket in it must
	// fit an address of a unix socket: 107 bytes on Linux, 103 on macOS.
	Dir string
	// Fsync says when Redis flushes a write. Default EverySecond.
	Fsync Fsync
	// Log gets a line when redis-server ends, and one when it runs again. Default: none.
	Log *slog.Logger
}

func (c Config) withDefaults() (Config, error) {
	if c.Dir == "" {
		return c, errors.New("the name of the data directory is empty")
	}
	if c.Fsync == "" {
		c.Fsync = EverySecond
	}
	if c.Fsync != EverySecond && c.Fsync != Always {
		return c, fmt.Errorf("fsync is %q; want %s or %s", c.Fsync, EverySecond, Always)
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

var (
	// ErrNotInstalled reports that no folder of PATH has a redis-server. Its text says how to install one.
	ErrNotInstalled = errors.New("no redis-server is in PATH: install one " +
		"(Debian, Ubuntu: apt-get install redis-server; Fedora: dnf install valkey; Alpine: apk add redis; macOS: brew install redis), " +
		"or add the folder of an installed one to PATH")
	// ErrTwoStores reports a command with both flags.
	ErrTwoStores = errors.New("--data and --redis cannot be used together: with --data the node runs a Redis of its own")
	// ErrInUse reports a directory that another process uses.
	ErrInUse = errors.New("another node uses this data directory")
)
