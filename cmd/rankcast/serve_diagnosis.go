package main

import (
	"context"
	"fmt"
	"log/slog"

	"rankcast/ranking/doctor"
)

// diagnose logs each setting of Redis that loses scores or slows a node down. It returns false when Redis does
// not answer, and an error for a Redis that is too old for the scripts.
func diagnose(ctx context.Context, url string, log *slog.Logger) (answered bool, tooOld error) {
	all, err := doctor.Settings(ctx, url)
	if err != nil {
		return false, nil
	}
	for _, f := range all {
		if f.Level == doctor.Problem && f.Check == doctor.Version {
			return true, fmt.Errorf("--redis: %s", f.Found)
		}
	}
	for _, f := range all {
		if f.Level == doctor.Warning || f.Level == doctor.Problem {
			about := []any{"check", f.Check, "found", f.Found, "fix", f.Fix}
			if f.Server != "" {
				about = append(about, "server", f.Server)
			}
			log.Warn("Redis needs another setting; rankcast doctor checks more", about...)
		}
	}
	return true, nil
}
