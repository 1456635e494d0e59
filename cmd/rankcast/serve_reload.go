package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"rankcast/server/access"
	"rankcast/server/certificate"
)

// runReloads keeps the access file and the certificate up to date, until ctx ends. files is nil without TLS.
// SIGHUP makes it read them at once. Without either, SIGHUP ends the process, as it does by default: a user
// who tries a server out and closes the terminal expects that.
func runReloads(ctx context.Context, guard *access.Guard, files *certificate.Files) {
	hangUps := make(chan os.Signal, 1)
	if !guard.Open() || files != nil {
		signal.Notify(hangUps, syscall.SIGHUP)
		defer signal.Stop(hangUps)
	}
	defer start(guard.Run)()
	if files != nil {
		defer start(files.Run)()
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangUps:
			guard.Reload()
			if files != nil {
				files.Reload()
			}
		}
	}
}
