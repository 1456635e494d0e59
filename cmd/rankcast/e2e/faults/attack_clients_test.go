package faults

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"rankcast/server/servertest"
)

// attackEnv makes this test binary a process of clients that mean harm: see attack.
const attackEnv = "RANKCAST_ATTACK"

// The sizes of the attacks.
const (
	subscribeSockets = 400
	subscribeBoards  = 100 // of a socket
	loopSockets      = 5
	loopBoards       = 3000 // of a socket
	pagesSockets     = 20
	pagesBoards      = 50
	renameSockets    = 100
	renameBoards     = 100 // of a socket
	renamers         = 4
	rolloverSockets  = 40
	rolloverBoards   = 100 // of a socket
	rolloverWriters  = 16
	pipelines        = 100
	continueSockets  = 300
	slowSockets      = 80
	slowBoards       = 20
)

// attackRows is the number of members of the boards of "pages" and of "slow".
const attackRows = 1000

// attackerAddress is where the attackers say that they come from, as by a trusted proxy: the limits of an
// address do not apply to loopback.
const attackerAddress = "198.51.100.7"

// attackPause is the time after which an attacker whom the node has refused comes back.
const attackPause = 10 * time.Millisecond

// attackers are the clients of one attack. A client that the node refuses or disconnects comes back.
type attackers struct {
	addr       string
	readBuffer int            // of each connection, in bytes; 0: the system decides
	connecting sync.WaitGroup // counts the clients that are not ready yet
	begin      chan struct{}  // closed when the attack begins
	snapshots  atomic.Int64   // that the node has sent
}

// attack is the process of the attackers: a kind and an address. It writes a line when all are connected.
// The attack begins at the first line of input. Each line of input is answered with the number of
// snapshots so far.
func attack(spec string) {
	kind, addr, _ := strings.Cut(spec, " ")
	a := &attackers{addr: addr, begin: make(chan struct{})}
	switch kind {
	case "subscribe": // each socket subscribes to boards without any update
		a.start(subscribeSockets, func(i int, s *servertest.RawSocket) {
			a.flood(s, func(yield func(string) bool) {
				for k := 0; k < subscribeBoards && yield(fmt.Sprintf(`{"type":"subscribe","board":"fam:f%d_%d","top":0}`, i, k)); k++ {
				}
			})
		})
	case "loop": // a few sockets subscribe and unsubscribe as fast as they are answered
		a.start(loopSockets, func(i int, s *servertest.RawSocket) {
			a.flood(s, watchAndLeave(func(n int) (string, int) { return fmt.Sprintf("fam:f%d_%d", i, n%loopBoards), 0 }))
		})
	case "pages": // the same, with large boards that Redis holds
		a.start(pagesSockets, func(_ int, s *servertest.RawSocket) {
			a.flood(s, watchAndLeave(func(int) (string, int) { return fmt.Sprint("p", rand.IntN(pagesBoards)), attackRows }))
		})
	case "rename": // boards that all show one member, whose name changes without pause
		a.start(renameSockets, func(i int, s *servertest.RawSocket) {
			a.flood(s, func(yield func(string) bool) {
				for k := 0; k < renameBoards && yield(fmt.Sprintf(`{"type":"subscribe","board":"renamed:f%d_%d","top":10}`, i, k)); k++ {
				}
			})
		})
		for range renamers {
			go a.send("PUT", func(n int) (string, string) { return "/v1/members/renamed/m", fmt.Sprintf(`{"name":"name %d"}`, n) })
		}
	case "rollover": // boards with periods of a second that are written all the time
		a.start(rolloverSockets, func(i int, s *servertest.RawSocket) {
			a.flood(s, func(yield func(string) bool) {
				for k := 0; k < rolloverBoards && yield(fmt.Sprintf(`{"type":"subscribe","board":"rolls:f%d_%d","top":100}`, i, k)); k++ {
				}
			})
		})
		for i := range rolloverWriters {
			go a.send("POST", func(n int) (string, string) {
				n = n*rolloverWriters + i
				return fmt.Sprintf("/v1/boards/rolls:f%d_%d/scores", n%rolloverSockets, n/rolloverSockets%rolloverBoards), `{"member":"m","score":1}`
			})
		}
	case "chunks": // bodies of many small pieces, one after another
		a.pipeline("GET /healthz", "Transfer-Encoding: chunked", strings.Repeat("1\r\n \r\n", 60_000)+"0\r\n\r\n")
	case "fields": // headers of many fields
		var fields strings.Builder
		for i := range 1500 {
			fmt.Fprintf(&fields, "a%d:\r\n", i)
		}
		a.pipeline("GET /healthz", strings.TrimSuffix(fields.String(), "\r\n"), "")
	case "updates": // large batches, one after another
		body := `{"updates":[1` + strings.Repeat(",1", 500_000) + "]}"
		a.pipeline("POST /v1/boards/p0/scores", fmt.Sprintf("Content-Type: application/json\r\nContent-Length: %d", len(body)), body)
	case "continue": // frames without any byte that continue a message, without end
		a.start(continueSockets, func(_ int, s *servertest.RawSocket) {
			go s.EachFrame(func([]byte) {})
			_, err := s.Write([]byte{0x01, 0x81, 0, 0, 0, 0, '{'})
			frames := bytes.Repeat([]byte{0x00, 0x80, 0, 0, 0, 0}, 10_000)
			for err == nil {
				_, err = s.Write(frames)
			}
		})
	case "slow": // each socket watches all boards with a top of its own, and then reads a little every 4 s
		a.readBuffer = 4 << 10
		a.connecting.Add(slowSockets)
		for i := range slowSockets {
			ready := sync.OnceFunc(a.connecting.Done)
			go a.stay(i, func(s *servertest.RawSocket) {
				if a.watchSlowBoards(i, s) == nil {
					ready()
					for s.DiscardSome() == nil {
						time.Sleep(4 * time.Second)
					}
				}
			})
		}
	}
	a.connecting.Wait()
	fmt.Println("ready")
	begin := sync.OnceFunc(func() { close(a.begin) })
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		begin()
		fmt.Println(a.snapshots.Load())
	}
}

