package live

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rankcast/hub"
	"rankcast/ranking/proptest"
	"rankcast/ranking/redistest"
	"rankcast/server/access"
)

// received is what a client has read: the payloads of text frames that begin with a letter, by that letter, and whether the last
// frame was a close frame.
type received struct {
	texts  map[byte][]string
	pongs  int
	closed bool
}

// receiveAll reads whole frames (RFC 6455, section 5.2) until the connection ends.
func receiveAll(from io.Reader) (r received, err error) {
	r.texts = make(map[byte][]string)
	for {
		var head [2]byte
		if _, err := io.ReadFull(from, head[:]); err != nil {
			return r, nil
		}
		if r.closed {
			return r, fmt.Errorf("a frame follows the close frame: % x", head)
		}
		size := uint64(head[1])
		long := map[byte]int{126: 2, 127: 8}[head[1]]
		extended := make([]byte, 8)
		if _, err := io.ReadFull(from, extended[8-long:]); err != nil {
			return r, err
		}
		if long > 0 {
			size = binary.BigEndian.Uint64(extended)
		}
		payload := make([]byte, size)
		if _, err := io.ReadFull(from, payload); err != nil {
			return r, err
		}
		switch head[0] {
		case 0x81:
			name, rest, _ := strings.Cut(string(payload), ":")
			if strings.Trim(rest, "x") != "" {
				return r, fmt.Errorf("a frame is mixed with another one: %.40q", payload)
			}
			r.texts[name[0]] = append(r.texts[name[0]], name)
		case 0x8a:
			r.pongs++
		case 0x88:
			r.closed = true
		default:
			return r, fmt.Errorf("an unknown frame: % x", head)
		}
	}
}

// sized is a frame of a name, and of a number of bytes beside it.
func sized(name string, bytesMore int) *hub.Frame {
	return hub.NewFrame(append([]byte(name+":"), bytes.Repeat([]byte("x"), bytesMore)...))
}

// The hub sends frames of any size, several in one write, while answers, pongs and messages about lost rights go out, to clients that read
// at once or late, over TCP and over TLS. A client gets each frame whole, and those of the hub in their order. Nothing
// follows a close frame.
func TestGatheredFramesStayInOrder(t *testing.T) {
	t.Parallel()
	for _, over := range []string{"TCP", "TLS"} {
		t.Run(over, func(t *testing.T) {
			t.Parallel()
			proptest.Check(t, 60, func(rt *rapid.T) {
				server, client := connect(t)
				defer client.Close()
				server.(*net.TCPConn).SetWriteBuffer(rapid.SampledFrom([]int{4 << 10, 64 << 10}).Draw(rt, "buffer"))
				if over == "TLS" {
					server, client = tlsOver(t, server, client)
				}
				var running sync.WaitGroup
				limits := access.New(access.Config{})
				s := newSocket(server, nil, time.Minute, &running, slotOf(t, limits), noMetrics())
				read, got, readErr := make(chan struct{}), received{}, error(nil)
				var reading, others sync.WaitGroup
				reading.Go(func() { <-read; got, readErr = receiveAll(client) })
				readsLate := rapid.Bool().Draw(rt, "reads late")
				if !readsLate {
					close(read)
				}
				var want []string
				counts := make(map[string]int)
				for range rapid.IntRange(1, 30).Draw(rt, "steps") {
					step := rapid.SampledFrom([]string{"hub", "hub", "hub", "reply", "pong", "push"}).Draw(rt, "step")
					counts[step]++
					number := fmt.Sprint(counts[step])
					switch step {
					case "hub":
						for i := range rapid.IntRange(1, 6).Draw(rt, "frames") {
							name := fmt.Sprint("h", number, ".", i)
							f := sized(name, rapid.SampledFrom([]int{0, 10, 200, 4000, gatherBytes, 100_000}).Draw(rt, "bytes"))
							if s.Free() && s.Send(f, time.Time{}) {
								want = append(want, name)
							}
						}
						s.Flush()
					case "reply":
						others.Go(func() { s.reply(sized("r"+number, 30)) })
					case "pong":
						others.Go(func() { s.writeControl([]byte{0x8a, 0}) })
					case "push":
						s.push(wire(sized("p"+number, 3000)))
					}
				}
				if readsLate {
					close(read)
				}
				redistest.Wait(t, "the answers", others.Wait)
				redistest.Wait(t, "what waits", running.Wait)
				s.closeWith(sized("bye", 0), closeGoingAway)
				redistest.Wait(t, "the close frame", running.Wait)
				require.True(rt, s.Free(), "it is taken, and dropped")
				require.True(rt, s.Send(sized("hafter", 0), time.Time{}))
				s.Flush()
				s.Close()
				redistest.Wait(t, "the client", reading.Wait)
				require.NoError(rt, readErr)
				require.Equal(rt, want, got.texts['h'])
				require.Len(rt, got.texts['r'], counts["reply"])
				require.Len(rt, got.texts['p'], counts["push"])
				require.Equal(rt, counts["pong"], got.pongs)
				require.True(rt, got.closed)
				require.Zero(rt, limits.Waiting())
			})
		})
	}
}

// Several frames go out in one write. While the client is slow they count as the buffer that holds them, and nothing else is kept.
func TestGatheredFramesAreOneWrite(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		limits := access.New(access.Config{})
		near, client := net.Pipe() // holds nothing
		var running sync.WaitGroup
		writes := 0
		s := newSocket(writeHook{near, func() { writes++ }}, nil, time.Minute, &running, slotOf(t, limits), noMetrics())
		var want []byte
		for i := range 3 {
			f := sized(fmt.Sprint("h", i), 100)
			want = append(want, wire(f)...)
			require.True(t, s.Send(f, time.Time{}))
		}
		s.Flush()
		require.GreaterOrEqual(t, limits.Waiting(), len(want))
		got := make([]byte, len(want))
		_, err := io.ReadFull(client, got)
		require.NoError(t, err)
		require.Equal(t, want, got)
		running.Wait()
		require.Equal(t, 1, writes)
		require.Zero(t, limits.Waiting())

		require.True(t, s.Send(sized("h3", 0), time.Time{}))
		s.ending.Store(true)
		s.Flush()
		running.Wait()
		require.Equal(t, 1, writes, "what the client may not see any more is dropped")
		require.True(t, isFree(s))
		client.Close()
		near.Close()
	})
}
