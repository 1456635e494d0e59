package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
)

// peers are connections to Redis that subscribe to what the node subscribes to, as further nodes do. They do nothing
// with the messages: only the cost to Redis is that of nodes.
type peers struct {
	cancel   context.CancelFunc
	reading  sync.WaitGroup
	messages atomic.Int64 // to each peer
	lost     atomic.Int64 // peers whose connection Redis has closed
}

// subscribePeers subscribes n peers to all channels that have a subscriber now.
func (o *ownServer) subscribePeers(ctx context.Context, n int) (*peers, error) {
	ctx, cancel := context.WithCancel(ctx)
	p := &peers{cancel: cancel}
	asker, err := dialRedis(ctx, o.socket)
	if err != nil {
		cancel()
		return nil, err
	}
	channels, err := asker.strings("PUBSUB", "CHANNELS")
	for number := range n {
		if err == nil {
			err = p.subscribe(ctx, o.socket, channels, number == 0)
		}
	}
	if err != nil {
		p.end()
		return nil, fmt.Errorf("subscribe to the channels of the node: %w", err)
	}
	return p, nil
}

// subscribe adds a peer. One of them counts the messages.
func (p *peers) subscribe(ctx context.Context, socket string, channels []string, counts bool) error {
	c, err := dialRedis(ctx, socket)
	if err != nil {
		return err
	}
	if err := c.do(appendCommand(nil, append([]string{"SUBSCRIBE"}, channels...)...), len(channels)); err != nil {
		return err
	}
	p.reading.Go(func() {
		if !counts {
			io.Copy(io.Discard, c.reader)
		}
		for counts && skipReply(c.reader) == nil {
			p.messages.Add(1)
		}
		if ctx.Err() == nil {
			p.lost.Add(1)
		}
	})
	return nil
}

// end ends the peers, and returns the number of messages that each of them got.
func (p *peers) end() (messages int64, err error) {
	messages, lost := p.messages.Load(), p.lost.Load()
	p.cancel()
	p.reading.Wait()
	if lost > 0 {
		return 0, fmt.Errorf("the connections of %d nodes to Redis are closed", lost)
	}
	return messages, nil
}

// strings sends a command whose reply is a list of strings (RESP 2).
func (c *redisConn) strings(args ...string) (list []string, err error) {
	if _, err = c.conn.Write(appendCommand(nil, args...)); err != nil {
		return nil, err
	}
	n, err := readLength(c.reader, '*')
	for range n {
		var size int
		if size, err = readLength(c.reader, '$'); err != nil {
			return nil, err
		}
		text := make([]byte, size+len("\r\n"))
		if _, err = io.ReadFull(c.reader, text); err != nil {
			return nil, err
		}
		list = append(list, string(text[:size]))
	}
	return list, err
}

// readLength reads the line that begins a reply of a kind.
func readLength(r *bufio.Reader, kind byte) (int, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return 0, err
	}
	if len(line) < 4 || line[0] != kind {
		return 0, errors.New("the reply of Redis is of another kind")
	}
	return strconv.Atoi(line[1 : len(line)-2])
}