// start starts sockets that do the same from the begin of the attack on.
func (a *attackers) start(sockets int, do func(i int, s *servertest.RawSocket)) {
	a.connecting.Add(sockets)
	for i := range sockets {
		ready := sync.OnceFunc(a.connecting.Done)
		go a.stay(i, func(s *servertest.RawSocket) {
			ready()
			<-a.begin
			do(i, s)
		})
	}
}

// stay opens a socket, again and again. do returns when the node has closed the socket.
func (a *attackers) stay(i int, do func(*servertest.RawSocket)) {
	for {
		s, err := servertest.DialRaw(i, a.addr)
		if err == nil {
			if a.readBuffer > 0 {
				s.Conn.(*net.TCPConn).SetReadBuffer(a.readBuffer)
			}
			if err = s.Handshake("X-Forwarded-For: " + attackerAddress); err == nil {
				do(s)
			}
			s.Close()
		}
		time.Sleep(attackPause)
	}
}

// flood sends messages without pause, and reads all frames, until the node closes the socket.
func (a *attackers) flood(s *servertest.RawSocket, messages iter.Seq[string]) {
	var reading sync.WaitGroup
	reading.Go(func() {
		s.EachFrame(func(frame []byte) { a.count(frame) })
		s.Close() // ends a send that waits
	})
	for message := range messages {
		if s.SendText(message) != nil {
			break
		}
	}
	reading.Wait()
}

// count counts a frame if it is a snapshot.
func (a *attackers) count(frame []byte) (snapshot bool) {
	if snapshot = bytes.HasPrefix(frame, []byte(`{"type":"snapshot"`)); snapshot {
		a.snapshots.Add(1)
	}
	return snapshot
}

// send sends one request after another.
func (a *attackers) send(method string, pick func(n int) (path, body string)) {
	<-a.begin
	for n := 0; ; n++ {
		path, body := pick(n)
		r, err := http.NewRequest(method, "http://"+a.addr+path, strings.NewReader(body))
		if err != nil {
			panic(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("X-Forwarded-For", attackerAddress)
		if response, err := http.DefaultClient.Do(r); err == nil {
			io.Copy(io.Discard, response.Body)
			response.Body.Close()
		}
	}
}

// pipeline sends a request again and again on each of many connections, without waiting for the answers.
func (a *attackers) pipeline(line, header, body string) {
	request := []byte(fmt.Sprintf("%s HTTP/1.1\r\nHost: %s\r\nX-Forwarded-For: %s\r\n%s\r\n\r\n%s", line, a.addr, attackerAddress,
		header, body))
	for i := range pipelines {
		go func() {
			for <-a.begin; ; time.Sleep(attackPause) {
				s, err := servertest.DialRaw(i, a.addr)
				if err != nil {
					continue
				}
				go io.Copy(io.Discard, s.Conn)
				for err == nil {
					_, err = s.Write(request)
				}
				s.Close()
			}
		}()
	}
}

// watchAndLeave subscribes to boards, and unsubscribes from each at once.
func watchAndLeave(pick func(n int) (board string, top int)) iter.Seq[string] {
	return func(yield func(string) bool) {
		for n := 0; ; n++ {
			board, top := pick(n)
			if !yield(fmt.Sprintf(`{"type":"subscribe","board":"%s","top":%d}`, board, top)) ||
				!yield(fmt.Sprintf(`{"type":"unsubscribe","board":"%s"}`, board)) {
				return
			}
		}
	}
}

// watchSlowBoards subscribes to all boards of "slow", and reads until it has their snapshots.
func (a *attackers) watchSlowBoards(i int, s *servertest.RawSocket) error {
	for k := range slowBoards {
		if err := s.SendText(fmt.Sprintf(`{"type":"subscribe","board":"b%d","top":%d}`, k, attackRows-i)); err != nil {
			return err
		}
	}
	for snapshots := 0; snapshots < slowBoards; {
		frame, err := s.ReadFrame()
		if err != nil {
			return err
		}
		if a.count(frame) {
			snapshots++
		}
	}
	return nil
}
