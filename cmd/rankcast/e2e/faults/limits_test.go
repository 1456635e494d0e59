package faults

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// A Redis without memory (maxmemory, noeviction) refuses all that grows. Updates are answered 503, and
// no board holds half of one. Reads and watchers go on, and updates too once there is memory.
func TestFaultRedisOutOfMemory(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	tr := newTrial(t, shortForm, r, 2)
	for range 3 {
		require.NoError(t, r.Admin().ConfigSet(t.Context(), "maxmemory", "1mb").Err())
		full := time.Now()
		tr.load.untilAnswered(503, full, 3*tr.form.senders)
		tr.load.pause()
		before, err := tr.held()
		require.NoError(t, err)
		tr.load.resume()
		tr.load.untilAnswered(503, time.Now(), 3*tr.form.senders)
		tr.load.pause()
		after, err := tr.held()
		require.NoError(t, err)
		require.Equal(t, before, after, "an update that was answered 503 has changed a board")
		tr.right(tr.nodes...)
		for _, n := range tr.nodes {
			n.Answers(200, "GET", "/v1/boards/points/top", "")
			require.Nil(t, n.witness.Stale)
		}
		tr.load.resume()
		require.NoError(t, r.Admin().ConfigSet(t.Context(), "maxmemory", "0").Err())
		tr.load.untilAnswered(200, time.Now(), 20*tr.form.senders)
	}
	tr.end()
	tr.stayed(tr.nodes...)
}

// outputBuffer has Redis cut the pub/sub connection of a node that reads too slowly
// (client-output-buffer-limit). The node's clients stay connected, are told, and get what it missed.
// The other node notices nothing.
func outputBuffer(t *testing.T, f faultForm) *figures {
	r := redistest.Start(t, "--client-output-buffer-limit", "pubsub", "64kb", "0", "0")
	tr := &trial{t: t, form: f, redis: r}
	slow := tr.addNode(nil, r.URL()) // no proxy reads ahead for it
	other := tr.addNode(nil, r.URL())
	tr.begin()
	store, figures := tr.direct(r.URL()), new(figures)
	for range f.rounds {
		tr.load.pause()
		suspend(t, slow.Cmd.Process.Pid)
		redistest.Eventually(t, "Redis to cut the connection of the slow node", func() error {
			tr.load.around(store)
			clients, err := r.Admin().ClientList(t.Context()).Result()
			if n := strings.Count(clients, " cmd=subscribe "); err != nil || n != 1 {
				return fmt.Errorf("%d subscribers (%v)", n, err)
			}
			return nil
		})
		resume(t, slow.Cmd.Process.Pid)
		whole := time.Now()
		slow.told(true)
		slow.told(false)
		figures.add("all views equal Redis after", tr.right(slow, other).Sub(whole))
		tr.load.resume()
	}
	tr.end()
	tr.stayed(slow, other)
	require.Nil(t, other.witness.Stale, "a node that reads its messages has told its clients nothing")
	return figures
}

// A node that may open no more files keeps the sockets that it has, and updates over connections that are
// open go on. New connections wait, and the log says why. When it may open files again, it takes the connections
// that waited.
func TestFaultNoDescriptorsLeft(t *testing.T) {
	t.Parallel()
	tr := newTrial(t, shortForm, redistest.Start(t), 1)
	n := tr.nodes[0]
	var limit unix.Rlimit
	require.NoError(t, unix.Prlimit(n.Cmd.Process.Pid, unix.RLIMIT_NOFILE, nil, &limit))
	// All connections to Redis that the load needs are open by now.
	low := unix.Rlimit{Cur: lowestFreeFile(n.Process), Max: limit.Max}
	require.NoError(t, unix.Prlimit(n.Cmd.Process.Pid, unix.RLIMIT_NOFILE, &low, nil))

	var waiting []net.Conn
	for range 20 {
		conn, err := net.Dial("tcp", n.Addr)
		require.NoError(t, err)
		defer conn.Close()
		fmt.Fprintf(conn, "GET /healthz HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", n.Addr)
		waiting = append(waiting, conn)
	}
	n.Logs("the node may open no more files, so new connections wait")
	tr.load.untilAnswered(200, time.Now(), 100*tr.form.senders)
	last := waiting[len(waiting)-1]
	require.NoError(t, last.SetReadDeadline(time.Now()))
	_, err := last.Read(make([]byte, 1))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded, "the node has taken a connection beyond its limit")
	tr.load.pause()
	tr.right(n)
	tr.load.resume()

	require.NoError(t, unix.Prlimit(n.Cmd.Process.Pid, unix.RLIMIT_NOFILE, &limit, nil))
	for _, conn := range waiting {
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(servertest.Patience)))
		status := make([]byte, len("HTTP/1.1 200"))
		_, err := conn.Read(status)
		require.NoError(t, err)
		require.Equal(t, "HTTP/1.1 200", string(status))
	}
	late := servertest.Dial(t, n.Addr)
	late.Subscribe("points", 10)
	tr.end()
	tr.stayed(n)
}

// lowestFreeFile is the number that the process's next open file would get. As a limit of open files
// (RLIMIT_NOFILE) it allows no further file.
func lowestFreeFile(p *e2etest.Process) uint64 {
	files, err := processOf(p).FileDescriptors()
	require.NoError(p.T, err)
	free := uintptr(0)
	for slices.Contains(files, free) {
		free++
	}
	return uint64(free)
}
