package bench

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"rankcast/cmd/rankcast/internal/term"
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
	for range n - 1 {
		if err == nil {
			err = p.subscribe(ctx, o.socket, channels)
		}
	}
	if err == nil {
		err = p.count(ctx, o.rdb, channels)
	}
	for subscribed := int64(0); err == nil && subscribed <= int64(n); term.Sleep(ctx, pollStep) { // the node and n peers
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

// subscribe adds a peer that reads its messages as bytes, so that many peers cost this machine little.
func (p *peers) subscribe(ctx context.Context, socket string, channels []string) error {
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
	p.follow(ctx, func() error {
		_, err := io.Copy(io.Discard, conn)
		return cmp.Or(err, io.EOF)
	})
	return nil
}

// follow reads until an error. An error before the end of ctx means that Redis has closed the connection.
func (p *peers) follow(ctx context.Context, read func() error) {
	p.reading.Go(func() {
		for read() == nil {
			p.messages.Add(1)
		}
		if ctx.Err() == nil {
			p.lost.Add(1)
		}
	})
}

// count adds a peer that counts its messages.
func (p *peers) count(ctx context.Context, rdb *redis.Client, channels []string) error {
	ps := rdb.Subscribe(ctx, channels...)
	for range channels {
		if _, err := ps.Receive(ctx); err != nil {
			ps.Close()
			return err
		}
	}
	context.AfterFunc(ctx, func() { ps.Close() })
	p.follow(ctx, func() error {
		_, err := ps.ReceiveMessage(ctx)
		return err
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
