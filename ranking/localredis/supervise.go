//go:build unix

package localredis

import (
	"context"
	"fmt"
	"time"

	"rankcast/ranking/fair"
)

const (
	// minBackoff and maxBackoff bound the pause before a start of redis-server. Each start that
	// has no lasting success doubles the pause.
	minBackoff = 100 * time.Millisecond
	maxBackoff = 5 * time.Second
	// steadyTime is how long redis-server must have run for its end to be the first one again.
	steadyTime = 10 * time.Second
	// diskPause is the time between two looks at a full disk.
	diskPause = time.Second
	// refusing is the setting that makes Redis refuse writes: a private redis-server has no replicas.
	refusing = "min-replicas-to-write"
)

// supervise starts redis-server again each time that it ends, until ctx ends.
func (s *Server) supervise(ctx context.Context) {
	pause := minBackoff
	for {
		began := time.Now()
		if !s.watchProcess(ctx) {
			return
		}
		ended := time.Now()
		if ended.Sub(began) > steadyTime {
			pause = minBackoff
		}
		reason := s.reason(s.exitReason(s.process))
		s.process = nil
		s.cfg.Log.Warn("redis-server has ended; the node starts it again", "reason", reason)
		for s.process == nil {
			if fair.Pause(ctx, pause) != nil {
				return
			}
			pause = min(2*pause, maxBackoff)
			p, err := s.restart(ctx)
			if ctx.Err() != nil {
				s.process = p
				return
			}
			if err == nil {
				s.process = p
			} else if failed := s.reason(err.Error()); failed != reason {
				reason = failed
				s.cfg.Log.Warn("redis-server does not start; the node goes on trying", "reason", reason)
			}
		}
		s.cfg.Log.Info("redis-server runs again", "after", time.Since(ended).Round(time.Millisecond))
	}
}

// watchProcess returns true when the process has ended, and false when ctx has. Meanwhile it lets Redis accept
// writes again once the disk has room.
func (s *Server) watchProcess(ctx context.Context) (ended bool) {
	look := time.NewTicker(diskPause)
	defer look.Stop()
	for {
		select {
		case <-s.process.ended:
			return true
		case <-ctx.Done():
			return false
		case <-look.C:
			if s.refuses {
				s.configure(ctx) // else at the next look
			}
		}
	}
}

// restart starts redis-server, or takes over one that runs, and returns once it has loaded its data, which takes minutes
// for large data.
func (s *Server) restart(ctx context.Context) (*process, error) {
	if p, err := s.takeOver(ctx); p != nil || err != nil {
		return p, err
	}
	p, err := s.launch(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.awaitData(ctx, p); err != nil && p.hasEnded() {
		return nil, err
	}
	return p, nil
}

// configure gives a running redis-server the settings of this Server. On a full disk with Always, Redis
// would end at the next write, so configure makes it refuse writes instead.
func (s *Server) configure(ctx context.Context) error {
	s.refuses = s.mustRefuse()
	settings := []any{"CONFIG", "SET", "appendfsync", string(s.cfg.Fsync), refusing, "0"}
	if s.refuses {
		settings = []any{"CONFIG", "SET", refusing, "1"}
	}
	if err := s.rdb.Do(ctx, settings...).Err(); err != nil {
		s.refuses = true // try again
		return fmt.Errorf("set up the redis-server in %s: %w", s.dir.path, err)
	}
	return nil
}

// mustRefuse reports whether Redis would end at the first write, see the documentation of the package.
func (s *Server) mustRefuse() bool { return s.cfg.Fsync == Always && s.dir.probeDisk() != nil }

// reason adds to the reason of an end that the disk is full: redis.log may have had no room to say so.
func (s *Server) reason(text string) string {
	if err := s.dir.probeDisk(); err != nil {
		return text + "; " + err.Error()
	}
	return text
}
