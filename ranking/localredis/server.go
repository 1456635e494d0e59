//go:build unix

package localredis

import (
	"context"
	"fmt"
	"sync"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
)

// Server is a redis-server in a directory, and its owner. Its methods may be called concurrently.
type Server struct {
	cfg     Config
	dir     directory
	program string        // the path of redis-server
	rdb     *redis.Client // for the administration; the store has a client of its own

	// Start sets these, then supervise owns them, and after its end Close.
	process *process // the one that runs; nil between an end and a start
	refuses bool     // the process refuses writes until the disk has room

	life      context.Context // ends when Close has ended redis-server
	endLife   context.CancelFunc
	waiting   sync.WaitGroup // for the ends of processes
	stop      context.CancelFunc
	watching  sync.WaitGroup // supervise
	closeOnce sync.Once
}

// loadTime is how long Start waits while redis-server loads its data. Then Start returns all the same: the
// node can say that it is alive, and that it is not ready.
const loadTime = 2 * time.Second

// Start starts a redis-server in a directory, or takes over the one that an earlier owner left behind,
// and supervises it until Close. Large data may still be loading when Start returns: Redis then answers
// each command with an error that begins with LOADING.
//
// Start returns ErrNotInstalled without a redis-server, ErrInUse for the directory of another process, and
// other errors for a directory that it cannot use and for a redis-server that ends at once. When ctx
// ends first, Start ends what it has started.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	program, err := Find(ctx)
	if err != nil {
		return nil, err
	}
	dir, err := openDirectory(cfg.Dir)
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, dir: dir, program: program}
	s.life, s.endLife = context.WithCancel(context.Background())
	const callTime = 2 * time.Second // in which a Redis of this machine answers, unless it hangs
	s.rdb = redis.NewClient(&redis.Options{
		Network: "unix", Addr: dir.file(socketName), Protocol: 2, DisableIdentity: true, MaxRetries: -1, DialerRetries: 1,
		DialTimeout: callTime, ReadTimeout: callTime, WriteTimeout: callTime, ContextTimeoutEnabled: true,
	})
	if s.process, err = s.open(ctx); err != nil {
		s.release()
		return nil, err
	}
	supervision, stop := context.WithCancel(s.life)
	s.stop = stop
	s.watching.Go(func() { s.supervise(supervision) })
	return s, nil
}

// open takes over the process that runs, or starts one.
func (s *Server) open(ctx context.Context) (*process, error) {
	if p, err := s.takeOver(ctx); p != nil || err != nil {
		return p, err
	}
	p, err := s.launch(ctx)
	if err != nil {
		return nil, fmt.Errorf("redis-server does not start in %s: %w", s.dir.path, err)
	}
	loading, cancel := context.WithTimeout(ctx, loadTime)
	defer cancel()
	err = s.awaitData(loading, p)
	if err == nil || ctx.Err() == nil && !p.hasEnded() {
		return p, nil
	}
	p.os.Kill() // no effect on one that has ended
	<-p.ended
	return nil, fmt.Errorf("redis-server does not start in %s: %w", s.dir.path, err)
}

// takeOver takes over the process that runs, with the settings of this Server. It returns nil if none runs.
func (s *Server) takeOver(ctx context.Context) (*process, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	p, err := s.adopt(ctx)
	if p == nil || err != nil {
		return nil, err
	}
	if err := s.configure(ctx); err != nil {
		select {
		case <-p.ended:
			return nil, nil
		case <-ctx.Done():
			return nil, err
		}
	}
	return p, nil
}

// URL returns the URL that ranking.Open takes. Other nodes of the same user on this machine may use it too.
func (s *Server) URL() string { return s.dir.socketURL() }

// Close ends redis-server, and returns once it has ended. Redis first writes all its data to the disk, so the
// end may take seconds on a slow disk, and a process that hangs never ends. If the caller ends
// meanwhile, the next Start in the directory takes the process over.
//
// Close leaves redis-server running if it has acknowledged writes that the full disk does not hold.
// Call Close after all other clients have ended.
func (s *Server) Close() {
	s.closeOnce.Do(func() {
		s.stop()
		s.watching.Wait()
		switch p := s.process; {
		case p == nil:
		case s.hasUnsaved():
			s.cfg.Log.Warn("redis-server keeps running, because the full disk does not hold all its scores; make room, and start the node again",
				"dir", s.dir.path)
			s.endLife()
			s.rdb.Close()
			unlock(s.dir.lock)
			return
		default:
			p.os.Signal(syscall.SIGTERM)
			<-p.ended
		}
		s.release()
	})
}

// release gives up what the Server holds, once no redis-server runs.
func (s *Server) release() {
	s.endLife()
	s.waiting.Wait()
	s.rdb.Close()
	unlock(s.dir.lock)
}

// hasUnsaved reports whether the last write of Redis to its file has failed. It waits a second at most, for
// redis-server may hang.
func (s *Server) hasUnsaved() bool {
	ctx, cancel := context.WithTimeout(s.life, time.Second)
	defer cancel()
	info, err := s.rdb.InfoMap(ctx, "persistence").Result()
	return err == nil && info["Persistence"]["aof_last_write_status"] == "err"
}
