package bench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"

	"rankcast/ranking/fair"
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
	channels, err := o.rdb.PubSubChannels(ctx, "*").Result()
	read := p.count // by the first, for all of them
	for range n {
		if err == nil {
			err = p.subscribe(ctx, o.socket, channels, read)
		}
		read = discard
	}
	for subscribed := int64(0); err == nil && subscribed <= int64(n); fair.Pause(ctx, pollStep) { // the node and n peers
		last := channels[len(channels)-1]
		var of map[string]int64
		of, err = o.rdb.PubSubNumSub(ctx, last).Result()
		subscribed = of[last]
	}
	if err != nil {
		p.end()
		return nil, fmt.Errorf("subscribe to the channels of the node: %w", err)
	}
	return p, nil
}

// subscribe adds a peer, and reads until its connection ends. An end before that of ctx means that Redis has closed it.
func (p *peers) subscribe(ctx context.Context, socket string, channels []string, read func(io.Reader)) error {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", socket)
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { conn.Close() })
	for _, channel := range channels { // an inline command
		if _, err := fmt.Fprintf(conn, "SUBSCRIBE %s\r\n", channel); err != nil {
			return err
		}
	}
	p.reading.Go(func() {
		if read(conn); ctx.Err() == nil {
			p.lost.Add(1)
		}
	})
	return nil
}

// discard reads messages as bytes, so that many peers cost this machine little.
func discard(conn io.Reader) { io.Copy(io.Discard, conn) }

// count counts messages. Each is a list whose first string is "message".
func (p *peers) count(conn io.Reader) {
	lines := bufio.NewReader(conn)
	for line, err := lines.ReadSlice('\n'); err == nil || err == bufio.ErrBufferFull; line, err = lines.ReadSlice('\n') {
		if string(line) == "message\r\n" {
			p.messages.Add(1)
		}
	}
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
