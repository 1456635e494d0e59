package faults

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

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
	redistest.Eventually(t, "the reason in the log", func() error {
		if log := n.Output(); !strings.Contains(log, "the node may open no more files, so new connections wait") {
			return errors.New(log)
		}
		return nil
	})
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
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.Cmd.Process.Pid))
	require.NoError(p.T, err)
	open := make(map[string]bool)
	for _, file := range files {
		open[file.Name()] = true
	}
	free := uint64(0)
	for open[fmt.Sprint(free)] {
		free++
	}
	return free
}
