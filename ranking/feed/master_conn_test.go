package feed

import (
	"log/slog"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// boardsHeard is a Handler that notes which boards are subscribed to, and which are lost.
type boardsHeard struct {
	Handler
	subscribed, lost []string
}

func (b *boardsHeard) FeedSubscribed(board string)                { b.subscribed = append(b.subscribed, board) }
func (b *boardsHeard) FeedUnsubscribed(board string, _ time.Time) { b.lost = append(b.lost, board) }

// Redis answers commands in their order, and ends subscriptions by itself at any time. A channel that a connection has given
// back is not confirmed by a late answer.
func TestAnswersOfAMaster(t *testing.T) {
	cluster := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"127.0.0.1:1"}})
	defer cluster.Close()
	f := New(cluster, slog.New(slog.DiscardHandler), Config{})
	heard := new(boardsHeard)
	c := &masterConn{of: f.masters, channels: newChannels()}
	channel := f.keys.Channel
	send := func(board string, leaves bool) {
		c.unanswered = append(c.unanswered, channelCommand{channel(board), leaves})
	}
	answer := func(kind, board string) { c.handle(heard, &redis.Subscription{Kind: kind, Channel: channel(board)}) }
	for _, board := range []string{"a", "b", "c"} {
		f.masters.routes[channel(board)] = c
		send(board, false)
	}
	answer("ssubscribe", "a")
	answer("ssubscribe", "b")
	require.Equal(t, []string{"a", "b"}, heard.subscribed)
	require.Len(t, c.unanswered, 1)

	answer("sunsubscribe", "a") // nobody has asked for that: the slot of a moves
	require.Equal(t, []string{"a"}, heard.lost)
	require.Nil(t, f.masters.routes[channel("a")])
	answer("ssubscribe", "a") // of a command that was under way
	require.Equal(t, []string{"a", "b"}, heard.subscribed)

	send("b", true)
	answer("sunsubscribe", "b")
	require.Equal(t, []string{"a"}, heard.lost, "the node has left b itself")

	require.NoError(t, c.refused(heard, redisError("MOVED 1 127.0.0.1:2"))) // the answer to the first command left, of c
	require.Equal(t, []string{"a", "c"}, heard.lost)
	require.Empty(t, c.unanswered)
	require.NoError(t, c.refused(heard, redisError("CLUSTERDOWN")))
	require.Error(t, c.refused(heard, redisError("NOPERM")))
	require.Equal(t, []string{"a", "c"}, heard.lost)
}

// redisError is an error that Redis answers.
type redisError string

func (e redisError) Error() string { return string(e) }
func (e redisError) RedisError()   {}
