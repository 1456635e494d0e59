//go:build unix

package localredis

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// answerTime is how long redis-server may take until it accepts connections.
	answerTime = 30 * time.Second
	// pollStep is the time between two questions to a redis-server that starts.
	pollStep = 10 * time.Millisecond
	// lockStep is the time between two looks at the lock of a redis-server that another process has
	// started: its end sends no signal.
	lockStep = 100 * time.Millisecond
)

// errLoading reports a redis-server that accepts connections, and loads its data still.
var errLoading = errors.New("redis-server is loading its data")

// process is one process of redis-server.
type process struct {
	os    *os.Process   // of redis-server
	ended chan struct{} // closed once the process has ended
	state string        // how it has ended, once it has
	logAt int64         // where its lines in redis.log begin
}

// hasEnded reports whether the process has ended.
func (p *process) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// launch starts redis-server, and returns when redis-server accepts connections. On a full disk it may start
// redis-server so that it refuses writes, see mustRefuse.
func (s *Server) launch(ctx context.Context) (p *process, err error) {
	held, err := lock(s.dir.file(redisLockName))
	if errors.Is(err, errLocked) { // a child of redis-server, which rewrites the append-only file, may live on for a moment
		return nil, fmt.Errorf("a redis-server, process id %s, still uses %s", readPid(s.dir.file(redisLockName)), s.dir.path)
	}
	if err != nil {
		return nil, err
	}
	defer held.Close() // redis-server has inherited the file, and with it the lock
	log, logAt, err := s.dir.openLog()
	if err != nil {
		return nil, err
	}
	defer log.Close()
	s.refuses = s.mustRefuse()
	cmd := exec.Command(s.program, s.arguments()...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir.path, log, log
	cmd.ExtraFiles = []*os.File{held}
	for _, variable := range os.Environ() { // some of these are secrets
		if !strings.HasPrefix(variable, "RANKCAST_") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	// In a session of its own the process does not get the Ctrl-C of the terminal: the node ends it last.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	writePid(held, cmd.Process.Pid)
	p = &process{os: cmd.Process, ended: make(chan struct{}), logAt: logAt}
	s.waiting.Go(func() {
		cmd.Wait()
		p.state = cmd.ProcessState.String()
		close(p.ended)
	})
	if err := s.awaitAnswer(ctx, p); err != nil {
		p.os.Kill()
		<-p.ended
		return nil, err
	}
	return p, nil
}

// arguments are the arguments of redis-server. It reads no file of settings.
func (s *Server) arguments() []string {
	args := []string{
		"--dir", s.dir.path, "--port", "0", "--unixsocket", s.dir.file(socketName), "--unixsocketperm", "700",
		"--daemonize", "no", "--save", "", "--appendonly", "yes", "--appendfsync", string(s.cfg.Fsync),
		"--maxmemory-policy", "noeviction", "--lazyfree-lazy-expire", "yes",
	}
	if s.refuses {
		args = append(args, "--"+refusing, "1")
	}
	return args
}

// adopt returns the redis-server that an earlier owner has started, once it answers. It returns nil if none
// runs.
func (s *Server) adopt(ctx context.Context) (*process, error) {
	path := s.dir.file(redisLockName)
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	if !isLocked(file) {
		file.Close()
		// Two processes on one append-only file would destroy it.
		if pid, err := s.pid(ctx); err == nil {
			return nil, fmt.Errorf("a redis-server that no node has started, process id %d, uses %s: stop it first", pid, s.dir.file(socketName))
		}
		return nil, nil
	}
	p := &process{ended: make(chan struct{}), state: "the process is gone"}
	if info, err := os.Stat(s.dir.file(logName)); err == nil {
		p.logAt = info.Size()
	}
	s.waiting.Go(func() { p.watchLock(s.life, file) })
	var pid int
	err = s.await(ctx, p, func(error) bool {
		var err error
		pid, err = s.pid(ctx)
		return err == nil
	})
	switch {
	case p.hasEnded(): // as one does that its owner has told to end
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("the redis-server that an earlier node left behind, process id %s: %w", readPid(path), err)
	}
	if p.os, err = os.FindProcess(pid); err != nil {
		return nil, err
	}
	s.cfg.Log.Info("this node takes over the redis-server that an earlier node left behind", "dir", s.dir.path, "pid", pid)
	return p, nil
}

// pid asks the redis-server at the socket for its process id.
func (s *Server) pid(ctx context.Context) (int, error) {
	info, err := s.rdb.InfoMap(ctx, "server").Result()
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(info["Server"]["process_id"])
}

// watchLock closes ended once no process holds the lock of redis-server. It returns at the end of ctx too. It keeps the
// file open, because a process that may open no more files could not tell the end of redis-server.
func (p *process) watchLock(ctx context.Context, file *os.File) {
	defer file.Close()
	tick := time.NewTicker(lockStep)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if !isLocked(file) {
				close(p.ended)
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// ask returns nil when redis-server answers and has its data, and errLoading while redis-server loads them. While
// it loads, Redis answers only now and then, so a late answer means the same.
func (s *Server) ask(ctx context.Context) error {
	err := s.rdb.Ping(ctx).Err()
	var answer redis.Error
	switch {
	case redis.HasErrorPrefix(err, "LOADING"), errors.Is(err, os.ErrDeadlineExceeded):
		return errLoading
	case errors.As(err, &answer): // MISCONF, while Redis cannot write
		return nil
	}
	return err
}

// awaitAnswer waits until a process accepts connections. The process may still load its data.
func (s *Server) awaitAnswer(ctx context.Context, p *process) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	return s.await(ctx, p, func(err error) bool { return err == nil || errors.Is(err, errLoading) })
}

// awaitData waits until a process has loaded its data.
func (s *Server) awaitData(ctx context.Context, p *process) error {
	return s.await(ctx, p, func(err error) bool { return err == nil })
}

// await calls ask until enough returns true for the result. It returns an error when ctx ends, and when the
// process ends: then with its last words.
func (s *Server) await(ctx context.Context, p *process, enough func(error) bool) error {
	poll := time.NewTicker(pollStep)
	defer poll.Stop()
	for {
		err := s.ask(ctx)
		if enough(err) {
			return nil
		}
		select {
		case <-p.ended:
			return errors.New(s.exitReason(p))
		case <-ctx.Done():
			if errors.Is(err, errLoading) {
				return err
			}
			return fmt.Errorf("redis-server does not answer: %w", err)
		case <-poll.C:
		}
	}
}

// exitReason says how a process has ended, with its last lines in redis.log.
func (s *Server) exitReason(p *process) string {
	words := p.state
	if lines := s.dir.lastLines(p.logAt); lines != "" && !strings.HasPrefix(words, "signal: ") {
		words += ": " + lines
	}
	return words
}
